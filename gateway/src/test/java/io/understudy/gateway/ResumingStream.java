package io.understudy.gateway;

import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchCreateRequest.FilterType;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A stream of watchers as a careful client has it: whenever it ends another is opened, on which each watcher resumes after
 * its last event.
 */
final class ResumingStream implements AutoCloseable {

    private static final long PAUSE_MILLIS = 50;

    private final Channel channel;
    private final ScheduledExecutorService scheduler;
    private final List<WatchRecord> watchers;
    private final UnaryOperator<Event> shared;
    /** Unexpected responses: cancellations and refusals. */
    private final Queue<String> refusals = new ConcurrentLinkedQueue<>();

    private @Nullable Attempt attempt;
    private int attempts;
    private boolean closed;

    /**
     * @param watchers to record; their IDs are their places in the list, from 1 on
     * @param shared returns an equal event that is shared
     */
    ResumingStream(
            Channel channel,
            ScheduledExecutorService scheduler,
            List<WatchRecord> watchers,
            UnaryOperator<Event> shared) {
        this.channel = channel;
        this.shared = shared;
        this.scheduler = scheduler;
        this.watchers = List.copyOf(watchers);
    }

    ResumingStream open() {
        reopen();
        return this;
    }

    List<WatchRecord> watchers() {
        return watchers;
    }

    Queue<String> refusals() {
        return refusals;
    }

    synchronized int attempts() {
        return attempts;
    }

    synchronized void requestProgress() {
        if (attempt != null) {
            attempt.send(WatchRequests.progress());
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (attempt != null) {
            attempt.call.cancel("the test is over", null);
        }
    }

    private synchronized void reopen() {
        if (!closed) {
            attempts++;
            attempt = new Attempt();
            attempt.start();
        }
    }

    private synchronized void ended() {
        attempt = null;
        if (!closed) {
            ScheduledFuture<?> unused = scheduler.schedule(this::reopen, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private static WatchRequest create(WatchRecord watcher, long id) {
        WatchRecord.Selection selection = watcher.selection();
        WatchCreateRequest.Builder create = WatchCreateRequest.newBuilder()
                .setKey(selection.range().etcdKey())
                .setRangeEnd(selection.range().etcdRangeEnd())
                .setStartRevision(watcher.next())
                .setProgressNotify(id % 2 == 0)
                .setPrevKv(selection.previous());
        if (selection.noPuts()) {
            create.addFilters(FilterType.NOPUT);
        }
        if (selection.noDeletes()) {
            create.addFilters(FilterType.NODELETE);
        }
        WatchRequests.id(create, id);
        return WatchRequest.newBuilder().setCreateRequest(create).build();
    }

    /** One stream. Its responses come one after the other, and none after its end. */
    private final class Attempt extends ClientCall.Listener<WatchResponse> {
        private final ClientCall<WatchRequest, WatchResponse> call =
                channel.newCall(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT);
        private final Set<WatchRecord> begun = new HashSet<>();

        void start() {
            call.start(this, new Metadata());
            call.request(Integer.MAX_VALUE);
            for (int i = 0; i < watchers.size(); i++) {
                send(create(watchers.get(i), i + 1));
            }
        }

        void send(WatchRequest request) {
            call.sendMessage(request);
        }

        @Override
        public void onMessage(WatchResponse response) {
            if (response.getCanceled()) {
                refusals.add(WatchClient.comparable(response));
            } else if (response.getWatchId() < 1) {
                begun.forEach(watcher -> watcher.bookmark(response.getHeader().getRevision()));
            } else {
                WatchRecord watcher = watchers.get(Math.toIntExact(response.getWatchId()) - 1);
                if (response.getCreated()) {
                    begun.add(watcher);
                    watcher.begun(watcher.next() == 0 ? response.getHeader().getRevision() + 1 : watcher.next());
                } else if (response.getEventsCount() == 0) {
                    watcher.bookmark(response.getHeader().getRevision());
                } else {
                    watcher.events(
                            response.getHeader().getRevision(),
                            response.getEventsList().stream().map(shared).toList());
                }
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            ended();
        }
    }
}
