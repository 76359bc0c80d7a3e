package io.understudy.gateway.primary;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedMetrics;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.gateway.primary.PrimaryChoice.Seen;
import io.understudy.gateway.primary.PrimaryChoice.Side;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Watches and reads a mirror's primary record at one cluster, over its own connections. Failed reads are retried. */
public final class PrimaryRecords implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PrimaryRecords.class);
    private static final Duration POLL = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Side side;
    private final KeyRange key;
    private final Supplier<EtcdCluster> connections;
    private final EtcdFeedOptions options;
    private final FeedMetrics metrics;
    private final long silenceNanos;
    private final LatestRecord latest;
    private final Thread thread;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CompletableFuture<Void> first = new CompletableFuture<>();
    private volatile EtcdCluster cluster;
    /** Whether the endpoints lead to a cluster with another ID. Of {@link #thread}. */
    private boolean replaced;

    private volatile long heardNanos;
    private volatile @Nullable String problem;
    private volatile @Nullable Feed feed;

    /**
     * Starts to connect.
     *
     * @param consumer receives each record, on any thread
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public PrimaryRecords(
            Side side,
            EtcdSettings settings,
            String mirror,
            EtcdFeedOptions options,
            MeterRegistry registry,
            Consumer<Seen> consumer) {
        String name = side.name().toLowerCase(Locale.ROOT) + "-primary";
        this.side = side;
        this.key = KeyRange.single(PrimaryRecord.key(mirror));
        this.connections = () -> EtcdCluster.connectReading(settings.withName(name), key, key.from(), null, registry);
        this.cluster = connections.get();
        this.options = options;
        this.metrics = new FeedMetrics(name, registry);
        this.silenceNanos = options.stallTimeout().multipliedBy(2).toNanos();
        this.latest = new LatestRecord(side, consumer);
        this.thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    public void start() {
        thread.start();
    }

    /** Completes once the record is read or found missing. */
    public CompletableFuture<Void> first() {
        return first;
    }

    /** Reads the record, linearizably. */
    public CompletableFuture<@Nullable Seen> read(Duration deadline) {
        return cluster.readIndex(deadline).thenApply(this::read);
    }

    /**
     * Returns the record in the response of a read index; null if missing.
     *
     * @throws IllegalArgumentException if it is not a record
     */
    public @Nullable Seen read(ReadIndex index) {
        KeyValue stored = index.read();
        return stored == null ? null : latest.found(index.clusterId(), stored);
    }

    /** Why a move of the primary may be missed; empty if all is well. */
    public Optional<String> problem() {
        String why = problem;
        if (why == null && !first.isDone()) {
            why = "not read yet";
        } else if (why == null && System.nanoTime() - heardNanos > silenceNanos) {
            why = "no response for " + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - heardNanos) + " s";
        }
        return Optional.ofNullable(why)
                .map(cause -> "primary record at " + side.name().toLowerCase(Locale.ROOT) + ": " + cause);
    }

    @Override
    public void close() {
        closing.countDown();
        Feed open = feed;
        if (open != null) {
            open.close();
        }
        thread.interrupt();
        cluster.close();
    }

    private void run() {
        try {
            while (closing.getCount() > 0) {
                follow();
                boolean unused = closing.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void follow() throws InterruptedException {
        try (Feed opened = feeds().open(key, FeedKind.STATE, null)) {
            feed = opened;
            Reader reader = new Reader();
            while (closing.getCount() > 0) {
                boolean unused = opened.poll(POLL, reader);
            }
        } catch (FeedEndedException | RuntimeException e) {
            replaced |= e instanceof FeedEndedException.AnotherCluster;
            if (closing.getCount() > 0) {
                problem = String.valueOf(e.getMessage());
                LOG.atWarn()
                        .addKeyValue("side", side)
                        .addKeyValue("cause", e.getMessage())
                        .log("primary record not readable; retrying");
            }
        }
    }

    /** Connects again to a rebuilt cluster: a connection accepts one cluster ID only. */
    private EtcdFeedSource feeds() {
        if (replaced) {
            cluster.close();
            cluster = connections.get();
            replaced = false;
            if (closing.getCount() == 0) {
                cluster.close();
            }
        }
        return new EtcdFeedSource(cluster, options, metrics);
    }

    /** Consumer of one feed. */
    private final class Reader implements FeedConsumer {

        private @Nullable KeyValue found;

        @Override
        public void snapshotStarted(ClusterId source, Revision revision) {
            found = null;
            latest.restart();
        }

        @Override
        public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
            found = entries.isEmpty() ? found : entries.get(0);
        }

        @Override
        public void snapshotCompleted(Position position) {
            deliver(position.cluster());
        }

        @Override
        public void commit(Commit commit, Position position) {
            for (Change change : commit.changes()) {
                found = change instanceof Change.Put put ? put.keyValue() : null;
            }
            deliver(position.cluster());
        }

        @Override
        public void progress(Position position) {
            heardNanos = System.nanoTime();
        }

        private void deliver(ClusterId at) {
            if (found != null) {
                Seen unused = latest.found(at, found);
            }
            heardNanos = System.nanoTime();
            problem = null;
            first.complete(null);
        }
    }

    /** The latest record of one side. Watch and reads are not ordered, so an older record is ignored. Thread-safe. */
    static final class LatestRecord {

        private final Side side;
        private final Consumer<Seen> consumer;
        private volatile @Nullable Found latest;

        private record Found(KeyValue stored, Seen seen) {}

        LatestRecord(Side side, Consumer<Seen> consumer) {
            this.side = side;
            this.consumer = consumer;
        }

        /**
         * Decodes a record and passes it on unless older.
         *
         * @throws IllegalArgumentException if it is not a record
         */
        Seen found(ClusterId at, KeyValue stored) {
            Found known = latest;
            if (known != null
                    && known.seen().cluster().equals(at)
                    && known.stored().equals(stored)) {
                return known.seen();
            }
            Seen seen = new Seen(side, at, stored.modRevision(), PrimaryRecord.decode(stored.value()));
            synchronized (this) {
                Found last = latest;
                if (last == null
                        || !last.seen().cluster().equals(at)
                        || seen.revision().isAfter(last.seen().revision())) {
                    latest = new Found(stored, seen);
                    consumer.accept(seen);
                }
            }
            return seen;
        }

        /** Accepts any next record: a cluster that was rebuilt has another history under the same ID. */
        synchronized void restart() {
            latest = null;
        }
    }
}
