package io.understudy.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariants CF1, CF2, CF3. */
final class ConfigurationTest {

    private enum Kind {
        ETCD,
        KAFKA_TOPIC
    }

    private record Rows(
            @Configured(value = "Address of the listener.", byDefault = "127.0.0.1:2379")
            HostPort listen,

            @Configured(value = "Event loops.", range = "1..64") @Nullable Integer loops,

            @Configured(value = "Whether to replay.", byDefault = "false")
            boolean replay,

            @Configured(value = "Arguments.") @Nullable List<String> arguments,

            @Configured(key = "source.endpoints", value = "URLs of the source.", example = "http://127.0.0.1:2379")
            List<URI> endpoints,

            @Configured(key = "source.password", value = "The user's password.", secret = true) @Nullable String password,

            @Configured(key = "feed.stallTimeout", value = "Time without progress.", byDefault = "5s", range = "1s..5m")
            Duration stall,

            @Configured(
                    key = "feed.maxCommitBytes",
                    value = "The largest commit.",
                    byDefault = "64MiB",
                    range = "1..1TiB",
                    bytes = true)
            long commit,

            @Configured.Group("mirrors") Map<String, Mirror> mirrors) {}

    private record Mirror(@Configured.Group("sink") Sink sink) {}

    private record Sink(
            @Configured("Kind of target.") Kind kind,
            @Configured("Folder.") @Nullable Path folder,

            @Configured(key = "bootstrap.servers", value = "Servers.", former = "bootstrapServers") @Nullable String servers,

            @Configured(value = "Properties.", check = WithoutAcks.class)
            Map<String, String> producer) {}

    static final class WithoutAcks implements Consumer<Map<String, String>> {
        @Override
        public void accept(Map<String, String> properties) {
            if (properties.containsKey("acks")) {
                throw new IllegalArgumentException("is not allowed");
            }
        }
    }

    private record Unrelated(@Configured("Not loaded.") String other) {}

    private record Below(
            @Configured(key = "feed.stall", value = "One.") String one,

            @Configured(key = "feed.stall.timeout", value = "Two.")
            String two) {}

    private record SameVariable(
            @Configured(key = "feed.stallTimeout", value = "One.")
            String one,

            @Configured(key = "feed.stall.timeout", value = "Two.")
            String two) {}

    private record Malformed(
            @Configured(key = "Feed", value = "Bad.") String feed) {}

    private static final Setting<Duration> STALL = row(Rows.class, "feed.stallTimeout");
    private static final Setting<Long> COMMIT = row(Rows.class, "feed.maxCommitBytes");
    private static final Setting<List<URI>> ENDPOINTS = row(Rows.class, "source.endpoints");
    private static final Setting<HostPort> LISTEN = row(Rows.class, "listen");
    private static final Setting<Integer> LOOPS = row(Rows.class, "loops");
    private static final Setting<Boolean> REPLAY = row(Rows.class, "replay");
    private static final Setting<String> PASSWORD = row(Rows.class, "source.password");
    private static final Setting<Kind> KIND = row(Sink.class, "kind");
    private static final Setting<Path> FOLDER = row(Sink.class, "folder");
    private static final Setting<String> SERVERS = row(Sink.class, "bootstrap.servers");
    private static final Setting<Map<String, String>> PRODUCER = row(Sink.class, "producer");

    private static final List<Setting<?>> ROWS = Binder.rows(Rows.class);

    private static final Map<String, String> NOTHING = Map.of();

    @TempDir
    Path folder;

    @Test
    void readsEveryTypeFromTheFile() throws IOException {
        Configuration configuration = load("""
                listen: "[::1]:2400"
                loops: 3
                replay: true
                source:
                  endpoints:
                    - http://127.0.0.1:23791
                    - http://127.0.0.1:23792
                feed:
                  stallTimeout: 1m30s
                  maxCommitBytes: 128MiB
                mirrors:
                  orders:
                    sink:
                      kind: kafka-topic
                      folder: /var/lib/x
                """);

        assertThat(configuration.get(LISTEN)).isEqualTo(new HostPort("::1", 2400));
        assertThat(configuration.find(LOOPS)).contains(3);
        assertThat(configuration.get(REPLAY)).isTrue();
        assertThat(configuration.get(ENDPOINTS))
                .containsExactly(URI.create("http://127.0.0.1:23791"), URI.create("http://127.0.0.1:23792"));
        assertThat(configuration.get(STALL)).isEqualTo(Duration.ofSeconds(90));
        assertThat(configuration.get(COMMIT)).isEqualTo(128L << 20);
        assertThat(configuration.names("mirrors")).containsExactly("orders");
        assertThat(configuration.at("mirrors.orders.sink").get(KIND)).isEqualTo(Kind.KAFKA_TOPIC);
        assertThat(configuration.at("mirrors.orders").at("sink").find(FOLDER)).contains(Path.of("/var/lib/x"));
        assertThat(configuration.bind(Rows.class).mirrors())
                .isEqualTo(Map.of(
                        "orders", new Mirror(new Sink(Kind.KAFKA_TOPIC, Path.of("/var/lib/x"), null, Map.of()))));
    }

    @Test
    void propertiesKeepTheirOwnNames() throws IOException {
        Path file = file("""
                source: {endpoints: http://file:1}
                mirrors:
                  my-log:
                    sink:
                      kind: kafka-topic
                      producer: {linger.ms: 20, batch.size: 1, client.id: a}
                      producer.compression.type: zstd
                """);
        Configuration configuration = Configuration.load(
                file,
                Map.of("UNDERSTUDY_MIRRORS_MY_LOG_SINK_PRODUCER_BATCH_SIZE", "2"),
                Map.of("mirrors.my-log.sink.producer.client.id", "b"),
                ROWS);
        assertThat(configuration.at("mirrors.my-log.sink").find(PRODUCER))
                .contains(Map.of("linger.ms", "20", "batch.size", "2", "client.id", "b", "compression.type", "zstd"));
    }

    @Test
    void aVariableOfAPropertyIsFoundThoughTheNameContainsItsGroup() throws IOException {
        Path file = file("""
                source: {endpoints: http://file:1}
                mirrors:
                  a-producer-b:
                    sink: {kind: kafka-topic}
                """);
        Configuration configuration = Configuration.load(
                file, Map.of("UNDERSTUDY_MIRRORS_A_PRODUCER_B_SINK_PRODUCER_BATCH_SIZE", "2"), Map.of(), ROWS);
        assertThat(configuration.at("mirrors.a-producer-b.sink").find(PRODUCER)).contains(Map.of("batch.size", "2"));
    }

    @Test
    void aRejectedPropertyIsReportedWithItsPlace() {
        assertThatThrownBy(() -> load("""
                source: {endpoints: http://file:1}
                mirrors:
                  log:
                    sink:
                      kind: kafka-topic
                      producer:
                        acks: 1
                        linger.ms:
                """))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(".yaml:7:9: mirrors.log.sink.producer.acks is not allowed")
                .hasMessageContaining(".yaml:8:9: mirrors.log.sink.producer.linger.ms has no value");
        assertThatThrownBy(() -> load("{source: {endpoints: http://file:1}, mirrors: {log: {sink: {kind: kafka-topic,"
                        + " producer: x}}}}"))
                .hasMessageContaining("mirrors.log.sink.producer cannot be 'x'");
    }

    @Test
    void aFormerNameIsAcceptedOnce() throws IOException {
        String mirror = "{source: {endpoints: http://file:1}, mirrors: {log: {sink: {kind: kafka-topic, %s}}}}";
        assertThat(load(mirror.formatted("bootstrapServers: a"))
                        .at("mirrors.log.sink")
                        .find(SERVERS))
                .contains("a");
        assertThat(load(mirror.formatted("bootstrap.servers: a"))
                        .at("mirrors.log.sink")
                        .find(SERVERS))
                .contains("a");
        assertThatThrownBy(() -> load(mirror.formatted("bootstrap.servers: a, bootstrapServers: b")))
                .hasMessageContaining("mirrors.log.sink.bootstrap.servers is already set at ");
    }

    @Test
    void flagsWinOverTheEnvironmentWhichWinsOverTheFile() throws IOException {
        Path file =
                file("{source: {endpoints: http://file:1}, feed: {stallTimeout: 2s, maxCommitBytes: 1KiB}, loops: 1}");

        Configuration configuration = Configuration.load(
                file,
                Map.of("UNDERSTUDY_FEED_STALL_TIMEOUT", "3s", "UNDERSTUDY_LOOPS", "2", "PATH", "/bin"),
                Map.of("loops", "4"),
                ROWS);

        assertThat(configuration.get(COMMIT)).isEqualTo(1024);
        assertThat(configuration.get(STALL)).isEqualTo(Duration.ofSeconds(3));
        assertThat(configuration.get(LOOPS)).isEqualTo(4);
    }

    @Test
    void whatIsNotGivenHasItsDefaultOrIsAbsent() {
        Configuration configuration =
                Configuration.load(null, NOTHING, Map.of("source.endpoints", "http://a:1,http://b:2"), ROWS);

        assertThat(configuration.get(LISTEN)).hasToString("127.0.0.1:2379");
        assertThat(configuration.find(LOOPS)).isEmpty();
        assertThat(configuration.get(ENDPOINTS)).hasSize(2);
        assertThat(configuration.names("mirrors")).isEmpty();
        assertThatThrownBy(() -> configuration.get(LOOPS)).hasMessageContaining("loops");
        assertThatThrownBy(() -> configuration.bind(Unrelated.class)).hasMessageContaining("other");
    }

    @Test
    void allProblemsAreReportedWithPlaceKeyValueAndAllowedValues() throws IOException {
        Path file = file("""
                listen: here
                feed:
                  stalTimeout: 5s
                  maxCommitBytes: 64MB
                mirrors:
                  orders:
                    sink:
                      kind: file
                """);

        ConfigurationException refused = catchThrowableOfType(
                ConfigurationException.class,
                () -> Configuration.load(
                        file,
                        Map.of(
                                "UNDERSTUDY_FEED_STALL_TIMEOUT", "90ms",
                                "UNDERSTUDY_LOPS", "1",
                                "UNDERSTUDY_SOURCE_CERTIFICATE_OF_THE_CLIENT", "a.pem"),
                        Map.of("loops", "many"),
                        ROWS));

        assertThat(refused.problems())
                .map(Problem::toString)
                .containsExactlyInAnyOrder(
                        file + ":3:3: feed.stalTimeout is not a known setting; did you mean feed.stallTimeout?",
                        "variable UNDERSTUDY_SOURCE_CERTIFICATE_OF_THE_CLIENT: is not a known variable; see the settings"
                                + " reference",
                        "variable UNDERSTUDY_LOPS: is not a known variable; did you mean UNDERSTUDY_LOOPS?",
                        file + ":1:1: listen cannot be 'here': allowed: host:port, with an IPv6 address in brackets",
                        "flag loops: loops cannot be 'many': allowed: an integer, from 1 to 64",
                        "not set: source.endpoints is required: one or more URLs, as a list or comma-separated;"
                                + " set it in the file or by UNDERSTUDY_SOURCE_ENDPOINTS",
                        "variable UNDERSTUDY_FEED_STALL_TIMEOUT: feed.stallTimeout cannot be '90ms': allowed: a duration such"
                                + " as 200ms, 5s or 1h30m, from 1s to 5m",
                        file
                                + ":4:3: feed.maxCommitBytes cannot be '64MB': allowed: bytes such as 512KiB or 64MiB, from 1"
                                + " to 1TiB",
                        file + ":8:7: mirrors.orders.sink.kind cannot be 'file': allowed: one of etcd, kafka-topic");
        assertThat(refused).hasMessageContaining("9 problems").hasMessageContaining("stalTimeout");
    }

    @Test
    void aUrlWithoutASchemeAndAnEmptyListAreReported() {
        for (String bare : List.of("127.0.0.1:21000", "localhost:21000")) {
            assertThatThrownBy(() -> Configuration.load(null, NOTHING, Map.of("source.endpoints", bare), ROWS))
                    .hasMessageContaining("source.endpoints cannot be '" + bare
                            + "': missing http:// or https:// before " + bare + "; allowed: one or more URLs");
        }
        assertThatThrownBy(
                        () -> Configuration.load(file("source: {endpoints: http://my_gw:1}"), NOTHING, NOTHING, ROWS))
                .hasMessageContaining("no valid host or port; a host name must not contain '_'; allowed: one or more");
        assertThatThrownBy(() -> Configuration.load(file("source: {endpoints: []}"), NOTHING, NOTHING, ROWS))
                .hasMessageContaining("source.endpoints is an empty list; allowed: one or more URLs");
    }

    /** Only text is split: an argument may contain a comma. */
    @Test
    void anElementOfAListStaysWhole() throws IOException {
        Setting<List<String>> arguments = row(Rows.class, "arguments");
        Path file = file("{source: {endpoints: ['http://a:1,http://b:1']}, arguments: [-c, ' a,b']}");

        Configuration ofFile = Configuration.load(file, NOTHING, NOTHING, ROWS);
        Configuration ofVariable = Configuration.load(file, Map.of("UNDERSTUDY_ARGUMENTS", "-c, a,b"), NOTHING, ROWS);

        assertThat(ofFile.get(arguments)).containsExactly("-c", " a,b");
        assertThat(ofVariable.get(arguments)).containsExactly("-c", "a", "b");
        assertThat(ofFile.get(ENDPOINTS)).hasSize(2);
        assertThatThrownBy(() -> Configuration.load(file("arguments: [' ']"), NOTHING, NOTHING, ROWS))
                .hasMessageContaining("arguments cannot be ' '");
    }

    @Test
    void impossibleCombinationsAreReportedWithOtherProblems() throws IOException {
        Path file = file("{source: {endpoints: http://a:1}, replay: true, loops: 65}");
        Check replayNeedsTime = (configuration, report) -> {
            if (configuration.get(REPLAY) && configuration.get(STALL).toSeconds() < 10) {
                report.problem(configuration, REPLAY, "needs feed.stallTimeout of 10s at least");
            }
        };
        Check dependsOnTheRefused = (configuration, report) ->
                report.problem(configuration, LISTEN, "is wrong for " + configuration.get(LOOPS) + " loops");
        Check throwing = (configuration, report) -> {
            throw new IllegalArgumentException("these don't go together");
        };

        assertThatThrownBy(() -> Configuration.load(
                        file, NOTHING, NOTHING, ROWS, replayNeedsTime, dependsOnTheRefused, throwing))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("replay needs feed.stallTimeout")
                .hasMessageContaining("loops cannot be '65'")
                .hasMessageContaining("these don't go together")
                .hasMessageContaining("3 problems");
    }

    @Test
    void aGroupsNamesMayComeFromTheEnvironmentAndMeetThoseOfTheFile() throws IOException {
        Path file = file("""
                source: {endpoints: http://a:1}
                mirrors:
                  orders-eu: {sink: {kind: etcd}}
                """);

        Configuration configuration = Configuration.load(
                file,
                Map.of(
                        "UNDERSTUDY_MIRRORS_ORDERS_EU_SINK_FOLDER", "/eu",
                        "UNDERSTUDY_MIRRORS_NEW_ONE_SINK_KIND", "etcd"),
                NOTHING,
                ROWS);

        assertThat(configuration.names("mirrors")).containsExactly("orders-eu", "new-one");
        assertThat(configuration.at("mirrors.orders-eu.sink").find(FOLDER)).contains(Path.of("/eu"));
    }

    @Test
    void aNamedGroupWithNothingInItStillNeedsWhatIsRequired() throws IOException {
        Path file = file("""
                source: {endpoints: http://a:1}
                feed:
                mirrors:
                  orders:
                  Not_a_name: {sink: {kind: etcd}}
                """);

        assertThatThrownBy(() -> Configuration.load(file, NOTHING, NOTHING, ROWS))
                .hasMessageContaining("mirrors.orders.sink.kind is required")
                .hasMessageContaining("mirrors.Not_a_name is not a valid name")
                .hasMessageContaining("2 problems");
    }

    @Test
    void servicesOfKubernetesAndTheLaunchersOwnVariablesAreNotSettings() {
        Configuration.load(
                null,
                Map.of(
                        "UNDERSTUDY_HOME", "/opt",
                        "UNDERSTUDY_LOG_LEVEL", "debug",
                        "UNDERSTUDY_SERVICE_HOST", "10.0.0.1",
                        "UNDERSTUDY_SERVICE_PORT_GRPC", "2379",
                        "UNDERSTUDY_PORT", "tcp://10.0.0.1:2379",
                        "UNDERSTUDY_PORT_2379_TCP_ADDR", "10.0.0.1",
                        "UNDERSTUDY_PORTS", "1 2"),
                Map.of("source.endpoints", "http://a:1"),
                ROWS);
    }

    @Test
    void aSecretIsNeverShownAndNotTakenFromFlags() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "hunter2\n");
        Map<String, String> flags = Map.of("source.endpoints", "http://a:1");

        Configuration fromFile =
                Configuration.load(null, Map.of("UNDERSTUDY_SOURCE_PASSWORD_FILE", secret.toString()), flags, ROWS);
        Configuration fromEnvironment =
                Configuration.load(null, Map.of("UNDERSTUDY_SOURCE_PASSWORD", "hunter2"), flags, ROWS);

        assertThat(fromFile.find(PASSWORD)).contains("hunter2");
        assertThat(fromEnvironment.find(PASSWORD)).contains("hunter2");
        assertThat(fromFile.toString()).doesNotContain("hunter2").contains("source.password=(secret)");
        assertThatThrownBy(() -> Configuration.load(
                        null, NOTHING, Map.of("source.endpoints", "http://a:1", "source.password", "hunter2"), ROWS))
                .hasMessageContaining("source.password is a secret")
                .hasMessageNotContainingAny("hunter2");
        assertThatThrownBy(() -> Configuration.load(
                        null,
                        Map.of("UNDERSTUDY_SOURCE_PASSWORD", "hunter2"),
                        Map.of("source.endpoints", "http://a:1", "source.passwordFile", secret.toString()),
                        ROWS))
                .hasMessageContaining("conflicts with source.password")
                .hasMessageNotContainingAny("hunter2");
        assertThatThrownBy(() -> Configuration.load(
                        null,
                        Map.of(
                                "UNDERSTUDY_SOURCE_PASSWORD_FILE",
                                folder.resolve("none").toString()),
                        flags,
                        ROWS))
                .hasMessageContaining("cannot read " + folder.resolve("none") + ": no such file")
                .hasMessageNotContaining("Exception");
    }

    @Test
    void rowsThatClashAreAMistakeOfTheProgram() {
        assertThatThrownBy(() -> new Schema(Binder.rows(Below.class))).hasMessageContaining("conflicting settings");
        assertThatThrownBy(() -> new Schema(Binder.rows(SameVariable.class)))
                .hasMessageContaining("conflicting settings");
        assertThatThrownBy(() -> new Schema(Binder.rows(Malformed.class))).hasMessageContaining("Feed");
    }

    // The type of a row is that of its component.
    @SuppressWarnings("unchecked")
    private static <T> Setting<T> row(Class<?> type, String key) {
        return (Setting<T>) Binder.row(type, key);
    }

    private Configuration load(String yaml) throws IOException {
        return Configuration.load(file(yaml), NOTHING, NOTHING, ROWS);
    }

    private Path file(String yaml) throws IOException {
        return Files.writeString(folder.resolve("config.yaml"), yaml);
    }
}
