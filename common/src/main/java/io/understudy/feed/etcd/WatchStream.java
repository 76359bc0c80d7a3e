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
import org.jspecify.annotations.Nullable;

/**
 * One watch stream whose reader sets the pace: at most two responses wait unread, then the member is not read from.
 *
 * <p>Read by one thread; {@link #close} and {@link #requestProgress} from any.
 */
final class WatchStream implements AutoCloseable {

    /** What can arrive. */
    sealed interface Signal {
        /** A response. */
        record Message(WatchResponse response) implements Signal {}

        /** The stream is over; nothing follows. */
        record Closed(Status status) implements Signal {}
    }

    private static final int WINDOW = 2;

    /** Asks etcd to end the stream when its member has lost the leader, instead of staying silent. */
    private static final Metadata.Key<String> HAS_LEADER =
            Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);

    private final ClientCall<WatchRequest, WatchResponse> call;
    /** Bounded by the window: nothing arrives that was not asked for. */
    private final LinkedBlockingQueue<Signal> arrived = new LinkedBlockingQueue<>();

    private WatchStream(ClientCall<WatchRequest, WatchResponse> call) {
        this.call = call;
    }

    static WatchStream open(Channel channel, WatchRequest create) {
        ClientCall<WatchRequest, WatchResponse> call = channel.newCall(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT);
        WatchStream stream = new WatchStream(call);
        Metadata headers = new Metadata();
        headers.put(HAS_LEADER, "true");
        call.start(stream.new Listener(), headers);
        call.request(WINDOW);
        call.sendMessage(create);
        return stream;
    }

    /** Asks for a progress mark. etcd answers only once every event up to it was sent. */
    void requestProgress() {
        // A call may be sent on by one thread at a time.
        synchronized (call) {
            if (call.isReady()) {
                call.sendMessage(WatchMessages.progress());
            }
        }
    }

    /** The next signal, or null if none came in time. */
    @Nullable Signal next(Duration timeout) throws InterruptedException {
        Signal signal = arrived.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
        if (signal instanceof Signal.Message) {
            call.request(1);
        }
        return signal;
    }

    @Override
    public void close() {
        call.cancel("the feed closed the stream", null);
    }

    private final class Listener extends ClientCall.Listener<WatchResponse> {
        @Override
        public void onMessage(WatchResponse response) {
            arrived.add(new Signal.Message(response));
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            arrived.add(new Signal.Closed(status));
        }
    }
}
