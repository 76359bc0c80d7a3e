package io.understudy.gateway;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.feed.kafka.ValueFormat;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/** Writes an etcd cluster's commits to Kafka as a mirror does, one transaction each, without its guarantees. */
final class TopicRelay implements FeedConsumer, AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(20);
    private static final Duration LEAVING = Duration.ofSeconds(60);

    /** Longer than a broker's restart, as a failed producer is not replaced here. */
    private static final Duration BROKER_AWAY = Duration.ofMinutes(5);

    private final EtcdCluster cluster;
    private final EtcdFeedSource source;
    private final Producer<byte[], byte[]> producer;
    private final String topic;
    private final TopicOrigin origin;
    private final SortedSet<ByteString> keys = new TreeSet<>(KeyRange.KEY_ORDER);
    private final Thread thread = new Thread(this::run, "topic-relay");
    private volatile boolean closed;
    private volatile boolean away;
    private volatile boolean gone;
    private volatile boolean quiet;
    private volatile @Nullable Throwable failure;
    private Revision complete = Revision.ZERO;
    private @Nullable Position snapshotOf;
    /** Records of the snapshot so far. */
    private long found;

    private @Nullable CompletableFuture<ReadIndex> readIndex;

    TopicRelay(URI etcd, String bootstrapServers, String topic, ValueFormat format) throws Exception {
        this.topic = topic;
        this.origin = new TopicOrigin(1, TopicScope.all(), 1, format);
        this.cluster = EtcdCluster.connect(EtcdSettings.of(etcd), new SimpleMeterRegistry());
        this.source = new EtcdFeedSource("relay", cluster, EtcdFeedOptions.DEFAULTS, new SimpleMeterRegistry());
        KafkaClients kafka = new KafkaClients(new KafkaSettings(bootstrapServers, null, BROKER_AWAY), "relay");
        try (Admin admin = kafka.admin()) {
            admin.createTopics(List.of(
                            new NewTopic(topic, 1, (short) 1),
                            new NewTopic(stateTopic(), Optional.of(1), Optional.empty())
                                    .configs(Map.of("cleanup.policy", "compact"))))
                    .all()
                    .get();
        }
        this.producer = kafka.producer("relay." + topic, BROKER_AWAY, KafkaClients.MAX_MESSAGE_BYTES, Map.of());
        producer.initTransactions();
        thread.start();
    }

    /** Stops commits and heartbeats until it returns with a snapshot. */
    void leave() {
        away = true;
        await().atMost(LEAVING).until(() -> gone);
    }

    void comeBack() {
        away = false;
    }

    /** Whether heartbeats are left out. */
    void quiet(boolean isQuiet) {
        quiet = isQuiet;
    }

    /** The error that ended it early; null without one. */
    @Nullable Throwable failure() {
        return failure;
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        producer.close(Duration.ofSeconds(5));
        cluster.close();
    }

    private void run() {
        try {
            while (!closed) {
                if (away) {
                    gone = true;
                    LockSupport.parkNanos(POLL.toNanos());
                } else {
                    gone = false;
                    relay();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (FeedEndedException | RuntimeException | Error e) {
            failure = closed ? null : e;
        }
    }

    private void relay() throws FeedEndedException, InterruptedException {
        try (Feed feed = source.open(KeyRange.all(), FeedKind.HISTORY, null)) {
            while (!closed && !away) {
                boolean unused = feed.poll(POLL, this);
                heartbeat();
            }
        }
    }

    private void heartbeat() {
        CompletableFuture<ReadIndex> answer = readIndex;
        if (answer == null) {
            readIndex = cluster.readIndexRound(Duration.ofSeconds(1));
        } else if (answer.isCompletedExceptionally()) {
            readIndex = null;
        } else if (answer.isDone()
                && !quiet
                && complete.value() > 0
                && !answer.join().revision().isAfter(complete)) {
            readIndex = null;
            producer.beginTransaction();
            write(new TopicRecord.Complete(
                    answer.join().clusterId(),
                    complete,
                    complete,
                    0,
                    Instant.now().minusNanos(System.nanoTime() - answer.join().sentNanos())));
            producer.commitTransaction();
        }
    }

    @Override
    public void snapshotStarted(ClusterId from, Revision revision) {
        producer.beginTransaction();
        snapshotOf = new Position(from, revision, null);
        found = 0;
        complete = Revision.ZERO;
        write(new TopicRecord.SnapshotBegin(from, revision));
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        Position at = Objects.requireNonNull(snapshotOf);
        Set<ByteString> present = new HashSet<>();
        for (KeyValue entry : entries) {
            present.add(entry.key());
            write(new TopicRecord.Found(at.cluster(), entry));
        }
        List<ByteString> gone = keys.stream()
                .filter(key -> covered.contains(key) && !present.contains(key))
                .toList();
        gone.forEach(key -> write(new TopicRecord.Gone(at.cluster(), at.revision(), key)));
        keys.addAll(present);
        found += entries.size() + gone.size();
    }

    @Override
    public void snapshotCompleted(Position position) {
        write(new TopicRecord.SnapshotEnd(position.cluster(), position.revision(), found));
        producer.commitTransaction();
        complete = position.revision();
    }

    @Override
    public void commit(Commit commit, Position position) {
        producer.beginTransaction();
        int size = commit.changes().size();
        for (int i = 0; i < size; i++) {
            Change change = commit.changes().get(i);
            keys.add(change.key());
            write(new TopicRecord.Changed(position.cluster(), commit.revision(), i, size, change));
        }
        write(new TopicRecord.Complete(position.cluster(), commit.revision(), complete, size, null));
        producer.commitTransaction();
        complete = commit.revision();
    }

    @Override
    public void progress(Position position) {
        // With all keys in range every revision is a commit.
    }

    /** Writes to both topics. */
    private void write(TopicRecord record) {
        ProducerRecord<byte[], byte[]> state = RecordFormat.write(stateTopic(), 0, record, origin);
        send(state);
        send(RecordFormat.ofChanges(topic, 0, state, record, origin));
    }

    private void send(ProducerRecord<byte[], byte[]> record) {
        // Errors surface when the transaction is committed.
        Future<?> unused = producer.send(record);
    }

    private String stateTopic() {
        return KafkaFeedOptions.stateTopicOf(topic);
    }
}
