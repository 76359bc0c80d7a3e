package io.understudy.feed.etcd;

import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.FeedEndedException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Finds the revision of a snapshot by a read index, and starts its reader. Not thread-safe, except {@link #close}.
 *
 * <p>Invariant F12: where history is too long to replay, pages are fetched during its recognition, and none is
 * delivered before.
 */
final class SnapshotPin {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotPin.class);

    private final EtcdCluster cluster;
    private final KeyRange range;
    private final EtcdFeedOptions options;
    private final Backoff backoff;
    private volatile @Nullable CompletableFuture<ReadIndex> pending;
    /** Whether {@link #pending} was prefetched. */
    private boolean inAdvance;
    /** Whether a prefetched read index was unusable, until {@link #look} finds one. */
    private boolean inVain;

    /** Started by a prefetch. */
    private volatile @Nullable ReadAhead ahead;

    private volatile boolean closed;

    /** A snapshot that is read before it is needed. Any thread. */
    private static final class ReadAhead {
        private @Nullable SnapshotReader reader;
        private boolean closed;

        synchronized void begin(SnapshotReader begun) {
            if (!closed) {
                reader = begun;
                begun.begin();
            }
        }

        /** Takes the reader, if one was started, and closes this. */
        synchronized @Nullable SnapshotReader take() {
            SnapshotReader taken = reader;
            reader = null;
            closed = true;
            return taken;
        }

        void close() {
            SnapshotReader unwanted = take();
            if (unwanted != null) {
                unwanted.close();
            }
        }
    }

    /** @param backoff of requests that fail */
    SnapshotPin(EtcdCluster cluster, KeyRange range, EtcdFeedOptions options, Backoff backoff) {
        this.cluster = cluster;
        this.range = range;
        this.options = options;
        this.backoff = backoff;
    }

    /**
     * Prefetches the read index, so that {@link #look} has it soon. If it is unusable by then {@link #look} requests
     * another, and nothing is prefetched before it has that.
     *
     * @param mayRead whether to prefetch the first pages too; called once the revision is known, on a thread of the
     *     cluster
     */
    void prefetch(BooleanSupplier mayRead) {
        if (pending == null && !inVain) {
            inAdvance = true;
            var unused = use(readAheadOf(cluster.readIndexSoonest(options.requestTimeout()), mayRead));
        }
    }

    private CompletableFuture<ReadIndex> use(CompletableFuture<ReadIndex> waiting) {
        pending = waiting;
        if (closed) {
            waiting.cancel(false);
        }
        return waiting;
    }

    /** Drops what was prefetched. */
    void forget() {
        CompletableFuture<ReadIndex> waiting = pending;
        pending = null;
        if (waiting != null) {
            waiting.cancel(false);
        }
        closeAhead();
        ahead = null;
    }

    /** The reader of the found revision, started unless it was prefetched. */
    SnapshotReader read(ReadIndex pinned) {
        ReadAhead known = ahead;
        ahead = null;
        SnapshotReader begun = known == null ? null : known.take();
        if (begun != null && begun.isOf(pinned.clusterId(), pinned.revision())) {
            return begun;
        }
        if (begun != null) {
            begun.close();
        }
        SnapshotReader reader = reader(pinned);
        // The reader of its pages may have much to prepare.
        reader.begin();
        return reader;
    }

    /** Starts a reader of the rest of an unfinished snapshot. */
    SnapshotReader readRest(UnfinishedSnapshot unfinished) {
        forget();
        List<KeyRange> rest = unfinished.rest().stream()
                .filter(range::intersects)
                .map(range::intersection)
                .toList();
        Position pin = unfinished.pin();
        SnapshotReader reader = reader(pin.cluster(), pin.revision(), rest);
        reader.begin();
        return reader;
    }

    private SnapshotReader reader(ReadIndex index) {
        return reader(index.clusterId(), index.revision(), List.of(range));
    }

    private SnapshotReader reader(ClusterId clusterId, Revision at, List<KeyRange> ranges) {
        return new SnapshotReader(cluster, clusterId, ranges, at, options, backoff);
    }

    private CompletableFuture<ReadIndex> readAheadOf(CompletableFuture<ReadIndex> present, BooleanSupplier mayRead) {
        ReadAhead begun = new ReadAhead();
        ahead = begun;
        if (closed) {
            begun.close();
        }
        return present.thenApply(index -> {
            if (mayRead.getAsBoolean()) {
                begun.begin(reader(index));
            }
            return index;
        });
    }

    private void wasInVain() {
        inVain = true;
        closeAhead();
        ahead = null;
    }

    private void closeAhead() {
        ReadAhead begun = ahead;
        if (begun != null) {
            begun.close();
        }
    }

    /** Ends pending requests. Thread-safe. */
    void close() {
        closed = true;
        CompletableFuture<ReadIndex> waiting = pending;
        if (waiting != null) {
            waiting.cancel(false);
        }
        closeAhead();
    }

    /**
     * Waits for the read index for that time.
     *
     * @param standing the consumer's position, if it has one: the source has to be the same, and as far
     * @return null if there is nothing yet
     */
    @Nullable ReadIndex look(@Nullable Position standing, Duration patience) throws FeedEndedException, InterruptedException {
        CompletableFuture<ReadIndex> waiting = pending;
        if (waiting == null) {
            waiting = use(cluster.readIndexSoonest(options.requestTimeout()));
            inAdvance = false;
        }
        try {
            ReadIndex index = waiting.get(patience.toNanos(), TimeUnit.NANOSECONDS);
            pending = null;
            if (inAdvance && !isOfUse(index, standing)) {
                wasInVain();
                return null;
            }
            if (standing != null) {
                SourceFacts.requireReached(standing, index);
            }
            backoff.succeeded();
            inVain = false;
            return index;
        } catch (TimeoutException | CancellationException e) {
            return null;
        } catch (ExecutionException e) {
            pending = null;
            if (inAdvance) {
                // The prefetch may have failed long ago.
                wasInVain();
                return null;
            }
            if (standing != null) {
                SourceFacts.requireOwnCluster(cluster, standing.cluster());
            }
            LOG.atLevel(backoff.isFirst() ? Level.INFO : Level.DEBUG)
                    .addKeyValue("cause", EtcdErrors.text(e))
                    .log("snapshot start failed; retrying");
            backoff.failed();
            return null;
        }
    }

    /**
     * Whether a prefetched read index is usable. The revision of an old one may be compacted by now, and one from
     * before the consumer reached its position does not show whether the source went back.
     */
    private boolean isOfUse(ReadIndex index, @Nullable Position standing) {
        return System.nanoTime() - index.sentNanos() <= options.requestTimeout().toNanos()
                && (standing == null || !index.revision().isBefore(standing.revision()));
    }
}
