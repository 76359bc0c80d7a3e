package io.understudy.bench;

import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2FrameReader;
import io.netty.handler.codec.http2.Http2FrameWriter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.AsciiString;
import io.understudy.bench.CountedWatchStream.Deliveries;
import io.understudy.bench.ServerConnections.NotServedException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A connection with streams of watchers: HTTP/2's frames and no more. Windows are so large that they hardly ever have to
 * be filled up, and what is sent fits into those that any server gives.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write fails with its connection, which reports its end
final class WatchConnection extends ByteToMessageDecoder {

    private static final int WINDOW_BYTES = 1 << 30;
    private static final String UNIMPLEMENTED = "12";
    /** The error of a learner for watches, also through a proxy. */
    private static final String LEARNER = "not supported for learner";

    private static final String OK = "200";
    private static final AsciiString GRPC_STATUS = AsciiString.cached("grpc-status");
    private static final AsciiString GRPC_MESSAGE = AsciiString.cached("grpc-message");

    private final Http2FrameReader reader = new DefaultHttp2FrameReader(false);
    private final Http2FrameWriter writer = new DefaultHttp2FrameWriter();
    private final Frames frames = new Frames();
    private final Map<Integer, CountedWatchStream> streams = new HashMap<>();
    private final Map<Integer, Integer> unreturned = new HashMap<>();
    private final Access access;
    private final List<Opening> openings;
    private final Deliveries deliveries;
    private final CompletableFuture<Void> created = new CompletableFuture<>();
    private final CompletableFuture<Void> failure;
    private int missing;
    private long now;

    /** A stream and the requests that create its watchers. */
    record Opening(CountedWatchStream stream, List<ByteString> requests) {

        Opening {
            requests = List.copyOf(requests);
        }
    }

    /**
     * @param access the identity of the client
     * @param failure fails when this connection does
     */
    WatchConnection(Access access, List<Opening> openings, Deliveries deliveries, CompletableFuture<Void> failure) {
        this.access = access;
        this.openings = List.copyOf(openings);
        this.deliveries = deliveries;
        this.failure = failure;
        this.missing =
                openings.stream().mapToInt(each -> each.requests().size()).sum();
    }

    /** Done when all watchers are there. */
    CompletableFuture<Void> created() {
        return created;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.write(Http2CodecUtil.connectionPrefaceBuf());
        writer.writeSettings(
                context, new Http2Settings().initialWindowSize(WINDOW_BYTES).pushEnabled(false), context.newPromise());
        writer.writeWindowUpdate(context, 0, WINDOW_BYTES, context.newPromise());
        int id = 1;
        for (Opening opening : openings) {
            streams.put(id, opening.stream());
            writer.writeHeaders(context, id, headers(context), 0, false, context.newPromise());
            for (ByteString request : opening.requests()) {
                writer.writeData(context, id, framed(request), 0, false, context.newPromise());
            }
            id += 2;
        }
        context.flush();
    }

    private Http2Headers headers(ChannelHandlerContext context) {
        Http2Headers headers = new DefaultHttp2Headers()
                .method("POST")
                .scheme("http")
                .path("/etcdserverpb.Watch/Watch")
                .authority(context.channel().remoteAddress().toString().replaceFirst(".*/", ""))
                .add("content-type", "application/grpc")
                .add("te", "trailers");
        access.headers(Api.GRPC).forEach(headers::add);
        return headers;
    }

    private static ByteBuf framed(ByteString message) {
        return Unpooled.buffer(Byte.BYTES + Integer.BYTES + message.size())
                .writeByte(0)
                .writeInt(message.size())
                .writeBytes(message.asReadOnlyByteBuffer());
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Http2Exception {
        now = System.nanoTime();
        reader.readFrame(context, in, frames);
        deliveries.publish();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) throws Exception {
        context.flush();
        super.channelReadComplete(context);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        fail(new BenchException("watch connection closed"));
        super.channelInactive(context);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        Throwable why = cause.getCause() instanceof BenchException || cause.getCause() instanceof NotServedException
                ? cause.getCause()
                : cause;
        fail(why);
        context.close();
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext context) {
        reader.close();
        writer.close();
    }

    private void fail(Throwable why) {
        created.completeExceptionally(why);
        failure.completeExceptionally(why);
    }

    /** What the server sends. */
    private final class Frames extends Http2FrameAdapter {

        @Override
        public int onDataRead(
                ChannelHandlerContext context, int streamId, ByteBuf data, int padding, boolean endOfStream)
                throws Http2Exception {
            int bytes = data.readableBytes() + padding;
            CountedWatchStream stream = streams.get(streamId);
            if (stream == null) {
                throw Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "data on stream %d", streamId);
            }
            int more = stream.take(data, now);
            if (more > 0) {
                missing -= more;
                if (missing == 0) {
                    created.complete(null);
                }
            }
            giveBack(context, 0, bytes);
            giveBack(context, streamId, bytes);
            return bytes;
        }

        private void giveBack(ChannelHandlerContext context, int streamId, int bytes) {
            int taken = unreturned.merge(streamId, bytes, Integer::sum);
            if (taken > WINDOW_BYTES / 2) {
                writer.writeWindowUpdate(context, streamId, taken, context.newPromise());
                unreturned.put(streamId, 0);
            }
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context,
                int streamId,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean endOfStream) {
            onHeadersRead(context, streamId, headers, padding, endOfStream);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context, int streamId, Http2Headers headers, int padding, boolean endOfStream) {
            CharSequence status = headers.status();
            if (endOfStream) {
                ended(headers);
            } else if (status != null && !OK.contentEquals(status)) {
                throw new BenchException("watch failed with HTTP status " + status);
            }
        }

        private void ended(Http2Headers trailers) {
            String status = String.valueOf(trailers.get(GRPC_STATUS));
            String description = "status " + status + ", " + trailers.get(GRPC_MESSAGE);
            throw status.equals(UNIMPLEMENTED) || description.contains(LEARNER)
                    ? new NotServedException(description)
                    : new BenchException("watch stream ended with " + description);
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext context, int streamId, long error) {
            throw new BenchException("watch stream reset with error " + error);
        }

        @Override
        public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings) {
            writer.writeSettingsAck(context, context.newPromise());
        }

        @Override
        public void onPingRead(ChannelHandlerContext context, long data) {
            writer.writePing(context, true, data, context.newPromise());
        }

        @Override
        public void onGoAwayRead(ChannelHandlerContext context, int lastStreamId, long error, ByteBuf data) {
            throw new BenchException(
                    "watch connection closed: " + error + ", " + data.toString(StandardCharsets.UTF_8));
        }
    }
}
