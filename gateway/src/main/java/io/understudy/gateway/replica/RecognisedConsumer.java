package io.understudy.gateway.replica;

import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedSource;
import io.understudy.gateway.replica.SnapshotMerge.ReplicaDivergedException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a snapshot replace a dropped state only if it is of the same history. Passes all calls to a replica. After a gap
 * the current state proves the history. After a drop only the last applied commit does, which the source must still
 * serve <em>after</em> the snapshot was read. Records activity and the duration of commits. Blocks the writing thread
 * until the source has responded.
 */
final class RecognisedConsumer implements FeedConsumer {

    private static final Logger LOG = LoggerFactory.getLogger(RecognisedConsumer.class);
    private static final Duration POLL = Duration.ofMillis(200);

    private final Replica replica;
    private final FeedSource source;
    /** Whether the next snapshot replaces a commit too large, before which the feed verified the history. */
    private boolean replaced;
    /** Whether the feed verified the history of the current snapshot. */
    private boolean verified;

    private final BooleanSupplier abandoned;
    private final Runnable onSnapshot;
    private final Consumer<Duration> onApplied;
    private volatile long lastEventNanos = System.nanoTime();
    /** Confined to the writing thread. */
    private boolean published;

    /**
     * @param abandoned whether a switch to another cluster is pending, which makes this history irrelevant
     * @param onSnapshot runs after each complete snapshot
     * @param onApplied receives the duration of each commit
     */
    RecognisedConsumer(
            Replica replica,
            FeedSource source,
            BooleanSupplier abandoned,
            Runnable onSnapshot,
            Consumer<Duration> onApplied) {
        this.onSnapshot = onSnapshot;
        this.replica = replica;
        this.source = source;
        this.abandoned = abandoned;
        this.onApplied = onApplied;
    }

    Duration silence() {
        return Duration.ofNanos(System.nanoTime() - lastEventNanos);
    }

    @Override
    public void historyRecognised() {
        replica.historyRecognised();
    }

    @Override
    public void commitReplaced(Revision revision) {
        replaced = true;
    }

    @Override
    public void snapshotStarted(ClusterId cluster, Revision revision) {
        verified = replaced;
        replaced = false;
        snapshotActive();
        replica.snapshotStarted(cluster, revision);
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        snapshotActive();
        replica.snapshotPage(covered, entries);
    }

    @Override
    public void snapshotCompleted(Position position) {
        published = true;
        lastEventNanos = System.nanoTime();
        Position known = replica.unrecognised();
        if (known != null && !verified) {
            recognise(known);
        }
        replica.snapshotCompleted(position);
        onSnapshot.run();
    }

    @Override
    public void commit(Commit commit, Position position) {
        long begin = System.nanoTime();
        replica.commit(commit, position);
        long end = System.nanoTime();
        lastEventNanos = end;
        onApplied.accept(Duration.ofNanos(end - begin));
    }

    @Override
    public void progress(Position position) {
        lastEventNanos = System.nanoTime();
        replica.progress(position);
    }

    @Override
    public void asOf(Instant time) {
        lastEventNanos = System.nanoTime();
        replica.asOf(time);
    }

    /** Records activity during a snapshot only without a state, which would become ever older. */
    private void snapshotActive() {
        if (!published) {
            lastEventNanos = System.nanoTime();
        }
    }

    /** Reads the history from {@code known} up to the first event, which another history lacks. */
    private void recognise(Position known) {
        HistoryProbe probe = new HistoryProbe();
        try (Feed feed = source.open(replica.range(), FeedKind.HISTORY, known)) {
            do {
                if (abandoned.getAsBoolean()) {
                    throw new IllegalStateException("the primary has moved");
                }
                feed.requestProgress();
            } while (!feed.poll(POLL, probe));
        } catch (FeedEndedException.Gap gap) {
            if (replica.isDoubted()) {
                throw new ReplicaDivergedException("replica differs from the source, but the source history since"
                        + " revision " + known.revision() + " cannot be verified (" + gap.getMessage()
                        + "); restart the gateway to accept the history of the source");
            }
            // The state was dropped only for its size, so the source is not in doubt.
            LOG.atWarn()
                    .addKeyValue("revision", known.revision())
                    .addKeyValue("cause", gap.getMessage())
                    .log("replica rebuilt without verifying the history");
        } catch (FeedEndedException.AnotherCluster | FeedEndedException.AnotherHistory e) {
            throw new ReplicaDivergedException(String.valueOf(e.getMessage()));
        } catch (FeedEndedException e) {
            // Such as a denied permission, which does not depend on the history.
            throw new CompletionException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /**
     * Ends the check at the first event of a resumed history. A snapshot, of a commit too large, starts only after the
     * history was verified.
     */
    private static final class HistoryProbe implements FeedConsumer {

        @Override
        public void snapshotStarted(ClusterId cluster, Revision revision) {}

        @Override
        public void snapshotPage(KeyRange covered, List<KeyValue> entries) {}

        @Override
        public void snapshotCompleted(Position position) {}

        @Override
        public void commit(Commit commit, Position position) {}

        @Override
        public void progress(Position position) {}
    }
}
