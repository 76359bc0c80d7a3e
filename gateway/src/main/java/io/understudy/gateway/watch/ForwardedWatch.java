package io.understudy.gateway.watch;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchProgressRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedCall.StreamTaker;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
import io.understudy.gateway.watch.WatchControl.WatchForwarding;
import io.understudy.vocabulary.KeyRange;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A watcher of keys outside the replica, by a separate watch at the source. Its end ends the client's stream, and the
 * client resumes all watchers of it.
 */
final class ForwardedWatch extends StreamWatcher implements StreamTaker {

    private final StreamedRequests requests = new StreamedRequests(() -> {});
    private @Nullable StreamedCall call;
    /** Revision after which a watch without a start begins. The member may lag behind the client's last answer. */
    private long after;

    private boolean created;
    /** When progress was last requested from the source. */
    private long progressNanos;
    /** Whether a client's request waits for the end of the interval. */
    private boolean progressDue;

    private boolean over;

    ForwardedWatch(WatchStream stream, long id, KeyRange range) {
        super(stream, id, range);
        progressNanos = stream.nanos() - Watches.PROGRESS_NANOS;
    }

    /** @param known the greatest revision answered on the connection */
    void begin(WatchCreateRequest request, WatchForwarding forwarding, long known) {
        after = request.getStartRevision() == 0 ? known : 0;
        send(WatchRequest.newBuilder().setCreateRequest(WatchMessage.withoutId(request)));
        StreamedCall begun = stream().watch(forwarding, requests, this);
        call = begun;
        if (over) {
            begun.gone();
        }
    }

    private void send(WatchRequest.Builder request) {
        requests.add(List.of(request.build().toByteArray()), false);
    }

    @Override
    public boolean takes() {
        return ready();
    }

    @Override
    public void take(byte[] answer) {
        if (over) {
            return;
        }
        try {
            take(later(WatchResponse.parseFrom(answer)));
        } catch (InvalidProtocolBufferException e) {
            stream().end(new ApiException(Status.Code.INTERNAL, "understudy: invalid watch response of the source"));
        }
    }

    /** Returns the response without events from before the watch; null if there are no others. */
    private @Nullable WatchResponse later(WatchResponse response) {
        boolean isOld = response.getHeader().getRevision() < after && response.getCompactRevision() == 0;
        // They are in the order of their revisions.
        if (!isOld && (response.getEventsCount() == 0 || !isEarlier(response.getEvents(0)))) {
            return response;
        }
        WatchResponse.Builder later = response.toBuilder();
        later.getHeaderBuilder()
                .setRevision(Math.max(after, response.getHeader().getRevision()));
        later.clearEvents();
        response.getEventsList().stream().filter(event -> !isEarlier(event)).forEach(later::addEvents);
        return response.getEventsCount() > 0 && later.getEventsCount() == 0 ? null : later.build();
    }

    private boolean isEarlier(Event event) {
        return event.getKv().getModRevision() <= after;
    }

    @Override
    public void take(byte[] begin, Iterator<List<byte[]>> rest, UnaryOperator<Runnable> keep) {
        throw new IllegalStateException("forwarded messages are whole");
    }

    private void take(@Nullable WatchResponse response) {
        if (response == null) {
            return;
        }
        boolean answers = response.getCreated() && !created;
        boolean isOver = response.getCanceled() && response.getCompactRevision() == 0;
        boolean ofStream = response.getWatchId() == WatchControl.NO_WATCHER;
        if (isOver) {
            stream().remove(id());
            stop();
        }
        created |= answers;
        // A refusal, or the answer to a progress request, which etcd gives for all watchers of a stream.
        boolean keepsId = ofStream && (isOver || stream().isAlone());
        stream()
                .pass(
                        this,
                        keepsId
                                ? response
                                : response.toBuilder().setWatchId(id()).build());
        if (answers || isOver) {
            stream().answered(this);
        }
    }

    @Override
    public void end(@Nullable ApiException why) {
        if (over || stream().isOver()) {
            return;
        }
        if (created || why == null || why.code() == Status.Code.UNAVAILABLE) {
            stream().end(why == null ? ApiException.stopped() : withoutLeader(why));
        } else {
            stream().remove(id());
            stop();
            stream().refuse(why.text());
            stream().answered(this);
        }
    }

    /**
     * clientv3 closes all watchers of a stream that ends for want of a leader, and resumes them elsewhere after this
     * error.
     */
    private static ApiException withoutLeader(ApiException why) {
        return why.text().equals(ApiException.noLeader().text()) ? ApiException.timedOut() : why;
    }

    @Override
    void resume() {
        if (call != null) {
            call.takesMore();
        }
    }

    @Override
    void endSource() {
        over = true;
        if (call != null) {
            call.gone();
        }
    }

    /** The source sends progress itself. */
    @Override
    void tick() {}

    /** Requests progress at most once per interval. Requests to a hanging source must not accumulate. */
    @Override
    void progress() {
        long now = stream().nanos();
        long left = progressNanos + Watches.PROGRESS_NANOS - now;
        if (left <= 0 && requests.isEmpty()) {
            progressNanos = now;
            send(WatchRequest.newBuilder().setProgressRequest(WatchProgressRequest.getDefaultInstance()));
        } else if (!progressDue) {
            progressDue = true;
            stream().after(left > 0 ? left : Watches.PROGRESS_NANOS, () -> {
                progressDue = false;
                if (!over) {
                    progress();
                }
            });
        }
    }
}
