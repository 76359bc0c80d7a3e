package io.understudy.feed.etcd;

import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.FeedEndedException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import io.understudy.vocabulary.UnfinishedSnapshot;
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
 * Finds the revision of a snapshot by a read index, and has it read. For one thread, except {@link #close}.
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
    private volatile @Nullable CompletableFuture<ReadIndex> asked;
    /** Whether that was asked before anybody looked. */
    private boolean inAdvance;
    /** Whether what was asked for in advance was of no use, until it was found when looked for. */
    private boolean inVain;

    /** Begun before anybody looked. */
    private volatile @Nullable ReadAhead ahead;

    private volatile boolean closed;

    /** A snapshot whose pages come before it is known to be wanted. Any thread. */
    private static final class ReadAhead {
        private @Nullable SnapshotReader reader;
        private boolean closed;

        synchronized void begin(SnapshotReader begun) {
            if (!closed) {
                reader = begun;
                begun.begin();
            }
        }

        /** What was begun, of the one who now closes it. */
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
     * Has the present be asked for in advance, so that it is known soon when it is {@linkplain #look looked} for; it is asked
     * for anew then if the answer is of no use any more, and not in advance again before that.
     *
     * @param mayRead whether to have its first pages come as well, asked once it is known, on a thread of the cluster
     */
    void ask(BooleanSupplier mayRead) {
        if (asked == null && !inVain) {
            inAdvance = true;
            var unused = use(readAheadOf(cluster.readIndexSoonest(options.requestTimeout()), mayRead));
        }
    }

    private CompletableFuture<ReadIndex> use(CompletableFuture<ReadIndex> waiting) {
        asked = waiting;
        if (closed) {
            waiting.cancel(false);
        }
        return waiting;
    }

    /** What was asked for in advance is not wanted. */
    void forget() {
        CompletableFuture<ReadIndex> waiting = asked;
        asked = null;
        if (waiting != null) {
            waiting.cancel(false);
        }
        closeAhead();
        ahead = null;
    }

    /** Has what was found be read, if it was not begun. */
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
        // Whoever takes its pages may have much to prepare.
        reader.begin();
        return reader;
    }

    /** Reads what an earlier snapshot left of the range. */
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

    /** Ends what waits, soon. For any thread. */
    void close() {
        closed = true;
        CompletableFuture<ReadIndex> waiting = asked;
        if (waiting != null) {
            waiting.cancel(false);
        }
        closeAhead();
    }

    /**
     * Goes on looking for that time.
     *
     * @param standing where the consumer stands, if it does: the source has to be the same, and as far
     * @return null if there is nothing yet
     */
    @Nullable ReadIndex look(@Nullable Position standing, Duration patience) throws FeedEndedException, InterruptedException {
        CompletableFuture<ReadIndex> waiting = asked;
        if (waiting == null) {
            waiting = use(cluster.readIndexSoonest(options.requestTimeout()));
            inAdvance = false;
        }
        try {
            ReadIndex index = waiting.get(patience.toNanos(), TimeUnit.NANOSECONDS);
            asked = null;
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
            asked = null;
            if (inAdvance) {
                // Who knows when.
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
     * Of one that was asked for in advance: the revision of an old one may be compacted by now, and one from before the
     * consumer came where it stands says nothing of whether the source went back.
     */
    private boolean isOfUse(ReadIndex index, @Nullable Position standing) {
        return System.nanoTime() - index.sentNanos() <= options.requestTimeout().toNanos()
                && (standing == null || !index.revision().isBefore(standing.revision()));
    }
}
