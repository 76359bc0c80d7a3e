package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.config.Configuration;
import io.understudy.config.ConfigurationException;
import io.understudy.config.Setting;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class EtcdSettingsTest {

    private static final List<Setting<?>> ROWS = Setting.under("source", EtcdSettings.ROWS);

    @Test
    void rowsBecomeSettings() {
        Configuration configuration = Configuration.load(
                null,
                Map.of(
                        "UNDERSTUDY_SOURCE_ENDPOINTS", "https://a:2379,https://b:2379",
                        "UNDERSTUDY_SOURCE_USER", "gateway",
                        "UNDERSTUDY_SOURCE_PASSWORD", "secret"),
                Map.of(
                        "source.discovery", "configured",
                        "source.probeInterval", "250ms",
                        "source.requestTimeout", "3s",
                        "source.tls.trusted", "/ca.crt"),
                ROWS);

        assertThat(EtcdSettings.from("source", configuration.at("source")))
                .isEqualTo(new EtcdSettings(
                        "source",
                        List.of(URI.create("https://a:2379"), URI.create("https://b:2379")),
                        MemberDiscovery.CONFIGURED,
                        Duration.ofMillis(250),
                        Duration.ofSeconds(3),
                        new TlsFiles(Path.of("/ca.crt"), null, null),
                        new Credentials("gateway", "secret")));
    }

    @Test
    void whatIsNotAnEndpointIsRefusedWithItsKey() {
        assertThatThrownBy(() ->
                        Configuration.load(null, Map.of(), Map.of("source.endpoints", "http://a:2379/path"), ROWS))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("source.endpoints")
                .hasMessageContaining("http://a:2379/path")
                .hasMessageContaining("http://host:port");
    }

    /** Commands of mirrors read a login of root from the variable of this setting. */
    @Test
    void aLoginIsNoUser() {
        Configuration configuration = Configuration.load(
                null,
                Map.of(
                        "UNDERSTUDY_SOURCE_ENDPOINTS", "http://127.0.0.1:2379",
                        "UNDERSTUDY_SOURCE_USER", "root:secret",
                        "UNDERSTUDY_SOURCE_PASSWORD", "own"),
                Map.of(),
                ROWS);

        assertThatThrownBy(() -> EtcdSettings.from("source", configuration.at("source")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("user contains ':'")
                .hasMessageNotContaining("secret");
    }

    @Test
    void aPasswordIsSentToOtherMachinesInPlainTextOnlyIfThatIsWrittenDown() {
        assertThatThrownBy(() -> EtcdSettings.from("source", withUser("http://192.0.2.1:2379", "false")))
                .hasMessageContaining("192.0.2.1")
                .hasMessageContaining("insecure: true")
                .hasMessageNotContaining("secret");
        for (Configuration fine : List.of(
                withUser("http://192.0.2.1:2379", "true"),
                withUser("https://192.0.2.1:2379", "false"),
                withUser("http://127.0.0.1:2379,http://[::1]:2380", "false"))) {
            assertThat(EtcdSettings.from("source", fine).login()).isNotNull();
        }
    }

    @Test
    void aMemberListCantHaveThePasswordSentToOtherMachinesInPlainText() {
        EtcdSettings careful = EtcdSettings.from("source", withUser("http://127.0.0.1:2379", "false"));
        EtcdSettings allowed = EtcdSettings.from("source", withUser("http://127.0.0.1:2379", "true"));

        for (String listed : List.of("http://192.0.2.1:2379", "http://voter-1:2379", "http://127.0.0.1.evil:2379")) {
            assertThat(careful.mayLogInAt(Endpoint.of(URI.create(listed)))).isFalse();
            assertThat(allowed.mayLogInAt(Endpoint.of(URI.create(listed)))).isTrue();
        }
        for (String fine :
                List.of("http://127.0.0.1:22379", "http://localhost:1", "http://[::1]:1", "https://voter-1:1")) {
            assertThat(careful.mayLogInAt(Endpoint.of(URI.create(fine)))).isTrue();
        }
    }

    private static Configuration withUser(String endpoints, String insecure) {
        return Configuration.load(
                        null,
                        Map.of("UNDERSTUDY_SOURCE_PASSWORD", "secret"),
                        Map.of("source.endpoints", endpoints, "source.user", "gateway", "source.insecure", insecure),
                        ROWS)
                .at("source");
    }

    @Test
    void contradictionsAreRefused() {
        assertThatThrownBy(() -> EtcdSettings.of()).hasMessageContaining("at least one");
        assertThatThrownBy(() -> EtcdSettings.of(URI.create("http://a"), URI.create("https://b")))
                .hasMessageContaining("mixes http and https endpoints");
        EtcdSettings plain = EtcdSettings.of(URI.create("http://a"));
        assertThatThrownBy(() -> new EtcdSettings(
                        "x",
                        plain.endpoints(),
                        plain.discovery(),
                        plain.probeInterval(),
                        plain.requestTimeout(),
                        new TlsFiles(Path.of("ca"), null, null),
                        null))
                .hasMessageContaining("http:");
    }

    @Test
    void aUserWithoutPasswordIsRefused() {
        Configuration configuration = Configuration.load(
                null,
                Map.of("UNDERSTUDY_SOURCE_ENDPOINTS", "http://a:2379", "UNDERSTUDY_SOURCE_PASSWORD", "secret"),
                Map.of(),
                ROWS);

        assertThatThrownBy(() -> EtcdSettings.from("source", configuration.at("source")))
                .hasMessageContaining("user and password must be set together")
                .hasMessageNotContaining("secret");
    }

    @Test
    void anEndpointNamedTwiceIsOneSeed() {
        assertThat(EtcdSettings.of(URI.create("http://a:2379"), URI.create("http://A"))
                        .seeds())
                .containsExactly(Endpoint.of("http://a:2379"));
    }
}
