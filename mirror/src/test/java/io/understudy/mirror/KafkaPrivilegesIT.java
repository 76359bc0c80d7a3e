package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.kafka.KafkaUsers;
import io.understudy.local.kafka.LocalKafka;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.JavaPrograms;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.kafka.KafkaSinkOptions.TopicLoss;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mirrors into Kafka and from it with the rules that docs/operate/security.md lists, and with one of them missing. */
@Timeout(240)
@Tag("privileges")
final class KafkaPrivilegesIT {

    private static final Pattern GRANTS =
            Pattern.compile("^ {4}kafka-acls\\.sh(?<arguments>(?:.*\\\\\n)*.*)$", Pattern.MULTILINE);

    private static final KafkaUsers USERS = new KafkaUsers("admin", Map.of("admin", "a", "writer", "w", "reader", "r"));
    private static final String PREFIX = "understudy";

    private static final String TRANSACTIONS = "understudy." + PREFIX;

    private static final List<AclBinding> WRITER = List.of(
            rule("writer", ResourceType.TOPIC, AclOperation.CREATE),
            rule("writer", ResourceType.TOPIC, AclOperation.WRITE),
            rule("writer", ResourceType.TOPIC, AclOperation.READ),
            rule("writer", ResourceType.TOPIC, AclOperation.DESCRIBE_CONFIGS),
            rule("writer", ResourceType.TRANSACTIONAL_ID, AclOperation.WRITE));
    private static final AclBinding READ = rule("reader", ResourceType.TOPIC, AclOperation.READ);
    private static final AclBinding READ_SETTINGS = rule("reader", ResourceType.TOPIC, AclOperation.DESCRIBE_CONFIGS);
    private static final List<AclBinding> READER = List.of(READ, READ_SETTINGS);

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    @TempDir
    private static Path folder;

    private static LocalKafka kafka;
    private static Admin admin;

    @BeforeAll
    static void start() throws Exception {
        kafka = LocalKafka.builder()
                .dataDirectory(folder.resolve("kafka"))
                .users(USERS)
                .build();
        kafka.start();
        for (String user : USERS.passwords().keySet()) {
            Files.writeString(
                    file(user),
                    USERS.client(user).entrySet().stream()
                            .map(each -> each.getKey() + "=" + each.getValue() + "\n")
                            .collect(Collectors.joining()));
        }
        Map<String, Object> settings = new HashMap<>(USERS.client("admin"));
        settings.put("bootstrap.servers", kafka.bootstrapServers());
        admin = Admin.create(settings);
    }

    @AfterAll
    static void stop() {
        admin.close();
        kafka.close();
    }

    @Test
    void theDocumentedPrivilegesSufficeAndAMissingOneIsReported() throws Exception {
        grantDocumentedPrivileges();
        try (TestClient source = TestClient.of(SOURCE.cluster().leader())) {
            source.put("/a", "1");
            String topic = PREFIX + "-all";
            try (MirrorProcess into = Mirrors.start(into(topic))) {
                Mirrors.awaitCaughtUp(into, source);
                try (MirrorProcess from = Mirrors.start(from(topic));
                        TestClient target = TestClient.of(TARGET.cluster().leader())) {
                    await().atMost(PATIENCE).untilAsserted(() -> assertThat(target.contents())
                            .as(from.reports().toString())
                            .isEqualTo(source.contents()));
                }
                failsWithout(READ, from(topic));
                revoke(READ_SETTINGS);
                try (MirrorProcess from = Mirrors.start(from(topic))) {
                    await().atMost(PATIENCE).until(() -> from.reports().get(0).state() == MirrorState.SYNCED);
                }
            }
            for (AclBinding missing : WRITER) {
                // Topics that are there are read and looked at, others are created.
                boolean creates = missing.entry().operation() == AclOperation.CREATE;
                failsWithout(missing, into(creates ? PREFIX + "-new" : topic));
            }
        }
    }

    @Test
    void aRunningMirrorRetriesWhileAnAclIsRevoked() throws Exception {
        grant(WRITER);
        grant(READER);
        String topic = PREFIX + "-revoked";
        AclBinding write = WRITER.get(1);
        try (TestClient source = TestClient.of(SOURCE.cluster().leader());
                MirrorProcess into = Mirrors.start(into(topic))) {
            Mirrors.awaitCaughtUp(into, source);
            try (MirrorProcess from = Mirrors.start(from(topic))) {
                await().atMost(PATIENCE).until(() -> from.reports().get(0).state() == MirrorState.SYNCED);
                revoke(READ);
                awaitDenied(from, READ);
                grant(List.of(READ));
                await().atMost(PATIENCE).until(() -> from.reports().get(0).state() == MirrorState.SYNCED);
            }
            revoke(write);
            source.put("/b", "1");
            awaitDenied(into, write);
            assertThat(into.reports().get(0).completeRevision()).isPositive();
            grant(List.of(write));
            Mirrors.awaitCaughtUp(into, source);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, ALTER_CONFIGS, kafka-configs.sh", "3, DELETE, kafka-topics.sh"})
    void namesTheCommandForATopicThatItMayNotCorrect(int partitions, AclOperation operation, String command)
            throws Exception {
        grant(WRITER);
        String topic = PREFIX + "-of-" + partitions;
        admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1)))
                .all()
                .get();
        AclBinding missing = rule("writer", ResourceType.TOPIC, operation);
        MirrorSettings.Mirror resyncing =
                into(KafkaSinkOptions.of(as("writer"), topic).with(TopicLoss.RESYNC));
        try (MirrorProcess mirror = Mirrors.start(resyncing)) {
            awaitDenied(mirror, missing);
            assertThat(mirror.reports().get(0).reason())
                    .contains("run: " + command + " --bootstrap-server " + kafka.bootstrapServers());
            grant(List.of(missing));
            await().atMost(PATIENCE).until(() -> mirror.reports().get(0).state() == MirrorState.SYNCED);
        } finally {
            revoke(missing);
        }
    }

    /** Runs the commands that it prints. */
    private static void grantDocumentedPrivileges() throws Exception {
        Matcher commands = GRANTS.matcher(Files.readString(Path.of("../docs/operate/security.md")));
        while (commands.find()) {
            List<String> arguments = new ArrayList<>(List.of(commands.group("arguments")
                    .replace("\\\n", "")
                    .replace("$KAFKA", kafka.bootstrapServers())
                    .strip()
                    .split("\\s+")));
            arguments.addAll(List.of("--command-config", file("admin").toString()));
            Process command = JavaPrograms.ofKafka(
                            "org.apache.kafka.tools.AclCommand", arguments, folder.resolve("log"))
                    .redirectOutput(folder.resolve("granted").toFile())
                    .start();
            assertThat(command.waitFor()).as(arguments.toString()).isZero();
        }
        assertThat(admin.describeAcls(AclBindingFilter.ANY).values().get())
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(WRITER.stream(), READER.stream()).toList());
    }

    /** Neither at its start nor later does a missing rule end a mirror. */
    private static void failsWithout(AclBinding missing, MirrorSettings.Mirror settings) throws Exception {
        revoke(missing);
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitDenied(mirror, missing);
            grant(List.of(missing));
            await().atMost(PATIENCE).until(() -> mirror.reports().get(0).state() == MirrorState.SYNCED);
        }
    }

    private static void awaitDenied(MirrorProcess mirror, AclBinding missing) {
        boolean isTopic = missing.pattern().resourceType() == ResourceType.TOPIC;
        await().atMost(PATIENCE).untilAsserted(() -> {
            MirrorReport report = mirror.reports().get(0);
            assertThat(report.state()).isNotIn(MirrorState.SYNCED, MirrorState.FAILED);
            assertThat(report.reason())
                    .as("without %s: %s", missing, report)
                    .containsIgnoringCase("authoriz")
                    .contains(isTopic ? PREFIX : "ransactionalId")
                    .contains("(principal " + missing.entry().principal() + "; required operation: "
                            + missing.entry().operation());
        });
    }

    private static void revoke(AclBinding rule) throws Exception {
        var unused = admin.deleteAcls(List.of(rule.toFilter())).all().get();
        awaitRules(rule, false);
    }

    private static void grant(List<AclBinding> rules) throws Exception {
        var unused = admin.createAcls(rules).all().get();
        rules.forEach(rule -> awaitRules(rule, true));
    }

    private static void awaitRules(AclBinding rule, boolean there) {
        await().atMost(PATIENCE)
                .until(() -> new ArrayList<>(admin.describeAcls(AclBindingFilter.ANY)
                                        .values()
                                        .get())
                                .contains(rule)
                        == there);
    }

    private static AclBinding rule(String user, ResourceType type, AclOperation operation) {
        return new AclBinding(
                new ResourcePattern(type, type == ResourceType.TOPIC ? PREFIX : TRANSACTIONS, PatternType.PREFIXED),
                new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW));
    }

    private static MirrorSettings.Mirror into(String topic) {
        return into(KafkaSinkOptions.of(as("writer"), topic));
    }

    private static MirrorSettings.Mirror into(KafkaSinkOptions options) {
        return new MirrorSettings.Mirror(
                "log",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(SOURCE.cluster())),
                MirrorScope.all(),
                new MirrorSettings.Target.Kafka(options));
    }

    private static MirrorSettings.Mirror from(String topic) {
        return new MirrorSettings.Mirror(
                "remote",
                new MirrorSettings.Source.Kafka(as("reader"), KafkaFeedOptions.of(topic)),
                MirrorScope.all(),
                MirrorSettings.Target.Etcd.of(Mirrors.settings(TARGET.cluster()), EtcdSinkOptions.DEFAULTS));
    }

    private static KafkaSettings as(String user) {
        return new KafkaSettings(kafka.bootstrapServers(), file(user), Duration.ofSeconds(20));
    }

    private static Path file(String user) {
        return folder.resolve(user + ".properties");
    }
}
