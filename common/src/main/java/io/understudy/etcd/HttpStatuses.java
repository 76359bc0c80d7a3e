package io.understudy.etcd;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
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
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.tls.TlsContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Asks for pages over HTTP/1.1 of which only the status matters. One connection is kept per endpoint, for the next
 * request; one with which anything is not as expected is closed. For the network thread only, on which all of it happens.
 */
final class HttpStatuses implements AutoCloseable {

    /** What is read of one answer's body before it is given up. */
    static final int MAX_BODY_BYTES = 64 << 10;

    private static final int MAX_LINE_BYTES = 4 << 10;
    private static final int MAX_HEADER_BYTES = 16 << 10;
    private static final int CHUNK_BYTES = 8 << 10;

    private final NetworkThread network;
    private final EventLoop loop;
    private final TlsContext tls;
    private final Duration connectTimeout;
    /** Asks for the addresses of hosts, which may take long. */
    private final ExecutorService lookups;

    private final Map<Endpoint, Connection> idle = new HashMap<>();

    HttpStatuses(NetworkThread network, TlsContext tls, Duration connectTimeout) {
        this.network = network;
        this.loop = network.loop();
        this.tls = tls;
        this.connectTimeout = connectTimeout;
        this.lookups = Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, "etcd-lookups");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Sends {@code GET path}; once more, over a new connection, if the one that was kept turns out to be dead.
     *
     * @return the status, once the answer is complete; fails with an {@link IOException}, or by the deadline with a {@link
     *     TimeoutException}
     */
    CompletableFuture<Integer> get(Endpoint endpoint, String path, Duration deadline) {
        Request request = new Request(endpoint, path);
        request.timer = loop.schedule(
                () -> request.failed(new TimeoutException("no answer within " + deadline.toMillis() + " ms")),
                deadline.toNanos(),
                TimeUnit.NANOSECONDS);
        Connection kept = idle.remove(endpoint);
        if (kept == null) {
            connect(request);
        } else {
            kept.send(request);
        }
        return request.status;
    }

    private void connect(Request request) {
        lookups.execute(() -> {
            if (request.status.isDone()) {
                // It waited too long for the look-ups before; those behind it need not wait for its own.
                return;
            }
            try {
                InetAddress address = InetAddress.getByName(request.endpoint.host());
                loop.execute(() -> connect(request, new InetSocketAddress(address, request.endpoint.port())));
            } catch (UnknownHostException e) {
                loop.execute(() -> request.failed(e));
            }
        });
    }

    private void connect(Request request, InetSocketAddress address) {
        if (request.status.isDone()) {
            return;
        }
        Endpoint endpoint = request.endpoint;
        ChannelFuture connected = new Bootstrap()
                .group(loop)
                .channel(network.socket())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(connectTimeout.toMillis()))
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (endpoint.tls()) {
                            channel.pipeline()
                                    .addLast(tls.forHttp()
                                            .newHandler(channel.alloc(), endpoint.host(), endpoint.port()));
                        }
                        channel.pipeline()
                                .addLast(
                                        new HttpClientCodec(MAX_LINE_BYTES, MAX_HEADER_BYTES, CHUNK_BYTES),
                                        new Connection(endpoint, channel));
                    }
                })
                .connect(address);
        connected.addListener(done -> {
            if (done.isSuccess()) {
                connected.channel().pipeline().get(Connection.class).send(request);
            } else {
                request.failed(done.cause());
            }
        });
    }

    @Override
    public void close() {
        lookups.shutdown();
    }

    private static final class Request {
        private final Endpoint endpoint;
        private final String path;
        private final CompletableFuture<Integer> status = new CompletableFuture<>();
        private @Nullable ScheduledFuture<?> timer;
        private @Nullable Connection connection;

        Request(Endpoint endpoint, String path) {
            this.endpoint = endpoint;
            this.path = path;
        }

        void answered(int code) {
            ended();
            status.complete(code);
        }

        /** Whatever may still come over the connection is of no use. */
        void failed(Throwable why) {
            ended();
            if (connection != null) {
                connection.abandon();
            }
            status.completeExceptionally(why);
        }

        private void ended() {
            if (timer != null) {
                timer.cancel(false);
            }
        }
    }

    /** Serves one request at a time. */
    private final class Connection extends SimpleChannelInboundHandler<HttpObject> {

        private final Endpoint endpoint;
        private final Channel channel;
        private @Nullable Request current;
        /** Whether a request was answered before: the server may have closed it since. */
        private boolean used;

        private boolean keepAlive;
        private int code;
        private int bodyBytes;

        Connection(Endpoint endpoint, Channel channel) {
            this.endpoint = endpoint;
            this.channel = channel;
        }

        void send(Request request) {
            if (request.status.isDone()) {
                // Too late; this is a connection as good as new.
                keep();
                return;
            }
            current = request;
            request.connection = this;
            code = 0;
            bodyBytes = 0;
            DefaultFullHttpRequest get = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, request.path);
            get.headers().set(HttpHeaderNames.HOST, endpoint.authority());
            channel.writeAndFlush(get).addListener(written -> {
                if (!written.isSuccess()) {
                    lost(written.cause());
                }
            });
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
            if (current == null) {
                lost(new IOException("an answer that nobody asked for"));
            } else if (part.decoderResult().isFailure()) {
                lost(new IOException("not HTTP", part.decoderResult().cause()));
            } else {
                received(part);
            }
        }

        private void received(HttpObject part) {
            if (part instanceof HttpResponse response) {
                code = response.status().code();
                keepAlive = HttpUtil.isKeepAlive(response);
                if (response.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
                    // The answer proper would be taken for that to the next request.
                    lost(new IOException("an interim answer that nobody asked for: HTTP " + code));
                    return;
                }
            }
            if (part instanceof HttpContent content) {
                bodyBytes += content.content().readableBytes();
                if (bodyBytes > MAX_BODY_BYTES) {
                    lost(new IOException("an answer of more than " + MAX_BODY_BYTES + " bytes"));
                } else if (part instanceof LastHttpContent) {
                    completed();
                }
            }
        }

        private void completed() {
            Request answered = current;
            current = null;
            used = true;
            if (keepAlive) {
                keep();
            } else {
                shut();
            }
            if (answered != null) {
                answered.answered(code);
            }
        }

        private void keep() {
            if (!channel.isActive() || idle.putIfAbsent(endpoint, this) != null) {
                shut();
            }
        }

        void abandon() {
            current = null;
            shut();
        }

        private void shut() {
            var unused = channel.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            lost(new IOException("the connection was closed"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            lost(cause);
        }

        private void lost(Throwable why) {
            boolean unused = idle.remove(endpoint, this);
            Request request = current;
            abandon();
            if (request == null) {
                return;
            }
            request.connection = null;
            if (used && code == 0) {
                connect(request);
            } else {
                request.failed(why instanceof IOException ? why : new IOException(why.toString(), why));
            }
        }
    }
}
