package io.understudy.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records are settings: rows of their components, and values of these from a configuration. */
final class BinderTest {

    private enum Mode {
        FAST,
        VERY_SLOW
    }

    private record Login(
            @Configured("Name.") String user,
            @Configured(value = "Password.", secret = true) String password,
            @Nullable Path passwordFile) {}

    @Configured.Group("server")
    private record Server(
            @Configured(value = "Timeout.", byDefault = "5s", range = "100ms..1m")
            Duration timeout,

            @Configured(value = "Size.", byDefault = "64KiB", range = "1KiB..1MiB", bytes = true)
            int size,

            @Configured(key = "mode", value = "Mode.", byDefault = "very-slow")
            Mode mode,

            @Configured(value = "Rate.", range = "1..10") @Nullable Integer rate,

            @Configured("Folder.") Optional<Path> folder,
            @Configured(value = "Urls.", optional = true) List<URI> urls,
            @Configured("Name.") String name,

            @Configured(value = "Even.", byDefault = "2", former = "oldEven", check = Even.class)
            long even,

            @Nullable Login login,
            boolean other) {

        private Server {
            if (name.equals("wrong")) {
                throw new IllegalArgumentException("name is wrong");
            }
        }
    }

    static final class Even implements Consumer<Integer> {
        @Override
        public void accept(Integer value) {
            if (value % 2 != 0) {
                throw new IllegalArgumentException("must be even");
            }
        }
    }

    private static final Map<String, ?> OTHERS = Map.of("other", true);

    @Test
    void valuesAreReadIntoTheComponentsTheyAreNamedAfter() {
        assertThat(bind(Map.of(
                        "server.timeout", "1s",
                        "server.size", "2KiB",
                        "mode", "fast",
                        "server.rate", "3",
                        "server.folder", "/f",
                        "server.urls", "http://a,http://b",
                        "server.name", "n",
                        "server.even", "4")))
                .isEqualTo(new Server(
                        Duration.ofSeconds(1),
                        2048,
                        Mode.FAST,
                        3,
                        Optional.of(Path.of("/f")),
                        List.of(URI.create("http://a"), URI.create("http://b")),
                        "n",
                        4,
                        null,
                        true));
    }

    @Test
    void whatIsNotSetIsTheDefaultOrAbsent() {
        assertThat(bind(Map.of("server.name", "n")))
                .isEqualTo(new Server(
                        Duration.ofSeconds(5),
                        64 << 10,
                        Mode.VERY_SLOW,
                        null,
                        Optional.empty(),
                        List.of(),
                        "n",
                        2,
                        null,
                        true))
                .isEqualTo(Binder.defaults(Server.class, Map.of("other", true, "name", "n")));
    }

    @Test
    void allProblemsAreReportedAtOnceWithTheirKeys() {
        assertThatThrownBy(() -> bind(Map.of("server.timeout", "2m", "server.even", "3", "server.rate", "x")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("server.timeout cannot be '2m'")
                .hasMessageContaining("server.even cannot be '3': must be even")
                .hasMessageContaining("server.rate cannot be 'x'")
                .hasMessageContaining("server.name is required");
    }

    @Test
    void aNullableRecordIsNullUnlessOneOfItsSettingsIsSet(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("password"), "secret\n");
        Configuration configuration = Configuration.load(
                Files.writeString(folder.resolve("c.yaml"), "server: {name: n, user: u, passwordFile: " + file + "}"),
                Map.of(),
                Map.of(),
                Binder.rows(Server.class));
        assertThat(configuration.bind(Server.class, OTHERS).login()).isEqualTo(new Login("u", "secret", file));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> bind(Map.of("server.name", "n", "server.user", "u")))
                .withMessage("user and password must be set together: user is set, password is not set");
    }

    @Test
    void aRecordMayRejectWhatItsSettingsAllow() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> bind(Map.of("server.name", "wrong")))
                .withMessage("name is wrong");
    }

    @Test
    void oneComponentIsReplacedByNameOrByType() {
        Server server = bind(Map.of("server.name", "n"));
        assertThat(Binder.with(server, "name", "m").name()).isEqualTo("m");
        assertThat(Binder.with(server, Mode.FAST).mode()).isEqualTo(Mode.FAST);
        assertThatIllegalArgumentException().isThrownBy(() -> Binder.with(server, new Object()));
        assertThatIllegalArgumentException().isThrownBy(() -> Binder.with(server, "wrong"));
    }

    @Test
    void aSchemaDescribesEachSettingForEditors() throws Exception {
        assertThat(SettingsSchema.of(Setting.under("of.*", Binder.rows(Server.class)), "a file"))
                .contains(
                        "\"enum\" : [ \"fast\", \"very-slow\" ]",
                        "\"minimum\" : 1",
                        "\"maximum\" : 10",
                        "\"default\" : \"64KiB\"",
                        "\"^(of)\\\\.\"");
    }

    private static Server bind(Map<String, String> values) {
        return Configuration.load(null, Map.of(), values, Binder.rows(Server.class))
                .bind(Server.class, OTHERS);
    }
}
