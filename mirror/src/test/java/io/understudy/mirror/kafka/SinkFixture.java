package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.fixture.Topic;
import io.understudy.mirror.fixture.TopicHistory;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Sinks of one mirror that writes topics of its own, given commits by hand; closed after the test. */
final class SinkFixture implements BeforeEachCallback, AfterEachCallback {

    static final Duration PATIENCE = Duration.ofSeconds(60);
    static final ClusterId CLUSTER = new ClusterId(0xc1);

    private final KafkaExtension kafka;
    private final List<KafkaSink> opened = new ArrayList<>();
    private final Counting counting = new Counting(new AtomicInteger(), new AtomicInteger());
    private KafkaSinkOptions options;
    private MirrorScope scope = MirrorScope.all();
    private TransactionTimeout timeout;
    private Admin admin;

    SinkFixture(KafkaExtension kafka) {
        this.kafka = kafka;
    }

    @Override
    public void beforeEach(ExtensionContext test) {
        options = KafkaSinkOptions.of(
                kafka.bootstrapServers(),
                test.getRequiredTestMethod().getName() + "-"
                        + Integer.toHexString(test.getUniqueId().hashCode()));
        timeout = new TransactionTimeout(options.transactionTimeout());
        admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()));
    }

    @Override
    public void afterEach(ExtensionContext test) {
        opened.forEach(KafkaSink::close);
        admin.close();
    }

    KafkaSinkOptions options() {
        return options;
    }

    /** Of sinks made from now on. */
    void options(KafkaSinkOptions changed) {
        options = changed;
    }

    /** Of sinks made from now on. */
    void scope(MirrorScope changed) {
        scope = changed;
    }

    /** Of sinks made from now on, and shared by them. */
    void timeout(Duration configured) {
        timeout = new TransactionTimeout(configured);
    }

    TransactionTimeout timeout() {
        return timeout;
    }

    Admin admin() {
        return admin;
    }

    /** How many stray records the sinks reported. */
    int strays() {
        return counting.strays.get();
    }

    /** How many aborted transactions the sinks reported. */
    int aborts() {
        return counting.aborts.get();
    }

    KafkaSink sink() {
        return sink("log", "test/1");
    }

    KafkaSink sink(MeterRegistry meters) {
        return sink("log", "test/1", meters);
    }

    KafkaSink sink(String mirror, String owner) {
        return sink(mirror, owner, new SimpleMeterRegistry());
    }

    private KafkaSink sink(String mirror, String owner, MeterRegistry meters) {
        KafkaSink sink = new KafkaSink(mirror, scope, owner, options, timeout, counting, meters);
        opened.add(sink);
        return sink;
    }

    /** One that has mirrored a snapshot with the key {@code first}, or nothing of the scope. */
    KafkaSink begun(long revision) {
        KafkaSink sink = sink();
        assertThat(sink.open()).isNull();
        sink.snapshotStarted(CLUSTER, new Revision(revision));
        sink.snapshotPage(KeyRange.all(), List.of(entry(9, "first")));
        sink.snapshotCompleted(at(revision));
        return sink;
    }

    TopicHistory history() {
        return TopicHistory.read(kafka.bootstrapServers(), options.topic(), options.partitions());
    }

    /** Keys of all records of the first partition, without marks. */
    List<String> written() {
        return Topic.data(Topic.records(kafka.bootstrapServers(), options.topic())).stream()
                .map(record -> ByteString.copyFrom(record.key()).toStringUtf8())
                .toList();
    }

    Map<String, String> state() {
        Map<String, String> state = new TreeMap<>();
        Topic.state(Topic.records(kafka.bootstrapServers(), options.stateTopic()))
                .forEach((key, value) -> state.put(key.toStringUtf8(), value.toStringUtf8()));
        return state;
    }

    /** Until the broker describes it, which is later than its answer. */
    void create(NewTopic topic) {
        try {
            admin.createTopics(List.of(topic)).all().get();
            await().atMost(PATIENCE)
                    .until(() -> admin.listTopics().names().get().contains(topic.name()));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    void delete(String topic) {
        try {
            admin.deleteTopics(List.of(topic)).all().get();
            await().atMost(PATIENCE)
                    .until(() -> !admin.listTopics().names().get().contains(topic));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static void give(KafkaSink sink, Commit commit) {
        sink.commit(commit, at(commit));
    }

    static Position at(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }

    static Position at(Commit commit) {
        return new Position(
                CLUSTER, commit.revision(), new Position.Anchor(commit.revision(), CommitDigest.of(commit)));
    }

    static Commit commit(long revision, String... keys) {
        return new Commit(
                new Revision(revision),
                List.of(keys).stream().map(key -> put(revision, key, "1")).toList());
    }

    static Change put(long revision, String key, String value) {
        return new Change.Put(
                new KeyValue(key(key), ByteString.copyFromUtf8(value), new Revision(1), new Revision(revision), 1, 0));
    }

    static KeyValue entry(long revision, String key) {
        return new KeyValue(key(key), ByteString.copyFromUtf8("1"), new Revision(1), new Revision(revision), 1, 0);
    }

    static ByteString key(String key) {
        return ByteString.copyFromUtf8(key);
    }

    static KeyRange range(String from, @Nullable String to) {
        return new KeyRange(key(from), to == null ? null : key(to));
    }

    private record Counting(AtomicInteger strays, AtomicInteger aborts) implements SinkListener {
        @Override
        public void stray() {
            strays.incrementAndGet();
        }

        @Override
        public void aborted() {
            aborts.incrementAndGet();
        }

        @Override
        public void unavailable(String why) {}

        @Override
        public void available() {}

        @Override
        public void written(long changes) {}
    }
}
