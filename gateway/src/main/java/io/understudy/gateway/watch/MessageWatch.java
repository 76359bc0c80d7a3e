package io.understudy.gateway.watch;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.WatchRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedCall.StreamTaker;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.server.WebRequest;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * A stream of watchers with responses as encoded messages, for protocols that convert them. Confined to the event loop
 * of the client's connection.
 */
public final class MessageWatch implements WatchOutput, StreamedCall {

    /** gRPC metadata as grpc-gateway names it. */
    private static final AsciiString REQUIRES_LEADER = AsciiString.cached("grpc-metadata-hasleader");

    private final StreamTaker taker;
    private final WatchLoop loop;
    private final WatchStream stream;
    private final StreamedRequests requests;
    private boolean answered = true;
    private boolean receiving;

    private MessageWatch(Watches watches, StreamTaker taker, Caller caller, WebRequest http, StreamedRequests requests)
            throws ApiException {
        this.taker = taker;
        this.requests = requests;
        this.loop = watches.on(http.eventLoop());
        CharSequence leader = http.header(REQUIRES_LEADER);
        boolean requiresLeader = leader != null && "true".contentEquals(leader);
        this.stream = watches.open(this, caller, requiresLeader, http.eventLoop(), http.loop());
    }

    /**
     * Opens a stream.
     *
     * @param http its HTTP request
     * @param requests of the client, encoded; more may follow, and their end does not end its watchers
     * @throws ApiException as {@link Watches#open}
     */
    public static MessageWatch open(
            Watches watches, StreamTaker taker, Caller caller, WebRequest http, StreamedRequests requests)
            throws ApiException {
        MessageWatch watch = new MessageWatch(watches, taker, caller, http, requests);
        requests.onChange(watch::receive);
        watch.receive();
        return watch;
    }

    /** Receives the next request once the last one's response was read. */
    private void receive() {
        if (receiving) {
            return;
        }
        receiving = true;
        try {
            while (answered && !requests.isEmpty() && taker.takes()) {
                answered = false;
                stream.receive(WatchRequest.parseFrom(Objects.requireNonNull(requests.poll())), this::answered);
            }
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException("invalid watch request", e);
        } finally {
            receiving = false;
        }
    }

    private void answered() {
        answered = true;
        receive();
    }

    @Override
    public void takesMore() {
        stream.ready();
        receive();
    }

    @Override
    public void gone() {
        stream.close();
    }

    @Override
    public boolean ready() {
        return taker.takes();
    }

    @Override
    public void control(WatchControl response) {
        byte[] header = loop.headers().of(response.revision());
        ByteBuf out = Unpooled.buffer(WatchMessage.size(header, response));
        WatchMessage.write(out, header, response);
        taker.take(ByteBufUtil.getBytes(out));
    }

    @Override
    public void message(byte[] response) {
        taker.take(response);
    }

    @Override
    public void events(long watchId, EventBatch batch, int first, int end, boolean fragment) {
        byte[] header = loop.headers().of(batch.revision());
        if (batch.isStreamed()) {
            ByteBuf begin = Unpooled.buffer(WatchMessage.size(header, watchId, fragment));
            WatchMessage.write(begin, header, watchId, fragment);
            taker.take(
                    ByteBufUtil.getBytes(begin),
                    IntStream.range(first, end).mapToObj(batch::encoded).iterator(),
                    batch::keep);
            return;
        }
        int from = first == 0 ? 0 : batch.ends()[first - 1];
        int length = batch.ends()[end - 1] - from;
        ByteBuf out = Unpooled.buffer(WatchMessage.size(header, watchId, fragment) + length);
        WatchMessage.write(out, header, watchId, fragment);
        out.writeBytes(batch.encoded(), from, length);
        taker.take(ByteBufUtil.getBytes(out));
    }

    @Override
    public void flush() {
        // Each was read at once.
    }

    @Override
    public void end(ApiException why) {
        taker.end(why);
    }
}
