package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import io.understudy.config.ConfigurationException;
import io.understudy.config.HostPort;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.member.MemberSettings;
import io.understudy.gateway.member.MemberSettings.MembersShown;
import io.understudy.gateway.server.ServerLimits;
import io.understudy.gateway.server.ServerLimits.ConnectionTimeouts;
import io.understudy.gateway.server.ServerLimits.FrameLimits;
import io.understudy.gateway.server.ServerLimits.LoadLimits;
import io.understudy.gateway.trace.TracingSettings;
import io.understudy.kafka.KafkaSettings;
import io.understudy.tls.TlsFiles;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant T1b. */
final class GatewaySettingsTest {

    @TempDir
    private Path folder;

    @Test
    void onlyTheSourceIsRequired() throws IOException {
        GatewaySettings settings = load("source: {endpoints: ['http://127.0.0.1:23791']}");
        assertThat(settings.source()).isInstanceOfSatisfying(SourceSettings.Etcd.class, etcd -> assertThat(
                        etcd.cluster().endpoints())
                .containsExactly(URI.create("http://127.0.0.1:23791")));
        assertThat(settings.listen()).isEqualTo(new HostPort("127.0.0.1", 2379));
        assertThat(settings.name()).endsWith(":2379");
        assertThat(settings.range()).isEqualTo(KeyRange.all());
        assertThat(settings.limits()).isEqualTo(ServerLimits.DEFAULTS);
    }

    @Test
    void everySettingCanBeGiven() throws IOException {
        GatewaySettings settings = load("""
                name: edge-1
                listen: 127.0.0.1:0
                source: {endpoints: ['http://127.0.0.1:23791'], probeInterval: 2s}
                range: {prefix: /registry/}
                maxSilence: 20s
                closeTimeout: 1s
                writes: forward
                forward: {timeout: 2m}
                members: gateways
                advertise: http://edge-1:2379
                gateways: {edge-2: {urls: 'http://edge-2:2379, http://edge-2:12379'}}
                limits: {maxRequestBytes: 4MiB, maxHeaderBytes: 64KiB, maxStreams: 500, maxResets: 1000,
                         maxUnreadBytes: 128KiB, maxConnections: 50, stallTimeout: 5s,
                         maxHeaders: 100, maxHeldBytes: 1MiB, maxControlFrames: 2000,
                         maxCalls: 5000, maxInFlight: 600, maxInFlightPerConnection: 70, maxRate: 8000, maxDelay: 9ms,
                         requestTimeout: 2s, idleTimeout: 1h, keepAliveInterval: 10m, keepAliveTimeout: 3s}
                """);
        assertThat(settings.name()).isEqualTo("edge-1");
        assertThat(settings.source()).isInstanceOfSatisfying(SourceSettings.Etcd.class, etcd -> assertThat(
                        etcd.cluster().probeInterval())
                .isEqualTo(Duration.ofSeconds(2)));
        assertThat(settings.range()).isEqualTo(KeyRange.prefix(ByteString.copyFromUtf8("/registry/")));
        assertThat(settings.maxSilence()).isEqualTo(Duration.ofSeconds(20));
        assertThat(settings.forward()).isEqualTo(new ForwardSettings(Writes.FORWARD, Duration.ofMinutes(2), 1_000));
        assertThat(settings.members())
                .isEqualTo(new MemberSettings(
                        MembersShown.GATEWAYS,
                        List.of(URI.create("http://edge-1:2379")),
                        Map.of(
                                "edge-2",
                                new MemberSettings.Gateway(List.of(
                                        URI.create("http://edge-2:2379"), URI.create("http://edge-2:12379"))))));
        assertThat(settings.limits())
                .isEqualTo(new ServerLimits(
                        4 << 20,
                        64 << 10,
                        500,
                        1_000,
                        128 << 10,
                        50,
                        Duration.ofSeconds(5),
                        new FrameLimits(100, 1 << 20, 2_000),
                        new LoadLimits(5_000, 600, 70, 8_000, Duration.ofMillis(9)),
                        new ConnectionTimeouts(
                                Duration.ofSeconds(2),
                                Duration.ofHours(1),
                                Duration.ofMinutes(10),
                                Duration.ofSeconds(3))));
    }

    @Test
    void allProblemsAreReportedTogether() {
        assertThatExceptionOfType(ConfigurationException.class)
                .isThrownBy(() -> load("""
                        listen: nowhere
                        source: {endpoints: ['http://127.0.0.1:1', 'https://127.0.0.1:2']}
                        limits: {maxStreams: 0}
                        lissten: 127.0.0.1:2379
                        """))
                .withMessageContaining("listen cannot be 'nowhere'")
                .withMessageContaining("limits.maxStreams cannot be '0'")
                .withMessageContaining("did you mean listen?");
    }

    @Test
    void invalidCombinationsAreRejected() {
        assertThatExceptionOfType(ConfigurationException.class)
                .isThrownBy(() -> load("source: {endpoints: ['http://127.0.0.1:1', 'https://127.0.0.1:2']}"))
                .withMessageContaining("mixes http and https endpoints");
        assertThatExceptionOfType(ConfigurationException.class)
                .isThrownBy(() -> load("""
                        source: {endpoints: ['http://127.0.0.1:1']}
                        members: gateways
                        """))
                .withMessageContaining("advertise");
        assertThatExceptionOfType(ConfigurationException.class)
                .isThrownBy(() -> load("""
                        source: {endpoints: ['http://127.0.0.1:1']}
                        permissions: {roles: true}
                        """))
                .withMessageContaining("permissions.roles is true")
                .withMessageContaining("source.user");
    }

    @Test
    void plainTextToOtherHostsRequiresAnExplicitSetting() throws IOException {
        String source = "source: {endpoints: ['http://127.0.0.1:1']}\n";
        assertRefused(source + "listen: 0.0.0.0:2379", "listen is 0.0.0.0:2379", "insecure: true");
        assertRefused(source + "rest: {listen: '0.0.0.0:8080'}", "rest.listen is 0.0.0.0:8080", "tls.certificate");
        assertThat(load(source + "rest: {listen: '0.0.0.0:8080', enabled: false}")
                        .rest()
                        .enabled())
                .isFalse();
        assertThat(load(source + "listen: 0.0.0.0:2379\ninsecure: true")
                        .security()
                        .insecure())
                .isTrue();
        assertThat(load(source + "listen: 0.0.0.0:2379\ntls: {certificate: /s.crt, key: /s.key}")
                        .security()
                        .files())
                .isEqualTo(new TlsFiles(null, Path.of("/s.crt"), Path.of("/s.key")));
    }

    @Test
    void theSourceMayBeInKafka() throws IOException {
        assertThat(load("source: {kafka: {bootstrap.servers: 'k:9092', topic: t}}")
                        .source())
                .isEqualTo(SourceSettings.Kafka.of("k:9092", "t"));
        assertThat(load("""
                        source: {kafka: {bootstrap.servers: 'k:9092', topic: core.t, stateTopic: core.t.state,
                                         propertiesFile: /k.properties, timeout: 5s, maxCommitBytes: 8MiB,
                                         maxClockSkew: 50ms}}
                        """).source())
                .isEqualTo(new SourceSettings.Kafka(
                        new KafkaSettings("k:9092", Path.of("/k.properties"), Duration.ofSeconds(5)),
                        new KafkaFeedOptions("core.t", "core.t.state", 8 << 20),
                        Duration.ofMillis(50)));
    }

    @Test
    void thereIsOneSource() {
        assertRefused("{}", "set source.endpoints", "source.kafka.bootstrap.servers and source.kafka.topic");
        assertRefused(
                "source: {endpoints: 'http://127.0.0.1:1', kafka: {bootstrap.servers: 'k:9092', topic: t}}",
                "both set",
                "source.endpoints",
                "source.kafka.bootstrap.servers");
        assertRefused(
                "source: {kafka: {topic: t}}",
                "source.kafka.bootstrap.servers and source.kafka.topic must both be set");
        assertRefused("""
                source: {kafka: {bootstrap.servers: 'k:9092', topic: t}}
                writes: forward
                """, "writes is forward", "source.kafka");
    }

    @Test
    void tracingIsEnabledByACollector() throws IOException {
        String source = "source: {endpoints: ['http://127.0.0.1:1']}\n";
        assertThat(load(source).tracing()).isEqualTo(TracingSettings.DEFAULTS);
        assertThat(load(source).tracing().endpoint()).isNull();
        assertThat(load(source + """
                        tracing: {endpoint: 'https://collector:4318/v1/traces', samplesPerMillion: 0, serviceName: edge,
                                  tls: {trusted: /ca.crt}}
                        """).tracing())
                .isEqualTo(new TracingSettings(
                        URI.create("https://collector:4318/v1/traces"),
                        0,
                        "edge",
                        false,
                        new TlsFiles(Path.of("/ca.crt"), null, null)));
    }

    @Test
    void anInvalidCollectorUrlIsRejected() throws IOException {
        String source = "source: {endpoints: ['http://127.0.0.1:1']}\n";
        for (String url : List.of("ftp://c/v1/traces", "http://c:4318", "http://u:p@c/v1/traces", "here", "//c/v1")) {
            assertRefused(source + "tracing: {endpoint: '" + url + "'}", "tracing.endpoint", url, "URL");
        }
        assertRefused(
                source + "tracing: {endpoint: 'http://198.51.100.1:4318/v1/traces'}",
                "tracing.endpoint is http://198.51.100.1:4318/v1/traces",
                "plaintext",
                "https",
                "tracing.insecure: true");
        assertThat(load(source + "tracing: {endpoint: 'http://198.51.100.1:4318/v1/traces', insecure: true}")
                        .tracing()
                        .endpoint())
                .isEqualTo(URI.create("http://198.51.100.1:4318/v1/traces"));
        assertRefused(
                source + "tracing: {endpoint: 'http://127.0.0.1:1/v1/traces', samplesPerMillion: 1000001}",
                "tracing.samplesPerMillion",
                "1000001",
                "from 0 to 1000000");
        assertRefused(
                source + "tracing: {endpoint: 'http://127.0.0.1:1/v1/traces', tls: {trusted: /ca.crt}}",
                "tracing.tls",
                "http://127.0.0.1:1/v1/traces",
                "https");
    }

    private void assertRefused(String yaml, String... parts) {
        assertThatExceptionOfType(ConfigurationException.class)
                .isThrownBy(() -> load(yaml))
                .satisfies(why -> assertThat(why).message().contains(parts));
    }

    @Test
    void memberIdsFollowTheName() {
        assertThat(MemberIds.of("edge-1")).isEqualTo(MemberIds.of("edge-1")).isNotEqualTo(MemberIds.of("edge-2"));
    }

    private GatewaySettings load(String yaml) throws IOException {
        Path file = Files.writeString(folder.resolve("gateway.yaml"), yaml);
        return GatewaySettings.load(file, Map.of(), Map.of());
    }
}
