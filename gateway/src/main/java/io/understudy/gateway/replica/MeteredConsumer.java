package io.understudy.gateway.replica;

import io.understudy.feed.FeedConsumer;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;

/** Passes everything on, and notes when something came and how long commits took. */
final class MeteredConsumer implements FeedConsumer {

    private final FeedConsumer next;
    private final Consumer<Duration> onApplied;
    private volatile long lastEventNanos = System.nanoTime();
    /** Of the writing thread. */
    private boolean published;

    MeteredConsumer(FeedConsumer next, Consumer<Duration> onApplied) {
        this.next = next;
        this.onApplied = onApplied;
    }

    Duration silence() {
        return Duration.ofNanos(System.nanoTime() - lastEventNanos);
    }

    @Override
    public void historyRecognised() {
        next.historyRecognised();
    }

    @Override
    public void commitReplaced(Revision revision) {
        next.commitReplaced(revision);
    }

    @Override
    public void snapshotStarted(ClusterId cluster, Revision revision) {
        heardOfSnapshot();
        next.snapshotStarted(cluster, revision);
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        heardOfSnapshot();
        next.snapshotPage(covered, entries);
    }

    @Override
    public void snapshotCompleted(Position position) {
        published = true;
        lastEventNanos = System.nanoTime();
        next.snapshotCompleted(position);
    }

    @Override
    public void commit(Commit commit, Position position) {
        long begin = System.nanoTime();
        next.commit(commit, position);
        long end = System.nanoTime();
        lastEventNanos = end;
        onApplied.accept(Duration.ofNanos(end - begin));
    }

    @Override
    public void progress(Position position) {
        lastEventNanos = System.nanoTime();
        next.progress(position);
    }

    @Override
    public void asOf(Instant time) {
        lastEventNanos = System.nanoTime();
        next.asOf(time);
    }

    /** Once a state is published, a snapshot under way leaves readers with an ever older one: that is silence to them. */
    private void heardOfSnapshot() {
        if (!published) {
            lastEventNanos = System.nanoTime();
        }
    }
}
