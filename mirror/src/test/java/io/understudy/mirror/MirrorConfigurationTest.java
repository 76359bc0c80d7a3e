package io.understudy.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.config.ConfigurationException;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.feed.kafka.ValueFormat;
import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.auth.AuthMode;
import io.understudy.mirror.auth.AuthOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.kafka.KafkaNames;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant M35. */
final class MirrorConfigurationTest {

    @TempDir
    private Path folder;

    @Test
    void readsSeveralMirrorsOfBothKinds() throws IOException {
        MirrorSettings settings = load("""
                status:
                  listen: 127.0.0.1:18081
                mirrors:
                  dr:
                    source:
                      endpoints: [http://127.0.0.1:23791, http://127.0.0.1:23794]
                    target:
                      etcd:
                        endpoints: [http://127.0.0.1:24791]
                        onForeignKeys: delete
                  log:
                    include: /registry/
                    source:
                      endpoints: [http://127.0.0.1:23791]
                    target:
                      kafka:
                        bootstrapServers: 127.0.0.1:29092
                        topic: understudy
                """);
        assertThat(settings.status().getPort()).isEqualTo(18081);
        assertThat(settings.mirrors()).extracting(MirrorSettings.Mirror::name).containsExactly("dr", "log");
        MirrorSettings.Mirror dr = settings.mirrors().get(0);
        assertThat(dr.scope()).isEqualTo(MirrorScope.all());
        assertThat(dr.source()).isInstanceOfSatisfying(MirrorSettings.Source.Etcd.class, etcd -> assertThat(
                        etcd.cluster().endpoints())
                .hasSize(2)
                .contains(URI.create("http://127.0.0.1:23794")));
        assertThat(dr.target()).isInstanceOfSatisfying(MirrorSettings.Target.Etcd.class, etcd -> {
            assertThat(etcd.options().onForeignKeys()).isEqualTo(ForeignKeys.DELETE);
            assertThat(etcd.options().maxRequestBytes()).isEqualTo(1_572_864);
        });
        MirrorSettings.Mirror log = settings.mirrors().get(1);
        assertThat(log.scope()).isEqualTo(MirrorScope.prefix("/registry/"));
        assertThat(log.target()).isInstanceOfSatisfying(MirrorSettings.Target.Kafka.class, kafka -> assertThat(
                        kafka.options().topic())
                .isEqualTo("understudy"));
    }

    @Test
    void theStatusListensOnLoopbackByDefault() throws IOException {
        MirrorSettings settings = load("""
                mirrors:
                  dr:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                """);
        assertThat(settings.status().toString()).endsWith("127.0.0.1:8081");
    }

    @Test
    void theStatusUrlIsTheListenAddressOrLoopbackForAWildcard() throws IOException {
        String mirrors = """
                mirrors:
                  dr:
                    source: {endpoints: 'http://127.0.0.1:1'}
                    target: {etcd: {endpoints: 'http://127.0.0.1:2'}}
                """;
        String tls = "tls: {certificate: /m.crt, key: /m.key}";
        assertThat(load(mirrors).statusUrl()).hasToString("http://127.0.0.1:8081");
        assertThat(load(mirrors + "status: {listen: '[::1]:9000'}").statusUrl())
                .hasToString("http://[0:0:0:0:0:0:0:1]:9000");
        assertThat(load(mirrors + "status: {listen: '0.0.0.0:9000'}\n" + tls).statusUrl())
                .hasToString("https://127.0.0.1:9000");
        assertThat(load(mirrors + "status: {listen: 'localhost:9000'}").statusUrl())
                .hasToString("http://localhost:9000");
    }

    @Test
    void theStatusIsServedToOtherMachinesByTlsOrWherePlainTextIsWrittenDown() throws IOException {
        String mirrors = """
                status: {listen: '0.0.0.0:8081'}
                mirrors:
                  dr:
                    source: {endpoints: 'http://127.0.0.1:1'}
                    target: {etcd: {endpoints: 'http://127.0.0.1:2'}}
                """;
        assertThatThrownBy(() -> load(mirrors))
                .hasMessageContaining("status.listen is 0.0.0.0:8081")
                .hasMessageContaining("insecure: true");
        assertThat(load(mirrors + "insecure: true").security().insecure()).isTrue();
        assertThat(load(mirrors + "tls: {certificate: /m.crt, key: /m.key}")
                        .security()
                        .files())
                .isEqualTo(new TlsFiles(null, Path.of("/m.crt"), Path.of("/m.key")));
    }

    @Test
    void refusesAMirrorWithoutATargetAndOneWithTwo_together() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  none:
                    source: {endpoints: http://127.0.0.1:1}
                  two:
                    source: {endpoints: http://127.0.0.1:1}
                    target:
                      etcd: {endpoints: http://127.0.0.1:2}
                      kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}
                  half:
                    source: {endpoints: http://127.0.0.1:1}
                    target:
                      kafka: {bootstrap.servers: "127.0.0.1:3"}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(
                        "mirrors.none.target.etcd.endpoints or target.kafka.bootstrap.servers is required")
                .hasMessageContaining("mirrors.two.target.kafka.bootstrap.servers conflicts with")
                .hasMessageContaining("mirrors.half.target.kafka.topic");
    }

    @Test
    void readsAMirrorFromKafka() throws IOException {
        MirrorSettings settings = load("""
                mirrors:
                  back:
                    source: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: core.t, maxCommitBytes: 8MiB}}
                    include: /registry/
                    rename: {from: /registry/, to: /copy/}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                """);
        assertThat(settings.mirrors().get(0).source())
                .isEqualTo(new MirrorSettings.Source.Kafka(
                        KafkaSettings.of("127.0.0.1:3"), new KafkaFeedOptions("core.t", "core.t.state", 8 << 20)));
    }

    @Test
    void refusesAMirrorWithoutASourceAndOneWithTwo_together() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  none:
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                  two:
                    source: {endpoints: http://127.0.0.1:1, kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                  half:
                    source: {kafka: {bootstrap.servers: "127.0.0.1:3"}}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(
                        "not set: mirrors.none.source.endpoints or source.kafka.bootstrap.servers is required")
                .hasMessageContaining(
                        "mirrors.two.source.kafka.bootstrap.servers conflicts with source.endpoints; set only one source")
                .hasMessageContaining("mirrors.half.source.kafka.topic and bootstrap.servers must be set together");
    }

    @Test
    void rejectsOptionsThatRequireASourceCluster() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  back:
                    source: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}}
                    target: {etcd: {endpoints: http://127.0.0.1:2, leases: ttl, onForeignWrites: repair}}
                  on:
                    source: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}}
                    target: {kafka: {bootstrap.servers: "127.0.0.1:4", topic: u}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(
                        "mirrors.back.target.etcd.leases is ttl, but the source is Kafka, where records contain"
                                + " neither the TTL nor the state of a lease")
                .hasMessageContaining("mirrors.back.target.etcd.onForeignWrites is repair, but the source is Kafka")
                .hasMessageContaining("mirrors.on.target.kafka.bootstrap.servers conflicts with"
                        + " source.kafka.bootstrap.servers; a mirror from Kafka requires an etcd target. Use"
                        + " MirrorMaker");
    }

    @Test
    void rejectsCopiesOfRolesAndUsersWithRenamesOrKafka() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  renamed:
                    include: /a/
                    rename: {from: /a/, to: /b/}
                    source: {endpoints: http://127.0.0.1:1}
                    target: {etcd: {endpoints: http://127.0.0.1:2, auth: copy}}
                  from:
                    source: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}}
                    target: {etcd: {endpoints: http://127.0.0.1:2, auth: copy}}
                  into:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {etcd: {auth: copy}, kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(
                        "mirrors.renamed.target.etcd.auth is copy, but rename.to is /b/, and permissions refer to"
                                + " the source's keys; set none, or remove rename.to")
                .hasMessageContaining("mirrors.from.target.etcd.auth is copy, but the source is Kafka")
                .hasMessageContaining("mirrors.into.target.etcd.auth is copy, but the target is Kafka");
    }

    @Test
    void rejectsARenameOfAllKeysBetweenClusters() throws IOException {
        assertThatThrownBy(() -> load("""
                mirrors:
                  dr:
                    rename: {to: /copy/}
                    source: {endpoints: http://127.0.0.1:1}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("mirrors.dr.rename.to is /copy/, but include is not set")
                .hasMessageContaining("set include to the prefixes to mirror");
        MirrorSettings settings = load("""
                mirrors:
                  topic:
                    rename: {to: /copy/}
                    source: {endpoints: http://127.0.0.1:1}
                    target: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}}
                """);
        assertThat(settings.mirrors().get(0).scope().renameTo().toStringUtf8()).isEqualTo("/copy/");
    }

    @Test
    void copiesRolesAndUsersOfAPartOfTheKeys() throws IOException {
        MirrorSettings settings = load("""
                mirrors:
                  dr:
                    include: /a/
                    exclude: /a/b/
                    source: {endpoints: http://127.0.0.1:1}
                    target: {etcd: {endpoints: http://127.0.0.1:2, auth: copy, authInterval: 30s}}
                """);
        assertThat(settings.mirrors().get(0).target())
                .isInstanceOfSatisfying(MirrorSettings.Target.Etcd.class, etcd -> assertThat(etcd.auth())
                        .isEqualTo(
                                new AuthOptions(AuthMode.COPY, null, Duration.ofSeconds(30), Duration.ofMinutes(5))));
    }

    @Test
    void refusesPasswordsThatCanNotBeUsedWithoutShowingThem() throws IOException {
        Path passwords = Files.writeString(folder.resolve("passwords"), "ann:secret\n");
        assertThatThrownBy(() -> load("""
                mirrors:
                  dr:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {etcd: {endpoints: http://127.0.0.1:2, auth: copy, authPasswords: %s}}
                  off:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {etcd: {endpoints: http://127.0.0.1:2, authPasswords: %s}}
                """.formatted(passwords, passwords)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(
                        "mirrors.dr.target.etcd.authPasswords is invalid: file " + passwords + " line 1: ")
                .hasMessageContaining("mirrors.off.target.etcd.authPasswords is " + passwords + ", but auth is none")
                .message()
                .doesNotContain("secret");
    }

    @Test
    void refusesTwoMirrorsIntoOneTopic() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  one:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}}
                  two:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("mirrors.two.target.kafka.topic is t, which is already used");
    }

    @Test
    void twoKafkaClustersMayHaveTheSameTopic() throws Exception {
        assertThat(load("""
                mirrors:
                  one:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: t}}
                  two:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {kafka: {bootstrap.servers: "127.0.0.1:4", topic: t}}
                """).mirrors()).hasSize(2);
    }

    @Test
    void refusesTwoMirrorsWithOneTransactionalId() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  one:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: b.c}}
                  two:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: c, transactionalIdPrefix: understudy.b.}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("mirrors.two.target.kafka.transactionalIdPrefix")
                .hasMessageContaining("transactional.id understudy.b.c, which another mirror has");
    }

    @Test
    void topicsOfOneMirrorDiffer() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  one:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {kafka: {bootstrap.servers: "127.0.0.1:3", topic: t, stateTopic: t.checkpoint}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(
                        "mirrors.one.target.kafka.checkpointTopic is t.checkpoint, which is already used");
    }

    @Test
    void readsNamesFormatAndPropertiesOfKafka() throws Exception {
        MirrorSettings settings = load("""
                mirrors:
                  one:
                    source: {endpoints: http://127.0.0.1:1}
                    target:
                      kafka:
                        bootstrap.servers: 127.0.0.1:3
                        topic: t
                        stateTopic: s
                        checkpointTopic: c
                        transactionalIdPrefix: team-
                        format: debezium
                        producer: {compression.type: zstd}
                        consumer: {client.rack: a}
                """);
        KafkaSinkOptions options =
                ((MirrorSettings.Target.Kafka) settings.mirrors().get(0).target()).options();
        assertThat(options.names()).isEqualTo(new KafkaNames("t", "s", "c", "team-"));
        assertThat(options.format()).isEqualTo(ValueFormat.DEBEZIUM);
        assertThat(options.producer()).isEqualTo(Map.of("compression.type", "zstd"));
        assertThat(options.kafka().consumer()).isEqualTo(Map.of("client.rack", "a"));
    }

    @Test
    void aDeniedPropertyIsReportedWithPlaceAndAlternative() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  one:
                    source: {endpoints: http://127.0.0.1:1}
                    target:
                      kafka:
                        bootstrap.servers: 127.0.0.1:3
                        topic: t
                        producer:
                          transactional.id: mine
                        consumer: {group.id: mine}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(":9:11: mirrors.one.target.kafka.producer.transactional.id is not allowed, since"
                        + " Understudy sets it; set transactionalIdPrefix")
                .hasMessageContaining("mirrors.one.target.kafka.consumer.group.id is not allowed");
    }

    @Test
    void refusesAConfigurationWithoutMirrors() {
        assertThatThrownBy(() -> load("status: {listen: 127.0.0.1:1}"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("no mirror is configured");
    }

    @Test
    void invalidCombinationsAreReportedWithTheirKeysForEachMirror() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  one:
                    include: /a/
                    exclude: /b/
                    source: {endpoints: http://127.0.0.1:1, user: bob}
                    target: {etcd: {endpoints: http://127.0.0.1:2, tls: {trusted: ca.crt}}}
                  two:
                    source: {endpoints: https://127.0.0.1:1, tls: {certificate: c.crt}}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContainingAll(
                        "invalid configuration: 4 problems",
                        "\n  mirrors.one: exclude \"/b/\" is not within include",
                        "\n  mirrors.one.source: user and password must be set together: user is set, password is not set",
                        "\n  mirrors.one.target.etcd: cluster one-target has TLS files but http endpoints",
                        "\n  mirrors.two.source: tls.certificate and tls.key must be set together: tls.certificate is"
                                + " c.crt, tls.key is not set");
    }

    @Test
    void aRenameWithoutATargetPrefixIsRejected() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  dr:
                    include: /a/
                    rename: {from: /a/}
                    source: {endpoints: http://127.0.0.1:1}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                """))
                .hasMessageContaining("mirrors.dr: rename.from is \"/a/\" and rename.to is not set: keys without that")
                .hasMessageContaining("could overlap the keys reserved for Understudy");
    }

    @Test
    void mirrorsWithOverlappingTargetKeysAreRejectedBeforeTheStart() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  one:
                    source: {endpoints: http://127.0.0.1:1}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                  two:
                    include: /a/
                    source: {endpoints: http://127.0.0.1:3}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("mirrors one and two write overlapping keys to [http://127.0.0.1:2]");
    }

    @Test
    void consequencesOfAProblemAreNotReported() {
        assertThatThrownBy(() -> load("mirrors: {dr: {source: {endpoints: http://127.0.0.1:1}}}"))
                .hasMessageContaining("invalid configuration: 1 problem\n")
                .hasMessageContaining("mirrors.dr.target.etcd.endpoints or target.kafka.bootstrap.servers is required");
        assertThatThrownBy(() -> load(""))
                .hasMessageContaining("invalid configuration: 1 problem\n")
                .hasMessageContaining("no mirror is configured");
        assertThatThrownBy(() -> load("mirrors: [1, 2"))
                .hasMessageContaining("invalid configuration: 1 problem\n")
                .hasMessageContaining("is not valid YAML: ")
                .message()
                .hasLineCount(2);
        assertThatThrownBy(() -> MirrorConfiguration.load(folder.resolve("none.yaml"), Map.of(), Map.of()))
                .hasMessage("invalid configuration: 1 problem\n  " + folder.resolve("none.yaml") + ": no such file");
    }

    @Test
    void allProblemsAreReportedAtOnce() {
        assertThatThrownBy(() -> load("""
                mirrors:
                  dr:
                    source: {endpoints: ftp://127.0.0.1:1}
                    target: {etcd: {endpoints: http://127.0.0.1:2, onForeignKeys: maybe, maxTxnOp: 3}}
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("mirrors.dr.source.endpoints")
                .hasMessageContaining("one of fail, delete, keep")
                .hasMessageContaining("did you mean mirrors.dr.target.etcd.maxTxnOps");
    }

    private MirrorSettings load(String yaml) throws IOException {
        Path file = Files.writeString(folder.resolve("mirror.yaml"), yaml);
        return MirrorConfiguration.load(file, Map.of(), Map.of());
    }
}
