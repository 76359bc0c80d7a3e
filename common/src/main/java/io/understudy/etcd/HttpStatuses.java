package io.understudy.etcd;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.MessageToMessageCodec;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslContext;
import io.understudy.etcd.KeptConnections.Answered;
import io.understudy.tls.TlsContext;
import java.io.IOException;
import java.util.List;

/** Pages over HTTP/1.1, requested by path, of which only the status matters. */
record HttpStatuses(TlsContext context) implements KeptConnections.Protocol<Integer> {

    /** Maximum body of a response. */
    static final int MAX_BODY_BYTES = 64 << 10;

    private static final int MAX_LINE_BYTES = 4 << 10;
    private static final int MAX_HEADER_BYTES = 16 << 10;
    private static final int CHUNK_BYTES = 8 << 10;

    @Override
    public SslContext tls() {
        return context.forHttp();
    }

    @Override
    public void addTo(Channel channel, Endpoint endpoint) {
        channel.pipeline()
                .addLast(
                        new HttpClientCodec(MAX_LINE_BYTES, MAX_HEADER_BYTES, CHUNK_BYTES),
                        new Pages(endpoint.authority()));
    }

    private static final class Pages extends MessageToMessageCodec<HttpObject, String> {

        private final String authority;
        private boolean requested;
        private boolean lasts;
        private int code;
        private int bodyBytes;

        Pages(String authority) {
            super(HttpObject.class, String.class);
            this.authority = authority;
        }

        @Override
        protected void encode(ChannelHandlerContext context, String path, List<Object> out) {
            requested = true;
            bodyBytes = 0;
            DefaultFullHttpRequest get = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
            get.headers().set(HttpHeaderNames.HOST, authority);
            out.add(get);
        }

        @Override
        protected void decode(ChannelHandlerContext context, HttpObject part, List<Object> out) throws IOException {
            if (!requested) {
                throw new IOException("unexpected response");
            }
            if (part.decoderResult().isFailure()) {
                throw new IOException(
                        "malformed HTTP response", part.decoderResult().cause());
            }
            if (part instanceof HttpResponse response) {
                code = response.status().code();
                lasts = HttpUtil.isKeepAlive(response);
                if (response.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
                    // The answer proper would be taken for that to the next request.
                    throw new IOException("unexpected informational response: HTTP " + code);
                }
            }
            if (part instanceof HttpContent content) {
                bodyBytes += content.content().readableBytes();
                if (bodyBytes > MAX_BODY_BYTES) {
                    throw new IOException("response exceeds " + MAX_BODY_BYTES + " bytes");
                }
                if (part instanceof LastHttpContent) {
                    requested = false;
                    out.add(Answered.with(code, lasts));
                }
            }
        }
    }
}
