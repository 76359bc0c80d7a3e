package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.AnotherCluster;
import io.understudy.feed.FeedEndedException.AnotherHistory;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.kafka.ChangeTopic.FeedEvent;
import io.understudy.feed.kafka.KafkaFeedSource.KafkaFeedMetrics;
import io.understudy.kafka.KafkaClients;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The feed of a mirror's topics. In turns:
 *
 * <ol>
 *   <li><em>bootstrap</em>, without a position: the {@link StateTopic} is read until it is a state at one revision;
 *   <li><em>opening</em>: the {@link ChangeTopic} is searched for that revision, and only once it is known to have what
 *       follows the snapshot is given;
 *   <li><em>tail</em>: commits and marks.
 * </ol>
 *
 * <p>Invariant FK9: behind MirrorMaker, killed midway and repeating records, each commit comes once, whole and in
 * order, and so does the state.
 */
final class KafkaFeed implements Feed {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaFeed.class);

    private final KafkaClients clients;
    private final KafkaFeedOptions options;
    private final KeyRange range;
    private final OriginCheck origins;
    /** Of the source's feeds. */
    private final AtomicReference<@Nullable LastPosition> last;

    private final KafkaFeedMetrics metrics;
    private final Outages outages;
    /** Kafka's consumer is one thread's at a time: the polling or the closing one's. */
    private final ReentrantLock using = new ReentrantLock();

    private volatile boolean closed;
    private volatile @Nullable Connection connection;
    private @Nullable Position position;
    private @Nullable StateTopic bootstrap;
    private @Nullable SnapshotPages pages;
    private @Nullable ChangeTopic tail;
    private @Nullable FeedEndedException end;

    KafkaFeed(
            KafkaClients clients,
            KafkaFeedOptions options,
            KeyRange range,
            OriginCheck origins,
            @Nullable Position resumeAt,
            AtomicReference<@Nullable LastPosition> last,
            KafkaFeedMetrics metrics) {
        this.clients = clients;
        this.options = options;
        this.range = range;
        this.origins = origins;
        this.position = resumeAt;
        this.last = last;
        this.metrics = metrics;
        this.outages = new Outages(options.topic() + " and " + options.stateTopic(), clients.settings(), metrics);
    }

    @Override
    public boolean poll(Duration timeout, FeedConsumer consumer) throws FeedEndedException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        using.lockInterruptibly();
        try {
            do {
                if (end != null) {
                    throw end;
                }
                if (closed) {
                    throw new IllegalStateException("feed is closed");
                }
                if (step(deadline, consumer)) {
                    return true;
                }
            } while (System.nanoTime() < deadline);
            return false;
        } catch (FeedEndedException e) {
            if (end == null) {
                LOG.atWarn()
                        .addKeyValue("topic", options.topic())
                        .addKeyValue("kind", e.getClass().getSimpleName())
                        .addKeyValue("cause", e.getMessage())
                        .log("feed ended");
                metrics.feed().ended(e);
                if (!(e instanceof AnotherCluster) && !(e instanceof AnotherHistory)) {
                    ended(e instanceof Gap gap ? gap.position() : position);
                }
                end = e;
                close();
            }
            throw e;
        } catch (RuntimeException | Error e) {
            // The consumer may have lost what it was given: continuing could skip a commit.
            close();
            throw e;
        } finally {
            using.unlock();
            releaseIfClosed();
        }
    }

    /** Does nothing: the mirror reports at each heartbeat. */
    @Override
    public void requestProgress() {}

    @Override
    public long stateRead() {
        StateTopic reading = bootstrap;
        return reading == null ? 0 : reading.furthest();
    }

    @Override
    public void close() {
        closed = true;
        Connection open = connection;
        if (open != null) {
            open.wake();
        }
        releaseIfClosed();
    }

    private void releaseIfClosed() {
        // The holder of the lock comes here when done.
        if (closed && using.tryLock()) {
            try {
                Connection open = connection;
                connection = null;
                if (open != null) {
                    open.close();
                    if (end == null) {
                        ended(position);
                    }
                }
            } finally {
                using.unlock();
            }
        }
    }

    /** The next one, which may be opened without a position, must not begin before that. */
    private void ended(@Nullable Position at) {
        ChangeTopic changes = tail;
        if (at != null) {
            last.set(new LastPosition(at, changes == null ? null : changes.generation()));
        }
    }

    /** Advances the feed by one step. Returns whether the consumer was called. */
    private boolean step(long deadline, FeedConsumer consumer) throws FeedEndedException, InterruptedException {
        FeedEvent event = null;
        try {
            if (!outages.pause(deadline)) {
                return false;
            }
            Connection open = connected();
            if (closed) {
                return false;
            }
            ChangeTopic changes = tail;
            if (changes == null) {
                changes = changesAfterBootstrap(open, remaining(deadline));
            }
            if (changes == null || !changes.open(remaining(deadline))) {
                return false;
            }
            if (pages == null) {
                event = changes.next(remaining(deadline));
            }
        } catch (OffsetOutOfRangeException e) {
            outOfRange(e);
            return false;
        } catch (KafkaException e) {
            outages.failed(e);
            return false;
        }
        SnapshotPages giving = pages;
        if (giving != null) {
            givePage(giving, Objects.requireNonNull(position), consumer);
            return true;
        }
        if (event != null) {
            give(event, consumer);
        }
        return event != null;
    }

    private Connection connected() {
        Connection open = connection;
        if (open == null) {
            open = new Connection(clients, outages::over, metrics);
            connection = open;
        }
        return open;
    }

    private @Nullable ChangeTopic changesAfterBootstrap(Connection open, Duration timeout)
            throws FeedEndedException, InterruptedException {
        Position standing = position;
        Long generation = null;
        if (standing == null) {
            StateTopic reading = bootstrap;
            if (reading == null) {
                reading = new StateTopic(open, options.stateTopic(), range, origins, last.get(), metrics.strays());
                bootstrap = reading;
            }
            StateTable table = reading.read(timeout);
            ClusterId cluster = table == null ? null : table.cluster();
            if (table == null || cluster == null) {
                return null;
            }
            bootstrap = null;
            last.set(null);
            generation = table.chain().generation();
            standing = new Position(cluster, table.revision(), null);
            position = standing;
            pages = new SnapshotPages(range, table.entries());
        }
        ChangeTopic changes = new ChangeTopic(open, options, range, origins, standing, generation, metrics);
        tail = changes;
        return changes;
    }

    private void givePage(SnapshotPages giving, Position at, FeedConsumer consumer) {
        if (giving.isFirst()) {
            metrics.feed().snapshotStarted();
            LOG.atInfo()
                    .addKeyValue("topic", options.stateTopic())
                    .addKeyValue("cluster_id", at.cluster())
                    .addKeyValue("revision", at.revision())
                    .log("snapshot started");
            consumer.snapshotStarted(at.cluster(), at.revision());
        }
        SnapshotPages.Page page = giving.next();
        if (page != null) {
            metrics.feed().snapshotPage(page.entries().size());
            consumer.snapshotPage(page.covered(), page.entries());
            return;
        }
        pages = null;
        metrics.feed().complete(at.revision());
        consumer.snapshotCompleted(at);
    }

    private void give(FeedEvent event, FeedConsumer consumer) {
        if (event instanceof FeedEvent.Committed committed) {
            position = committed.position();
            metrics.feed().committed(committed.commit());
            consumer.commit(committed.commit(), committed.position());
        } else if (event instanceof FeedEvent.Marked marked) {
            position = marked.position();
            metrics.feed().complete(marked.position().revision());
            consumer.progress(marked.position());
        } else {
            consumer.asOf(((FeedEvent.Current) event).asOf());
        }
    }

    /** Handles an offset that the topic no longer has, or does not have yet. */
    private void outOfRange(OffsetOutOfRangeException e) throws FeedEndedException {
        Position standing = position;
        if (standing == null) {
            throw new Unexplained(
                    "topic " + options.stateTopic() + " was truncated or recreated during the read: " + e.getMessage(),
                    e);
        }
        throw new Gap(
                standing,
                Revision.ZERO,
                "topic " + options.topic() + " no longer has the next records: " + e.getMessage());
    }

    private static Duration remaining(long deadline) {
        return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    }

    /**
     * Where a feed ended. The next snapshot is at its revision or later: the state topic, copied by MirrorMaker, may be
     * behind the change topic, or copied again.
     *
     * @param generation of the topic's marks at the position, see {@link TopicOrigin}; null if none was read
     */
    record LastPosition(Position position, @Nullable Long generation) {

        /**
         * Whether a state is from before it. A later generation may be of another history, with lower revisions.
         */
        boolean isAfter(StateTable state) {
            return position.cluster().equals(state.cluster())
                    && position.revision().isAfter(state.revision())
                    && (generation == null || generation >= state.chain().generation());
        }
    }

    /** A state in pages of bounded size, which are released once delivered. Owned by the feed's thread. */
    private static final class SnapshotPages {

        private static final int KEYS = 1_000;
        private static final long BYTES = 1L << 20;

        /** All there is in {@code covered}. */
        record Page(KeyRange covered, List<KeyValue> entries) {}

        private final KeyRange range;
        private final NavigableMap<ByteString, KeyValue> entries;
        private @Nullable ByteString cursor;
        private boolean first = true;

        SnapshotPages(KeyRange range, NavigableMap<ByteString, KeyValue> entries) {
            this.range = range;
            this.entries = entries;
            this.cursor = range.from();
        }

        /** Whether no page was delivered. */
        boolean isFirst() {
            return first;
        }

        /** The next page, in key order, adjoining the one before; null after the last. */
        @Nullable Page next() {
            ByteString from = cursor;
            if (from == null) {
                return null;
            }
            first = false;
            List<KeyValue> page = new ArrayList<>();
            long bytes = 0;
            ByteString last = from;
            while (!entries.isEmpty() && page.size() < KEYS && bytes < BYTES) {
                Map.Entry<ByteString, KeyValue> entry = entries.pollFirstEntry();
                page.add(entry.getValue());
                bytes += entry.getValue().bytes();
                last = entry.getKey();
            }
            cursor = entries.isEmpty() ? null : KeyRange.successor(last);
            return new Page(new KeyRange(from, cursor == null ? range.to() : cursor), page);
        }
    }
}
