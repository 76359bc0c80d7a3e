package io.understudy.feed.kafka;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedMetrics;
import io.understudy.feed.FeedSource;
import io.understudy.feed.kafka.Connection.TopicBounds;
import io.understudy.feed.kafka.KafkaFeed.LastPosition;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaErrors;
import io.understudy.kafka.KafkaSettings;
import io.understudy.metrics.CommonMeter;
import io.understudy.vocabulary.DaemonThreads;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Feeds from the topics that a mirror writes. Thread-safe. */
public final class KafkaFeedSource implements FeedSource {

    private final KafkaClients clients;
    private final KafkaFeedOptions options;
    private final KafkaFeedMetrics metrics;
    private final TopicHead head;
    /** Used parts of a range; null for all of it. */
    private final @Nullable List<KeyRange> parts;
    /** Of the last feed; null once a snapshot has followed. */
    private final AtomicReference<@Nullable LastPosition> last = new AtomicReference<>();

    /**
     * Connects when a feed is polled.
     *
     * @param name of the source, in metrics, logs, and as Kafka's client id
     * @throws IllegalArgumentException the settings name a file that can't be used
     */
    public KafkaFeedSource(String name, KafkaSettings kafka, KafkaFeedOptions options, MeterRegistry meters) {
        this(name, kafka, options, null, meters);
    }

    /**
     * The same for a consumer that uses parts of its ranges only.
     *
     * @param parts that the topics must contain
     */
    public KafkaFeedSource(
            String name,
            KafkaSettings kafka,
            KafkaFeedOptions options,
            @Nullable List<KeyRange> parts,
            MeterRegistry meters) {
        this.clients = new KafkaClients(kafka, "understudy-" + name);
        this.options = options;
        this.metrics = new KafkaFeedMetrics(name, meters);
        this.head = new TopicHead(kafka, () -> new Connection(clients, () -> {}, null), options.topic());
        this.parts = parts == null ? null : List.copyOf(parts);
    }

    /** All kinds deliver each commit of the topic, or a gap. Rejects ranges outside the mirror's scope. */
    @Override
    public Feed open(KeyRange range, FeedKind kind, @Nullable FeedStart start) {
        Position resumeAt = start instanceof Position position ? position : null;
        List<KeyRange> used = parts == null
                ? List.of(range)
                : parts.stream()
                        .filter(range::intersects)
                        .map(range::intersection)
                        .toList();
        return new KafkaFeed(clients, options, range, new OriginCheck(used), resumeAt, last, metrics);
    }

    /**
     * Reads from Kafka the revision up to which the change topic is complete. Bounded by the settings' timeout. Callers
     * during a read share its result.
     */
    public CompletableFuture<Revision> head() {
        return head.request();
    }

    /**
     * Reads the last mark of the change topic, also the beginning of a snapshot under way. Clients and thread are released
     * when idle. Thread-safe.
     */
    static final class TopicHead {

        private static final Logger LOG = LoggerFactory.getLogger(KafkaFeed.class);

        private static final long IDLE_SECONDS = 30;

        /** How far before the end to look first; further and further when there is no mark. */
        private static final long FIRST_LOOK = 16;

        private static final int FURTHER = 16;

        private final KafkaSettings settings;
        private final Supplier<Connection> connections;
        private final TopicPartition partition;
        private final BlockingQueue<CompletableFuture<Revision>> requests = new ArrayBlockingQueue<>(1);
        private @Nullable CompletableFuture<Revision> underWay;
        private boolean running;
        /** Result of the last read, on its thread. */
        private Revision lastHead = Revision.ZERO;
        /** Offset up to which the topic was read for it, so that a snapshot under way is not read again. */
        private long lastEnd;

        TopicHead(KafkaSettings settings, Supplier<Connection> connections, String topic) {
            this.settings = settings;
            this.connections = connections;
            // Every partition has the marks.
            this.partition = new TopicPartition(topic, 0);
        }

        /** The result of the read under way, or of a new one. */
        synchronized CompletableFuture<Revision> request() {
            CompletableFuture<Revision> pending = underWay;
            if (pending == null || pending.isDone()) {
                if (!running) {
                    DaemonThreads.start("kafka-head", this::answerAll);
                    running = true;
                }
                pending = new CompletableFuture<>();
                underWay = pending;
                requests.add(pending);
            }
            // The read has a deadline of its own, but for clients that do not return.
            return pending.copy().orTimeout(2 * settings.timeout().toNanos(), TimeUnit.NANOSECONDS);
        }

        private void answerAll() {
            Connection connection = null;
            while (true) {
                CompletableFuture<Revision> request = nextRequest();
                if (request == null) {
                    close(connection);
                    return;
                }
                try {
                    if (connection == null) {
                        connection = connections.get();
                    }
                    request.complete(read(
                            connection, System.nanoTime() + settings.timeout().toNanos()));
                } catch (Throwable e) {
                    request.completeExceptionally(
                            KafkaErrors.isAccess(e)
                                    ? new KafkaException(KafkaErrors.text(e, settings, AclOperation.READ), e)
                                    : e);
                    close(connection);
                    connection = null;
                }
            }
        }

        /** Null if none came for long: then no more are taken on this thread. */
        private @Nullable CompletableFuture<Revision> nextRequest() {
            try {
                CompletableFuture<Revision> request = requests.poll(IDLE_SECONDS, TimeUnit.SECONDS);
                if (request != null) {
                    return request;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            synchronized (this) {
                CompletableFuture<Revision> request = requests.poll();
                running = request != null;
                return request;
            }
        }

        private static void close(@Nullable Connection connection) {
            if (connection == null) {
                return;
            }
            try {
                connection.close();
            } catch (RuntimeException e) {
                // The thread has other requests to answer.
                LOG.atDebug().setCause(e).log("Kafka client close failed");
            }
        }

        private Revision read(Connection connection, long deadline)
                throws MalformedRecordException, TimeoutException, InterruptedException {
            Connection.AdminQuery<Map<TopicPartition, TopicBounds>> bounding =
                    connection.query(admin -> TopicBounds.request(admin, List.of(partition)));
            Map<TopicPartition, TopicBounds> known = bounding.answer(remaining(deadline));
            TopicBounds bounds = known == null ? null : known.get(partition);
            if (bounds == null) {
                throw late("Kafka returned no end offset of");
            }
            connection.assign(List.of(partition));
            // Behind the end, the topic was truncated or recreated.
            boolean isKnown = lastEnd <= bounds.end();
            long first = isKnown ? Math.max(bounds.beginning(), lastEnd) : bounds.beginning();
            Revision head = Revision.ZERO;
            long from = bounds.end();
            for (long look = FIRST_LOOK; head.value() == 0 && from > first; look *= FURTHER) {
                long to = from;
                from = Math.max(first, to - look);
                connection.seek(partition, from);
                for (long at = from; at < to; at = connection.position(partition)) {
                    for (ConsumerRecord<byte[], byte[]> record : connection.poll(partition, remaining(deadline))) {
                        TopicRecord parsed = RecordFormat.readOwn(record, null);
                        if (parsed != null && parsed.isMark()) {
                            head = parsed.revision();
                        }
                    }
                }
            }
            lastHead = head.value() == 0 && isKnown ? lastHead : head;
            lastEnd = bounds.end();
            return lastHead;
        }

        private Duration remaining(long deadline) throws TimeoutException {
            long nanos = deadline - System.nanoTime();
            if (nanos <= 0) {
                throw late("Kafka returned no mark of");
            }
            return Duration.ofNanos(nanos);
        }

        private TimeoutException late(String what) {
            return new TimeoutException(what + " partition " + partition + " within "
                    + settings.timeout().toSeconds() + " s");
        }
    }

    /** Metrics of Kafka feeds only, tagged with their source's {@code feed} name. Thread-safe. */
    static final class KafkaFeedMetrics {

        private final MeterRegistry registry;
        private final Tags tags;
        private final FeedMetrics feed;
        private final Counter records;
        private final Counter repeats;
        private final Counter outages;
        private final StrayRecords strays;
        private final AtomicLong ageMillis = new AtomicLong();

        KafkaFeedMetrics(String name, MeterRegistry registry) {
            feed = new FeedMetrics(name, registry);
            this.registry = registry;
            this.tags = Tags.of("feed", name);
            records = CommonMeter.FEED_RECORDS.counter().tags(tags).register(registry);
            repeats = CommonMeter.FEED_REPEATS.counter().tags(tags).register(registry);
            outages = CommonMeter.FEED_OUTAGES.counter().tags(tags).register(registry);
            Counter stray = CommonMeter.FEED_STRAYS.counter().tags(tags).register(registry);
            strays = new StrayRecords(stray::increment);
            CommonMeter.FEED_RECORD_AGE
                    .gauge(ageMillis, AtomicLong::get)
                    .tags(tags)
                    .register(registry);
        }

        /** Exports a consumer's own metrics until the result is closed. */
        KafkaClientMetrics export(Consumer<?, ?> consumer) {
            KafkaClientMetrics exported = new KafkaClientMetrics(consumer, tags);
            exported.bindTo(registry);
            return exported;
        }

        /** Metrics of every feed. */
        FeedMetrics feed() {
            return feed;
        }

        /** Receives records of other writers. */
        StrayRecords strays() {
            return strays;
        }

        /** @param age of the last of them, by its writer's clock and ours */
        void read(int count, long age) {
            records.increment(count);
            ageMillis.set(Math.max(0, age));
        }

        /** @param count of records that were read before */
        void repeated(long count) {
            repeats.increment((double) count);
        }

        /** Kafka doesn't answer any more. */
        void away() {
            outages.increment();
        }
    }
}
