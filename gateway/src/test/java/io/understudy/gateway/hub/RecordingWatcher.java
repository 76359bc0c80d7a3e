package io.understudy.gateway.hub;

import io.understudy.gateway.hub.Watcher.WatchEvent;
import io.understudy.gateway.hub.Watcher.WatcherListener;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A watcher that records its events while it is ready. */
final class RecordingWatcher implements WatcherListener {

    private final List<WatchEvent> events = new ArrayList<>();
    private final List<Long> headers = new ArrayList<>();
    private final List<List<WatchEvent>> batches = new ArrayList<>();
    private boolean ready = true;
    private @Nullable Long compacted;
    private @Nullable Throwable failure;
    private boolean breaks;
    private Runnable whenCompacted = () -> {};

    @Override
    public boolean ready() {
        return ready;
    }

    @Override
    public void events(EventBatch batch) {
        if (breaks) {
            throw new IllegalStateException("delivery failed");
        }
        events.addAll(batch.events());
        batches.add(batch.events());
        headers.add(batch.revision());
    }

    @Override
    public void failed(Throwable why) {
        failure = why;
    }

    @Override
    public void compacted(long compactRevision) {
        compacted = compactRevision;
        whenCompacted.run();
    }

    /** Runs the task when it ends as compacted. */
    void whenCompacted(Runnable task) {
        whenCompacted = task;
    }

    /** Throws at the next delivery. */
    void breaks() {
        breaks = true;
    }

    @Nullable Throwable failure() {
        return failure;
    }

    void ready(boolean now) {
        ready = now;
    }

    boolean isReady() {
        return ready;
    }

    /** All events received. */
    List<WatchEvent> events() {
        return events;
    }

    /** The revisions of the response headers. */
    List<Long> headers() {
        return headers;
    }

    List<List<WatchEvent>> batches() {
        return batches;
    }

    @Nullable Long compacted() {
        return compacted;
    }
}
