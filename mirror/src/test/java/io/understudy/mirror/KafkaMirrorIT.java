package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Topic;
import io.understudy.mirror.fixture.TopicHistory;
import io.understudy.mirror.fixture.Workload;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.vocabulary.Commit;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real etcd to a real broker: the last record of each key is what etcd holds, and every commit is there, in order.
 *
 * <p>Tests invariants M26, M30.
 */
final class KafkaMirrorIT {

    private static final int KILLS = Schedule.isLong() ? 50 : 2;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    private TestClient source;
    private String topic;

    @BeforeEach
    void beginEmpty(TestInfo test) {
        source = TestClient.of(SOURCE.cluster().leader());
        source.deleteAll();
        topic = test.getTestMethod().orElseThrow().getName();
    }

    @AfterEach
    void disconnect() {
        source.close();
    }

    @Test
    void recordsContainTheChangesOfACommit() {
        Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        long created = source.put("old", "1");
        String cluster = Long.toHexString(
                source.get(ByteString.copyFromUtf8("old")).getHeader().getClusterId());
        long revision;
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            revision = source.kv()
                    .txn(TxnRequest.newBuilder()
                            .addSuccess(put("new", "2"))
                            .addSuccess(put("empty", ""))
                            .build())
                    .getHeader()
                    .getRevision();
            source.put("old", "2");
            source.delete("old");
            awaitCaughtUp(mirror, source);
        }
        List<ConsumerRecord<byte[], byte[]>> records = records();
        assertThat(records)
                .extracting(KafkaMirrorIT::text)
                .containsExactly("old=1", "new=2", "empty=", "old=2", "old is gone");
        String generation = Topic.headers(records.get(0)).get("understudy.generation");
        assertThat(Instant.ofEpochMilli(Long.parseLong(generation))).isBetween(before, Instant.now());
        assertThat(Topic.headers(records.get(0)))
                .isEqualTo(Map.of(
                        "understudy.format",
                        "2",
                        "understudy.cluster",
                        cluster,
                        "understudy.generation",
                        generation,
                        "understudy.kind",
                        "snapshot",
                        "understudy.revision",
                        "" + created,
                        "understudy.create-revision",
                        "" + created,
                        "understudy.version",
                        "1",
                        "understudy.lease",
                        "0"));
        assertThat(Topic.headers(records.get(2)))
                .isEqualTo(Map.of(
                        "understudy.format", "2",
                        "understudy.cluster", cluster,
                        "understudy.generation", generation,
                        "understudy.kind", "commit",
                        "understudy.revision", "" + revision,
                        "understudy.index", "1",
                        "understudy.size", "2",
                        "understudy.create-revision", "" + revision,
                        "understudy.version", "1",
                        "understudy.lease", "0"));
        assertThat(Topic.headers(records.get(4)))
                .isEqualTo(Map.of(
                        "understudy.format", "2",
                        "understudy.cluster", cluster,
                        "understudy.generation", generation,
                        "understudy.kind", "commit",
                        "understudy.revision", "" + (revision + 2),
                        "understudy.index", "0",
                        "understudy.size", "1"));
    }

    @Test
    void marksHaveTheTimeAtWhichTheSourceHadNothingMore() {
        Instant before = Instant.now();
        long revision = source.put("old", "1");
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            await().atMost(PATIENCE).until(() -> history().marks().stream()
                    .anyMatch(mark -> mark instanceof TopicRecord.Complete complete
                            && complete.revision().value() == revision
                            && complete.asOf() != null
                            && complete.asOf().isAfter(before)));
        }
    }

    @Test
    void resumesAtTheCheckpointRepeatingNothingAfterAnOrderlyStop() {
        Workload workload = new Workload(source, 1);
        try (MirrorProcess mirror = start()) {
            workload.steps(100);
            awaitCaughtUp(mirror, source);
        }
        int before = records().size();
        source.put("one more", "1");
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(records()).hasSize(before + 1);
        assertEqual(1);
    }

    @Test
    @Tag("schedules")
    void survivesKillsOfItsProcessAtAnyMoment(@TempDir Path folder) {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Random random = new Random(seed);
        Workload workload = new Workload(source, seed);
        workload.steps(200);
        try (MirrorJvm mirror = MirrorJvm.kafka(folder, SOURCE.cluster(), KAFKA.bootstrapServers(), topic)) {
            mirror.start();
            await().atMost(PATIENCE).ignoreExceptions().until(() -> !records().isEmpty());
            for (int kill = 0; kill < KILLS; kill++) {
                int until = records().size() + random.nextInt(1, 200);
                await().atMost(PATIENCE)
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> {
                            workload.steps(5);
                            return records().size() >= until;
                        });
                mirror.kill();
                workload.steps(10);
                if (kill < KILLS - 1) {
                    mirror.start();
                }
            }
        }
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
        }
        assertEqual(seed);
        assertNothingIsMissing(seed);
    }

    @Test
    @Tag("schedules")
    void resumesWhenTheBrokerIsBack() {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Workload workload = new Workload(source, seed);
        KafkaSinkOptions impatient =
                KafkaSinkOptions.of(new KafkaSettings(KAFKA.bootstrapServers(), null, Duration.ofSeconds(2)), topic);
        try (MirrorProcess mirror = Mirrors.kafka(Mirrors.settings(SOURCE.cluster()), impatient)) {
            workload.steps(50);
            awaitCaughtUp(mirror, source);
            KAFKA.kafka().kill();
            workload.steps(50);
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(mirror.reports().get(0).state()).isEqualTo(MirrorState.RETRYING));
            KAFKA.kafka().start();
            workload.steps(50);
            awaitCaughtUp(mirror, source);
        }
        assertEqual(seed);
        assertNothingIsMissing(seed);
    }

    @Test
    void aGapIsClosedByDifferencesAndTombstones() {
        IntStream.range(0, 100).forEach(i -> source.put("/k/" + i, "1"));
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
        }
        int before = records().size();
        source.delete("/k/7");
        source.put("/k/8", "2");
        long head = source.put("/new", "1");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
        }
        List<ConsumerRecord<byte[], byte[]>> all = records();
        assertThat(all.subList(before, all.size()))
                .extracting(KafkaMirrorIT::text)
                .containsExactlyInAnyOrder("/k/7 is gone", "/k/8=2", "/new=1");
        assertEqual(0);
    }

    @Test
    void takesLargeValuesAndCommitsOfManyChanges() {
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            source.put("/large", ByteString.copyFrom(new byte[1_500_000]));
            for (int part = 0; part < 200; part++) {
                TxnRequest.Builder puts = TxnRequest.newBuilder();
                for (int i = 0; i < 100; i++) {
                    puts.addSuccess(put("/k/" + part + "/" + i, "1"));
                }
                var unused = source.kv().txn(puts.build());
            }
            source.deleteRange("/k/", "/k0");
            awaitCaughtUp(mirror, source);
        }
        assertEqual(0);
        assertThat(records()).hasSize(40_001);
    }

    /** Two mirrors with an include of their own. */
    @Test
    void aTopicOfEachPrefixHasItsPartOfACommit() {
        MirrorSettings.Mirror[] ofPrefixes =
                Stream.of("a", "b").map(this::ofPrefix).toArray(MirrorSettings.Mirror[]::new);
        try (MirrorProcess mirrors = Mirrors.start(ofPrefixes)) {
            await().atMost(PATIENCE)
                    .until(() -> mirrors.reports().stream().allMatch(report -> report.state() == MirrorState.SYNCED));
            long both = source.kv()
                    .txn(TxnRequest.newBuilder()
                            .addSuccess(put("/a/1", "1"))
                            .addSuccess(put("/b/1", "1"))
                            .addSuccess(put("/a/2", "1"))
                            .build())
                    .getHeader()
                    .getRevision();
            long second = source.put("/b/2", "1");
            long head = source.put("/c", "1");
            await().atMost(PATIENCE).until(() -> Stream.of("a", "b")
                    .allMatch(prefix -> ofPrefixTopic(prefix).complete() >= head));
            assertThat(keys(ofPrefixTopic("a"))).isEqualTo(Map.of(both, List.of("/a/1", "/a/2")));
            assertThat(keys(ofPrefixTopic("b"))).isEqualTo(Map.of(both, List.of("/b/1"), second, List.of("/b/2")));
        }
    }

    private MirrorSettings.Mirror ofPrefix(String prefix) {
        return new MirrorSettings.Mirror(
                prefix,
                MirrorSettings.Source.Etcd.of(Mirrors.settings(SOURCE.cluster())),
                MirrorScope.prefix("/" + prefix + "/"),
                new MirrorSettings.Target.Kafka(KafkaSinkOptions.of(KAFKA.bootstrapServers(), topic + "." + prefix)));
    }

    private TopicHistory ofPrefixTopic(String prefix) {
        return TopicHistory.read(KAFKA.bootstrapServers(), topic + "." + prefix, 1);
    }

    private static Map<Long, List<String>> keys(TopicHistory history) {
        return history.commits().stream()
                .collect(Collectors.toMap(commit -> commit.revision().value(), commit -> commit.changes().stream()
                        .map(change -> change.key().toStringUtf8())
                        .toList()));
    }

    @Test
    void rejectsATopicWithSeveralPartitions() throws Exception {
        create(new NewTopic(topic, Optional.of(2), Optional.empty()));
        try (MirrorProcess mirror = start()) {
            assertThat(awaitFailure(mirror)).hasMessageContaining(topic + " has 2 partitions, expected 1");
        }
    }

    @Test
    void rejectsACompactedTopic() throws Exception {
        create(new NewTopic(topic, Optional.of(1), Optional.empty()).configs(Map.of("cleanup.policy", "compact")));
        try (MirrorProcess mirror = start()) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("cleanup.policy=compact; delete is required");
        }
    }

    private MirrorProcess start() {
        return Mirrors.kafka(SOURCE.cluster(), KAFKA.bootstrapServers(), topic);
    }

    private List<ConsumerRecord<byte[], byte[]>> records() {
        return Topic.data(Topic.records(KAFKA.bootstrapServers(), topic));
    }

    private void create(NewTopic wanted) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.bootstrapServers()))) {
            admin.createTopics(List.of(wanted)).all().get();
        }
    }

    private void assertEqual(long seed) {
        assertThat(Topic.state(records())).as("seed %d", seed).isEqualTo(source.contents());
    }

    /** Each commit is there once, whole, in order. */
    private void assertNothingIsMissing(long seed) {
        long last = 0;
        for (Commit commit : history().commits()) {
            long revision = commit.revision().value();
            assertThat(last == 0 || revision == last + 1)
                    .as("seed %d: revision %d after %d", seed, revision, last)
                    .isTrue();
            last = revision;
        }
    }

    private TopicHistory history() {
        return TopicHistory.read(KAFKA.bootstrapServers(), topic, 1);
    }

    private static RequestOp put(String key, String value) {
        return RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setValue(ByteString.copyFromUtf8(value)))
                .build();
    }

    private static String text(ConsumerRecord<byte[], byte[]> record) {
        String key = ByteString.copyFrom(record.key()).toStringUtf8();
        return record.value() == null
                ? key + " is gone"
                : key + "=" + ByteString.copyFrom(record.value()).toStringUtf8();
    }
}
