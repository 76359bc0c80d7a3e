package io.understudy.gateway.primary;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the primary record of a mirror at one of its clusters, over connections of its own. What cannot be read is
 * read again later, and changes nothing.
 */
public final class PrimaryRecords implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PrimaryRecords.class);
    private static final Duration POLL = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Side side;
    private final KeyRange key;
    private final EtcdCluster cluster;
    private final EtcdFeedSource feeds;
    private final Consumer<Optional<Seen>> consumer;
    private final Thread thread;
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile boolean isRead;
    private volatile @Nullable String problem;
    private volatile @Nullable Feed feed;

    /**
     * Begins to connect.
     *
     * @param consumer gets each record, or none where the key is missing, on a thread of this object
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public PrimaryRecords(
            Side side,
            EtcdSettings settings,
            String mirror,
            EtcdFeedOptions options,
            MeterRegistry registry,
            Consumer<Optional<Seen>> consumer) {
        String name = side.name().toLowerCase(Locale.ROOT) + "-primary";
        this.side = side;
        this.key = KeyRange.single(PrimaryRecord.key(mirror));
        this.cluster = EtcdCluster.connect(settings.withName(name), key, registry);
        this.feeds = new EtcdFeedSource(name, cluster, options, registry);
        this.consumer = consumer;
        this.thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    public void start() {
        thread.start();
    }

    /** Timers that live as long as this object. */
    public ScheduledExecutorService timers() {
        return cluster.thread();
    }

    /** Why a move of the primary may be missed; empty if all is well. */
    public Optional<String> problem() {
        String why = problem;
        return why == null && isRead
                ? Optional.empty()
                : Optional.of("primary record at " + side.name().toLowerCase(Locale.ROOT) + " not readable"
                        + (why == null ? "" : ": " + why));
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
        try (Feed opened = feeds.open(key, FeedKind.STATE, null)) {
            feed = opened;
            Reader reader = new Reader();
            while (closing.getCount() > 0) {
                boolean unused = opened.poll(POLL, reader);
            }
        } catch (FeedEndedException | RuntimeException e) {
            if (closing.getCount() > 0) {
                problem = String.valueOf(e.getMessage());
                LOG.atWarn()
                        .addKeyValue("side", side)
                        .addKeyValue("cause", e.getMessage())
                        .log("primary record not readable; retrying");
            }
        }
    }

    /** Of one feed. */
    private final class Reader implements FeedConsumer {

        private @Nullable KeyValue found;

        @Override
        public void snapshotStarted(ClusterId source, Revision revision) {
            found = null;
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
            // The record is the same.
        }

        private void deliver(ClusterId at) {
            KeyValue now = found;
            ByteString stored = now == null ? null : now.value();
            consumer.accept(
                    now == null || stored == null
                            ? Optional.empty()
                            : Optional.of(new Seen(side, at, now.modRevision(), PrimaryRecord.decode(stored))));
            isRead = true;
            problem = null;
        }
    }
}
