package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.StatusRuntimeException;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.local.kafka.KafkaUsers;
import io.understudy.local.kafka.LocalKafka;
import io.understudy.mirror.fixture.ContinuedWatch;
import io.understudy.mirror.fixture.GatewayMain;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.RecordedHistory;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Topic;
import io.understudy.mirror.fixture.TopicHistory;
import io.understudy.mirror.fixture.Workload;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Faults of mirrors, broker, voters, topics, an edge cluster that a second mirror fills from the topics and an edge gateway
 * that reads them, in an order and at moments chosen by a seed, while commits continue. After each snapshot the topic has
 * every commit of the source, whole, in order, nothing twice, nothing missing. Each synced state of the edge cluster is one
 * of the source's. A watch through the edge gateway has every event, or ends as compacted. All recover by themselves.
 *
 * <p>Tests invariant M26.
 */
@Tag("kafka")
final class KafkaScheduleIT {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaScheduleIT.class);

    /** Of each kind. */
    private static final int FAULTS = Schedule.isLong() ? 20 : 1;

    /** Brokers besides the controller. */
    private static final int OTHERS = 2;

    private static final String TOPIC = "schedule";
    private static final String STATE = TOPIC + ".state";
    /** Longer than the mirror's transaction timeout. */
    private static final int PAUSE_SECONDS = 7;

    private static final String MIRROR = "mirror";
    private static final KafkaUsers USERS = new KafkaUsers("admin", Map.of("admin", "a", MIRROR, "m"));
    private static final AclBinding WRITE = rule(ResourceType.TOPIC, AclOperation.WRITE);
    private static final List<AclBinding> RULES = List.of(
            WRITE,
            rule(ResourceType.TOPIC, AclOperation.CREATE),
            rule(ResourceType.TOPIC, AclOperation.READ),
            rule(ResourceType.TOPIC, AclOperation.DESCRIBE_CONFIGS),
            rule(ResourceType.TOPIC, AclOperation.ALTER_CONFIGS),
            rule(ResourceType.TOPIC, AclOperation.DELETE),
            rule(ResourceType.TRANSACTIONAL_ID, AclOperation.WRITE));

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(3).learners(1).named("source");

    @RegisterExtension
    static final EtcdExtension EDGE = EtcdExtension.voters(1).named("edge");

    @RegisterExtension
    static final KafkaExtension KAFKA =
            KafkaExtension.broker().with(broker -> broker.users(USERS).replicas(1 + OTHERS));

    private enum Fault {
        MIRROR_KILLED,
        MIRROR_PAUSED,
        BROKER_KILLED,
        BROKER_PAUSED,
        BROKER_LOST,
        VOTER_KILLED,
        EDGE_MIRROR_KILLED,
        EDGE_KILLED,
        EDGE_GATEWAY_KILLED,
        TOPIC_DELETED,
        TOPIC_TRUNCATED,
        VALUE_TOO_LARGE,
        STRAY_RECORD,
        ACL_REVOKED,
        WRONG_PASSWORD
    }

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final int partitions = random.nextBoolean() ? 1 : 3;
    private final RecordedHistory source = new RecordedHistory(0);
    private final RecordedHistory edge = new RecordedHistory(0);
    /** Of each partition, what was read before it was truncated. */
    private final List<List<ConsumerRecord<byte[], byte[]>>> truncated = new ArrayList<>();

    /** Whether the changes alone no longer give the state: a snapshot has no deletions of keys that its state topic lacks. */
    private boolean replaced;

    private final List<LocalKafka> others = new ArrayList<>();
    private Admin admin;
    private MirrorJvm mirror;
    private MirrorJvm edgeMirror;
    private MirrorJvm edgeGateway;
    private Path access;

    @Test
    void everyCommitIsThereOnceWhateverFails(@TempDir Path folder) throws Exception {
        LOG.info("seed={} faults={} partitions={}", seed, FAULTS * Fault.values().length, partitions);
        List<Fault> faults = new ArrayList<>();
        for (Fault fault : Fault.values()) {
            faults.addAll(Collections.nCopies(FAULTS, fault));
        }
        Collections.shuffle(faults, random);
        // Once per five kills of the broker what it missed is compacted away.
        int brokersUntilCompaction = 1 + random.nextInt(5);
        forgetTruncated();
        access = folder.resolve("access.properties");
        writeAccess(access, USERS);
        Path edgeAccess = folder.resolve("edge.properties");
        writeAccess(edgeAccess, USERS);
        for (int i = 0; i < OTHERS; i++) {
            LocalKafka broker = LocalKafka.builder()
                    .dataDirectory(folder.resolve("broker-" + i))
                    .users(USERS)
                    .replicas(1 + OTHERS)
                    .joining(KAFKA.kafka(), 2 + i)
                    .build();
            others.add(broker);
            broker.start();
        }
        try (MirrorJvm created =
                        MirrorJvm.resilient(folder, SOURCE.cluster(), bootstrapServers(), TOPIC, partitions, access);
                MirrorJvm createdToo = MirrorJvm.edge(
                        Files.createDirectory(folder.resolve("edge")),
                        bootstrapServers(),
                        TOPIC,
                        EDGE.cluster(),
                        edgeAccess);
                MirrorJvm gateway = MirrorJvm.of(
                        Files.createDirectory(folder.resolve("gateway")),
                        GatewayMain.class,
                        List.of(bootstrapServers(), TOPIC, edgeAccess.toString()));
                ContinuedWatch watch = new ContinuedWatch(() -> GatewayMain.port(gateway));
                Admin opened = Admin.create(administrator())) {
            admin = opened;
            mirror = created;
            edgeMirror = createdToo;
            edgeGateway = gateway;
            admin.createAcls(RULES).all().get();
            writes(50);
            mirror.start();
            awaitCaughtUp();
            edgeMirror.start();
            edgeGateway.start();
            for (int i = 0; i < faults.size(); i++) {
                LOG.info("fault {}: {}", i, faults.get(i));
                writes(random.nextInt(60));
                switch (faults.get(i)) {
                    case MIRROR_KILLED -> {
                        mirror.kill();
                        writes(random.nextInt(20));
                        mirror.start();
                    }
                    case MIRROR_PAUSED -> {
                        mirror.pause();
                        writes(random.nextInt(1, 20));
                        TimeUnit.SECONDS.sleep(PAUSE_SECONDS);
                        mirror.resume();
                    }
                    case BROKER_KILLED -> killBroker(--brokersUntilCompaction % 5 == 0);
                    case BROKER_PAUSED -> {
                        KAFKA.kafka().pause();
                        writes(random.nextInt(1, 20));
                        TimeUnit.SECONDS.sleep(PAUSE_SECONDS);
                        KAFKA.kafka().resume();
                    }
                    case BROKER_LOST -> loseBroker();
                    case VOTER_KILLED -> killVoter();
                    case EDGE_MIRROR_KILLED -> {
                        edgeMirror.kill();
                        writes(random.nextInt(20));
                        edgeMirror.start();
                    }
                    case EDGE_KILLED -> {
                        EDGE.cluster().leader().kill();
                        writes(random.nextInt(20));
                        EDGE.cluster().mend();
                    }
                    case EDGE_GATEWAY_KILLED -> {
                        edgeGateway.kill();
                        writes(random.nextInt(20));
                        edgeGateway.start();
                    }
                    case TOPIC_DELETED -> deleteTopic();
                    case TOPIC_TRUNCATED -> truncateTopic();
                    case VALUE_TOO_LARGE -> putLargeValue();
                    case STRAY_RECORD -> writeStrayRecord();
                    case ACL_REVOKED -> revokeAcl();
                    case WRONG_PASSWORD -> restartWithWrongPassword();
                }
                mirror.requireAlive();
                edgeMirror.requireAlive();
                edgeGateway.requireAlive();
                if (i % 5 == 4) {
                    awaitCaughtUp();
                }
            }
            writes(50);
            assertThatTopicHasTheSourcesHistory();
            assertThat(edge.assertCopies(source, "remote", seed)).isGreaterThan(10);
            assertThatWatchHasTheSourcesHistory(watch);
            mirror.requireAlive();
            edgeMirror.requireAlive();
            edgeGateway.requireAlive();
        } finally {
            others.forEach(LocalKafka::close);
        }
    }

    private String bootstrapServers() {
        return Stream.concat(Stream.of(KAFKA.kafka()), others.stream())
                .map(LocalKafka::bootstrapServers)
                .collect(Collectors.joining(","));
    }

    /** The mirror continues with the others. */
    private void loseBroker() {
        LocalKafka broker = others.get(random.nextInt(OTHERS));
        broker.kill();
        writes(random.nextInt(1, 20));
        awaitCaughtUp();
        LOG.info("the mirror goes on without {}", broker);
        broker.start();
    }

    /** The mirror waits until the topic takes the value. */
    private void putLargeValue() throws Exception {
        awaitCaughtUp();
        String limit = topicSetting(TopicConfig.MAX_MESSAGE_BYTES_CONFIG);
        setTopicLimit("65536");
        mirror.kill();
        mirror.start();
        try (TestClient client = client()) {
            var unused = client.kv()
                    .put(PutRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8("large"))
                            .setValue(ByteString.copyFrom(new byte[100_000]))
                            .build());
        }
        awaitLogged(TopicConfig.MAX_MESSAGE_BYTES_CONFIG + "=65536", 0);
        setTopicLimit(limit);
    }

    private String topicSetting(String name) throws Exception {
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, TOPIC);
        return admin.describeConfigs(List.of(topic))
                .all()
                .get()
                .get(topic)
                .get(name)
                .value();
    }

    private void setTopicLimit(String bytes) throws Exception {
        admin.incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.TOPIC, TOPIC),
                        List.of(new AlterConfigOp(
                                new ConfigEntry(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, bytes),
                                AlterConfigOp.OpType.SET))))
                .all()
                .get();
    }

    /** The mirror waits without the rule. */
    private void revokeAcl() throws Exception {
        awaitCaughtUp();
        long before = mirror.logged("required operation: WRITE");
        var unused = admin.deleteAcls(List.of(WRITE.toFilter())).all().get();
        writes(random.nextInt(1, 20));
        awaitLogged("required operation: WRITE", before);
        admin.createAcls(List.of(WRITE)).all().get();
    }

    /** The mirror waits, and reads the file again. */
    private void restartWithWrongPassword() throws Exception {
        awaitCaughtUp();
        mirror.kill();
        writeAccess(access, new KafkaUsers(MIRROR, Map.of(MIRROR, "wrong")));
        mirror.start();
        writes(random.nextInt(1, 20));
        awaitLogged("SaslAuthenticationException", 0);
        writeAccess(access, USERS);
    }

    /** A start empties the log. */
    private void awaitLogged(String text, long before) {
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(mirror.logged(text))
                .as("lines with %s, seed %d, log %s", text, seed, mirror.log())
                .isGreaterThan(before));
    }

    private static void writeAccess(Path file, KafkaUsers users) throws IOException {
        Files.write(
                file,
                users.client(MIRROR).entrySet().stream()
                        .map(each -> each.getKey() + "=" + each.getValue())
                        .toList());
    }

    private Map<String, Object> administrator() {
        Map<String, Object> client = new HashMap<>(USERS.client(USERS.administrator()));
        client.put("bootstrap.servers", bootstrapServers());
        return client;
    }

    private static AclBinding rule(ResourceType type, AclOperation operation) {
        String prefix = type == ResourceType.TOPIC ? TOPIC : "understudy." + TOPIC;
        return new AclBinding(
                new ResourcePattern(type, prefix, PatternType.PREFIXED),
                new AccessControlEntry("User:" + MIRROR, "*", operation, AclPermissionType.ALLOW));
    }

    /** The change topic, the state topic or the checkpoint's. */
    private void deleteTopic() throws Exception {
        assertThatTopicHasTheSourcesHistory();
        String topic = List.of(TOPIC, STATE, TOPIC + ".checkpoint").get(random.nextInt(3));
        LOG.info("deletes {}", topic);
        Uuid before = topicId(topic);
        replaced |= !topic.endsWith(".checkpoint");
        if (topic.equals(TOPIC)) {
            forgetTruncated();
        }
        admin.deleteTopics(List.of(topic)).all().get();
        writes(random.nextInt(20));
        await().atMost(PATIENCE.multipliedBy(2)).ignoreExceptions().until(() -> !topicId(topic)
                .equals(before));
    }

    private Uuid topicId(String topic) throws Exception {
        return admin.describeTopics(List.of(topic))
                .allTopicNames()
                .get()
                .get(topic)
                .topicId();
    }

    /** As retention does it. */
    private void truncateTopic() throws Exception {
        assertThatTopicHasTheSourcesHistory();
        List<List<ConsumerRecord<byte[], byte[]>>> all = records();
        Map<TopicPartition, RecordsToDelete> old = new HashMap<>();
        for (int i = 0; i < partitions; i++) {
            List<ConsumerRecord<byte[], byte[]>> read = all.get(i);
            old.put(
                    new TopicPartition(TOPIC, i),
                    RecordsToDelete.beforeOffset(read.get(read.size() - 1).offset() + 1));
        }
        truncated.clear();
        truncated.addAll(all);
        admin.deleteRecords(old).all().get();
    }

    private void forgetTruncated() {
        truncated.clear();
        truncated.addAll(Collections.nCopies(partitions, List.of()));
    }

    private List<List<ConsumerRecord<byte[], byte[]>>> records() {
        List<List<ConsumerRecord<byte[], byte[]>>> all = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            List<ConsumerRecord<byte[], byte[]>> before = truncated.get(i);
            long last = before.isEmpty() ? -1 : before.get(before.size() - 1).offset();
            all.add(Stream.concat(
                            before.stream(),
                            Topic.records(administrator(), TOPIC, i).stream().filter(record -> record.offset() > last))
                    .toList());
        }
        return all;
    }

    /**
     * Without headers: under a key of its own in the changes, under a mirrored key in the state. A deleted topic is back
     * before: one that a broker creates for another client's record is left to its operator.
     */
    private void writeStrayRecord() throws Exception {
        awaitCaughtUp();
        try (KafkaProducer<byte[], byte[]> other =
                new KafkaProducer<>(administrator(), new ByteArraySerializer(), new ByteArraySerializer())) {
            byte[] value = random.nextBoolean() ? null : new byte[] {1};
            other.send(new ProducerRecord<>(TOPIC, random.nextInt(partitions), new byte[] {1}, value))
                    .get();
            List<ConsumerRecord<byte[], byte[]>> state = Topic.data(Topic.records(administrator(), STATE, 0));
            if (!state.isEmpty()) {
                byte[] key = state.get(random.nextInt(state.size())).key();
                LOG.info("replaces {} in the state", ByteString.copyFrom(key).toStringUtf8());
                other.send(new ProducerRecord<>(STATE, key, value)).get();
                // Until the mirror restores it, the state topic lacks that key.
                replaced = true;
            }
        }
    }

    private void killBroker(boolean compact) throws InterruptedException {
        KAFKA.kafka().kill();
        writes(random.nextInt(1, 60));
        if (compact) {
            try (TestClient client = client()) {
                source.record(client);
                var unused = client.kv()
                        .compact(CompactionRequest.newBuilder()
                                .setRevision(client.revision())
                                .build());
            }
        }
        KAFKA.kafka().start();
    }

    private void killVoter() {
        EtcdMember member = SOURCE.cluster().voters().get(random.nextInt(3));
        member.kill();
        writes(random.nextInt(60));
        member.launch();
    }

    /** Some outcomes are unknown; the source's own history has them. */
    private void writes(int count) {
        int done = 0;
        while (done < count) {
            try (TestClient client = client()) {
                Workload workload = new Workload(client, random.nextLong());
                for (; done < count; done++) {
                    workload.step();
                }
            } catch (StatusRuntimeException e) {
                done++;
            }
        }
    }

    private TestClient client() {
        List<EtcdMember> alive =
                SOURCE.cluster().voters().stream().filter(EtcdMember::isAlive).toList();
        return TestClient.of(alive.get(random.nextInt(alive.size())));
    }

    private void awaitCaughtUp() {
        await().atMost(PATIENCE.multipliedBy(2))
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptions()
                .untilAsserted(() -> {
                    try (TestClient client = client()) {
                        assertThat(TopicHistory.of(records()).complete())
                                .as("seed %d, log %s", seed, mirror.log())
                                .isGreaterThanOrEqualTo(client.revision());
                    }
                });
    }

    private void assertThatTopicHasTheSourcesHistory() throws Exception {
        awaitCaughtUp();
        TopicHistory topic = TopicHistory.of(records());
        try (TestClient client = client()) {
            source.record(client);
            if (!replaced) {
                assertThat(topic.state()).as("seed %d", seed).isEqualTo(client.contents());
            }
            // A key that a stray record replaced is restored as the mirror writes on; any other stray record stays.
            SortedMap<ByteString, ByteString> contents = client.contents();
            await().atMost(PATIENCE).untilAsserted(() -> {
                List<ConsumerRecord<byte[], byte[]>> state = Topic.records(administrator(), STATE, 0);
                Set<ByteString> stray = new HashSet<>();
                // As readers do: a key with a stray last record counts as absent.
                SortedMap<ByteString, ByteString> last = Topic.state(state);
                state.forEach(record -> {
                    ByteString key = ByteString.copyFrom(record.key());
                    if (record.headers().toArray().length == 0) {
                        stray.add(key);
                    } else {
                        stray.remove(key);
                    }
                });
                last.keySet().removeAll(stray);
                assertThat(differences(contents, last))
                        .as("keys of the state topic, seed %d, log %s", seed, mirror.log())
                        .isEmpty();
            });
        }
        awaitEdge();
        SortedMap<Long, List<Change>> expected = new TreeMap<>();
        for (Event event : source.events()) {
            expected.computeIfAbsent(event.getKv().getModRevision(), revision -> new ArrayList<>())
                    .add(change(event));
        }
        for (TopicHistory.Tail tail : topic.tails()) {
            List<Commit> commits = expected.subMap(tail.from() + 1, tail.to() + 1).entrySet().stream()
                    .map(commit -> new Commit(new Revision(commit.getKey()), commit.getValue()))
                    .toList();
            assertThat(tail.commits())
                    .as("seed %d: commits after %d, up to %d", seed, tail.from(), tail.to())
                    .isEqualTo(commits);
        }
        LOG.info(
                "seed={} snapshots={} commits={} marks={}",
                seed,
                topic.tails().size(),
                topic.commits().size(),
                topic.marks().size());
    }

    /** Until the source's last commit; whatever was compacted for the watch was read. */
    private void assertThatWatchHasTheSourcesHistory(ContinuedWatch watch) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            try (TestClient client = client()) {
                assertThat(watch.parts())
                        .as("seed %d, log %s", seed, edgeGateway.log())
                        .last()
                        .satisfies(part -> assertThat(part.to()).isEqualTo(client.revision()));
            }
        });
        for (ContinuedWatch.Part part : watch.parts()) {
            assertThat(part.events())
                    .as("seed %d: events after %d, up to %d", seed, part.from(), part.to())
                    .isEqualTo(source.events().stream()
                            .filter(event -> event.getKv().getModRevision() > part.from()
                                    && event.getKv().getModRevision() <= part.to())
                            .toList());
        }
        LOG.info(
                "seed={} watch: parts={} events={}",
                seed,
                watch.parts().size(),
                watch.parts().stream().mapToInt(part -> part.events().size()).sum());
    }

    private void awaitEdge() throws InterruptedException {
        try (TestClient client = client();
                TestClient there = TestClient.of(EDGE.cluster().leader())) {
            await().atMost(PATIENCE.multipliedBy(2))
                    .untilAsserted(() -> assertThat(differences(client.contents(), there.contents()))
                            .as("keys of the edge cluster, seed %d, log %s", seed, edgeMirror.log())
                            .isEmpty());
            edge.record(there);
            await().atMost(PATIENCE.multipliedBy(2)).ignoreExceptions().untilAsserted(() -> {
                try (TestClient gateway =
                        TestClient.of("127.0.0.1", GatewayMain.port(edgeGateway).orElseThrow())) {
                    assertThat(differences(client.contents(), gateway.serializableContents()))
                            .as("keys of the edge gateway, seed %d, log %s", seed, edgeGateway.log())
                            .isEmpty();
                }
            });
        }
    }

    private static List<String> differences(
            SortedMap<ByteString, ByteString> one, SortedMap<ByteString, ByteString> other) {
        return Stream.concat(one.keySet().stream(), other.keySet().stream())
                .distinct()
                .filter(key -> !Objects.equals(one.get(key), other.get(key)))
                .map(key -> key.toStringUtf8()
                        + (one.containsKey(key) ? "" : " is not in the source")
                        + (other.containsKey(key) ? "" : " is missing"))
                .toList();
    }

    private static Change change(Event event) {
        io.etcd.jetcd.api.KeyValue kv = event.getKv();
        return event.getType() == Event.EventType.DELETE
                ? new Change.Delete(kv.getKey())
                : new Change.Put(new KeyValue(
                        kv.getKey(),
                        kv.getValue(),
                        new Revision(kv.getCreateRevision()),
                        new Revision(kv.getModRevision()),
                        kv.getVersion(),
                        kv.getLease()));
    }
}
