package io.understudy.feed.etcd;

import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One watch stream, at the pace of its reader. While {@value #UNREAD_BYTES} bytes wait unread, or one larger response,
 * only two more responses are read from the member.
 *
 * <p>Read by one thread; {@link #close} and {@link #requestProgress} from any.
 *
 * <p>Invariant F9: a consumer that stops polling stops the stream, so memory does not grow with lag.
 */
final class MemberWatchStream implements AutoCloseable {

    /** An event of the stream. */
    sealed interface Signal {
        /** A response. */
        record Message(WatchResponse response) implements Signal {}

        /** The stream is over; nothing follows. */
        record Closed(Status status) implements Signal {}
    }

    /** Responses requested ahead, so that the next arrives while one is read. */
    private static final int AHEAD = 2;
    /** Responses to small commits have a few hundred bytes: a pausing reader finds many. */
    private static final long UNREAD_BYTES = 1L << 20;

    /** Makes etcd end the stream when its member has no leader, instead of staying silent. */
    private static final Metadata.Key<String> HAS_LEADER =
            Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);

    private final ClientCall<WatchRequest, WatchResponse> call;
    /** Bounded by the window: nothing arrives unrequested. */
    private final LinkedBlockingQueue<Signal> arrived = new LinkedBlockingQueue<>();
    /** Bytes of messages that arrived and were not read. */
    private final AtomicLong unread = new AtomicLong();
    /** Responses not requested yet, because too many bytes wait. */
    private final AtomicInteger withheld = new AtomicInteger();

    /** Guarded by the call's lock. */
    private boolean closed;

    private MemberWatchStream(ClientCall<WatchRequest, WatchResponse> call) {
        this.call = call;
    }

    /** @param requiresLeader whether the member ends the stream when it has lost the leader */
    static MemberWatchStream open(Channel channel, WatchRequest create, boolean requiresLeader) {
        // What arrives is decoded, and put down for the reader: to wake another thread for it would cost more.
        ClientCall<WatchRequest, WatchResponse> call =
                channel.newCall(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT.withExecutor(Runnable::run));
        MemberWatchStream stream = new MemberWatchStream(call);
        Metadata headers = new Metadata();
        if (requiresLeader) {
            headers.put(HAS_LEADER, "true");
        }
        call.start(stream.new Listener(), headers);
        call.request(AHEAD);
        call.sendMessage(create);
        return stream;
    }

    /** Requests a progress mark. etcd answers only once every event up to it was sent. */
    void requestProgress() {
        // A call may be sent on by one thread at a time.
        synchronized (call) {
            if (!closed && call.isReady()) {
                call.sendMessage(WatchMessages.progress());
            }
        }
    }

    /** The next signal, or null if none came in time. */
    @Nullable Signal next(Duration timeout) throws InterruptedException {
        Signal signal = arrived.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
        if (signal instanceof Signal.Message message) {
            if (unread.addAndGet(-message.response().getSerializedSize()) <= UNREAD_BYTES) {
                request(withheld.getAndSet(0));
            }
        }
        return signal;
    }

    private void request(int responses) {
        if (responses > 0) {
            call.request(responses);
        }
    }

    @Override
    public void close() {
        // Nothing may be sent after it.
        synchronized (call) {
            closed = true;
            call.cancel("stream closed by the feed", null);
        }
    }

    private final class Listener extends ClientCall.Listener<WatchResponse> {
        @Override
        public void onMessage(WatchResponse response) {
            boolean isMuch = unread.addAndGet(response.getSerializedSize()) > UNREAD_BYTES;
            if (isMuch) {
                // Before the reader can find the message: with the last one of them it requests all that were withheld.
                withheld.incrementAndGet();
            }
            arrived.add(new Signal.Message(response));
            request(isMuch ? 0 : 1);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            arrived.add(new Signal.Closed(status));
        }
    }
}
