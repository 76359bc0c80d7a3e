package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.RecordedHistory;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Topic;
import io.understudy.mirror.fixture.Workload;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverException;
import io.understudy.mirror.verify.Difference;
import io.understudy.mirror.verify.NotComparable;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * From etcd to Kafka, and from Kafka to another etcd: all three have the same changes, once and in order.
 *
 * <p>Tests invariant M39.
 */
final class RelayIT {

    private static final int ROUNDS = Schedule.isLong() ? 50 : 2;

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private String topic;

    @BeforeEach
    void beginEmpty(TestInfo test) {
        topic = test.getTestMethod().orElseThrow().getName();
    }

    @Test
    @Tag("schedules")
    void sourceTopicAndTargetAreEqualAfterKillsOfEveryPart(@TempDir Path folder) throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        RecordedHistory sourceHistory = new RecordedHistory(source.revision());
        RecordedHistory targetHistory = new RecordedHistory(target.revision());
        Workload workload = new Workload(source, seed);
        workload.steps(100);
        Path into = Files.createDirectory(folder.resolve("into"));
        Path from = Files.createDirectory(folder.resolve("from"));
        try (MirrorJvm intoKafka = MirrorJvm.kafka(into, CLUSTERS.source(), KAFKA.bootstrapServers(), topic);
                MirrorJvm fromKafka = MirrorJvm.fromKafka(from, KAFKA.bootstrapServers(), topic, CLUSTERS.target())) {
            intoKafka.start();
            fromKafka.start();
            awaitProgress(workload, random);
            List<Runnable> kills =
                    List.of(() -> restart(intoKafka, workload), () -> restart(fromKafka, workload), () -> {
                        KAFKA.kafka().kill();
                        workload.steps(20);
                        KAFKA.kafka().start();
                    });
            for (int round = 0; round < ROUNDS; round++) {
                for (Runnable kill : kills) {
                    kill.run();
                    awaitProgress(workload, random);
                }
            }
        }
        try (MirrorProcess intoKafka = Mirrors.kafka(CLUSTERS.source(), KAFKA.bootstrapServers(), topic);
                MirrorProcess fromKafka = fromKafka()) {
            awaitCaughtUp(intoKafka, source);
            awaitCaughtUp(fromKafka, source);
        }
        sourceHistory.record(source);
        targetHistory.record(target);
        assertThat(target.contents()).as("seed %d", seed).isEqualTo(source.contents());
        assertThat(Topic.state(records(KafkaFeedOptions.stateTopicOf(topic))))
                .as("seed %d", seed)
                .isEqualTo(source.contents());
        assertThat(commits(records(topic))).as("seed %d", seed).isEqualTo(commits(sourceHistory));
        assertThat(targetHistory.assertCopies(sourceHistory, "remote", seed)).isGreaterThan(10);
    }

    @Test
    void aDifferenceInTheTopicIsFound_whereItsKeysHaveOtherNames() throws Exception {
        IntStream.range(0, 20).forEach(i -> source.put("/k/" + i, "1"));
        MirrorSettings.Mirror settings = new MirrorSettings.Mirror(
                "log",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                new MirrorScope(List.of(bytes("/k/")), List.of(), bytes("/k/"), bytes("/log/k/")),
                new MirrorSettings.Target.Kafka(KafkaSinkOptions.of(KAFKA.bootstrapServers(), topic)));
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
            assertThat(report(verify(settings)).isEqual()).isTrue();

            writeByHand(KafkaFeedOptions.stateTopicOf(topic), "/log/k/3", "9");
            source.put("/k/20", "1");
            source.delete("/k/19");
            source.put("/other", "1");
            awaitCaughtUp(mirror, source);
        }
        VerifyReport report = report(verify(settings));
        assertThat(report.differences()).extracting(Difference::shown).containsExactly("value \"/log/k/3\"");
        assertThat(report.keys()).isEqualTo(20);
        assertThat(Topic.state(records(KafkaFeedOptions.stateTopicOf(topic))).keySet())
                .allMatch(key -> key.startsWith(bytes("/log/k/")));
    }

    @Test
    void aTargetFedFromKafkaIsComparedWithTheTopicDuringWrites() throws Exception {
        MirrorScope renamed = new MirrorScope(List.of(bytes("/w/")), List.of(), bytes("/w/"), bytes("/from-kafka/"));
        MirrorSettings.Mirror settings =
                Mirrors.fromKafka(KAFKA.bootstrapServers(), topic, renamed, Mirrors.settings(CLUSTERS.target()));
        Workload workload = new Workload(source, 1);
        workload.steps(200);
        source.put("/other", "1");
        try (MirrorProcess intoKafka = Mirrors.kafka(CLUSTERS.source(), KAFKA.bootstrapServers(), topic);
                MirrorProcess fromKafka = Mirrors.start(settings)) {
            awaitCaughtUp(intoKafka, source);
            awaitCaughtUp(fromKafka, source);
            workload.steps(200);
            VerifyReport report = report(verify(settings));
            assertThat(report.isEqual()).as(report.toString()).isTrue();
            awaitCaughtUp(fromKafka, source);
            target.put("/from-kafka/foreign", "1");
            assertThat(report(verify(settings)).differences())
                    .containsExactly(
                            new Difference(Difference.Kind.EXTRA, bytes("/w/foreign"), bytes("/from-kafka/foreign")));
        }
    }

    @Test
    void aMirrorBehindTheTopicIsNotComparableAndNoPrimaryMoves() throws Exception {
        MirrorSettings.Mirror settings = Mirrors.fromKafka(
                KAFKA.bootstrapServers(), topic, MirrorScope.all(), Mirrors.settings(CLUSTERS.target()));
        try (MirrorProcess mirror = Mirrors.kafka(CLUSTERS.source(), KAFKA.bootstrapServers(), topic)) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(verify(settings)).isInstanceOfSatisfying(NotComparable.class, not -> assertThat(not.why())
                .isEqualTo(NotComparable.Why.NO_CHECKPOINT));
        assertThatThrownBy(() -> new TakeOver(settings, null, null, PATIENCE))
                .isInstanceOf(TakeOverException.class)
                .hasMessageContaining("mirror remote has Kafka at one side");
        // Left by a mirror between etcd clusters of the same name.
        ClusterId id = new ClusterId(
                target.get(ReservedKeys.home("remote")).getHeader().getClusterId());
        Home moved = new Home("remote", id, new ClusterId(1), id, MirrorScope.all(), 1, Instant.EPOCH);
        String home = ReservedKeys.home("remote").toStringUtf8();
        target.put(home, moved.encode().toStringUtf8());
        try (MirrorProcess fromKafka = Mirrors.start(settings)) {
            assertThat(Mirrors.awaitFailure(fromKafka)).hasMessageContaining("stop it while the primary is there");
            assertThat(fromKafka.reports().get(0).state()).isEqualTo(MirrorState.FAILED);
        } finally {
            target.delete(home);
        }
    }

    @Test
    @Tag("schedules")
    void anUnreadableTopicIsReportedUntilItIsReadable() {
        MirrorSettings.Mirror impatient = new MirrorSettings.Mirror(
                "remote",
                new MirrorSettings.Source.Kafka(
                        new KafkaSettings(KAFKA.bootstrapServers(), null, Duration.ofSeconds(5)),
                        KafkaFeedOptions.of(topic)),
                MirrorScope.all(),
                MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), EtcdSinkOptions.DEFAULTS));
        source.put("k", "1");
        try (MirrorProcess intoKafka = Mirrors.kafka(CLUSTERS.source(), KAFKA.bootstrapServers(), topic)) {
            awaitCaughtUp(intoKafka, source);
        }
        try (MirrorProcess fromKafka = Mirrors.start(impatient)) {
            awaitCaughtUp(fromKafka, source);
            KAFKA.kafka().kill();
            await().atMost(PATIENCE).untilAsserted(() -> {
                MirrorReport report = fromKafka.reports().get(0);
                assertThat(report.state()).isEqualTo(MirrorState.RETRYING);
                assertThat(report.reason()).startsWith("source kafka ").contains("has not responded since");
                assertThat(report.lagRevisions()).isEmpty();
            });
            KAFKA.kafka().start();
            awaitCaughtUp(fromKafka, source);
        }
    }

    private MirrorProcess fromKafka() {
        return Mirrors.fromKafka(KAFKA.bootstrapServers(), topic, Mirrors.settings(CLUSTERS.target()));
    }

    private static void restart(MirrorJvm mirror, Workload workload) {
        mirror.kill();
        workload.steps(20);
        mirror.start();
    }

    /** Until something that was written now has come to the target, and a little more was written. */
    private void awaitProgress(Workload workload, Random random) {
        long head = source.revision();
        await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            workload.steps(random.nextInt(1, 10));
            return checkpoint().revision().value() > head;
        });
    }

    private Checkpoint checkpoint() throws Exception {
        ByteString key = ReservedKeys.checkpoint("remote");
        return CheckpointCodec.decode("test", target.get(key).getKvs(0).getValue());
    }

    /** Commits in the change topic: all records after its snapshot. */
    private static List<String> commits(List<ConsumerRecord<byte[], byte[]>> records) {
        return records.stream()
                .filter(record -> Topic.headers(record).get("understudy.kind").equals("commit"))
                .map(record -> shown(
                        Long.parseLong(Topic.headers(record).get("understudy.revision")),
                        ByteString.copyFrom(record.key()),
                        record.value() == null))
                .toList();
    }

    private List<String> commits(RecordedHistory history) {
        long snapshot = records(topic).stream()
                .map(Topic::headers)
                .filter(headers -> headers.get("understudy.kind").equals("snapshot-end"))
                .mapToLong(headers -> Long.parseLong(headers.get("understudy.revision")))
                .findFirst()
                .orElseThrow();
        return history.events().stream()
                .filter(event -> event.getKv().getModRevision() > snapshot)
                .map(event -> shown(
                        event.getKv().getModRevision(),
                        event.getKv().getKey(),
                        event.getType() == Event.EventType.DELETE))
                .toList();
    }

    private static String shown(long revision, ByteString key, boolean isDelete) {
        return revision + (isDelete ? " delete " : " put ") + key.toStringUtf8();
    }

    private List<ConsumerRecord<byte[], byte[]>> records(String name) {
        return Topic.records(KAFKA.bootstrapServers(), name);
    }

    private void writeByHand(String name, String key, String value) throws Exception {
        ClusterId cluster = new ClusterId(source.get(bytes("any")).getHeader().getClusterId());
        KeyValue entry = new KeyValue(bytes(key), bytes(value), new Revision(2), new Revision(2), 1, 0);
        // Of another generation it would be no part of the state.
        long generation = MirrorRecord.generation(records(name).get(0));
        ProducerRecord<byte[], byte[]> record = RecordFormat.write(
                name, 0, new TopicRecord.Found(cluster, entry), new TopicOrigin(generation, TopicScope.all(), 1));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", KAFKA.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            var unused = producer.send(record).get();
        }
    }

    private static VerifyResult verify(MirrorSettings.Mirror mirror) throws InterruptedException {
        return MirrorInspector.verify(mirror, keys -> {});
    }

    private static VerifyReport report(VerifyResult result) {
        assertThat(result).isInstanceOf(VerifyReport.class);
        return (VerifyReport) result;
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
