package io.understudy.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invariant T1b. */
final class ListenerSecurityTest {

    private static final String CERTIFICATE = "tls.certificate";
    private static final String KEY = "tls.key";
    private static final String TRUSTED = "tls.trusted";
    private static final String CLIENTS = "tls.clients";
    private static final TlsFiles FILES = new TlsFiles(null, Path.of("/s.crt"), Path.of("/s.key"));

    @Test
    void nothingIsProtectedByDefault() {
        assertThat(from(Map.of())).isEqualTo(ListenerSecurity.PLAIN);
    }

    @Test
    void readsAllThatIsGiven() {
        assertThat(from(Map.of(
                        CERTIFICATE,
                        "/s.crt",
                        KEY,
                        "/s.key",
                        TRUSTED,
                        "/ca.crt",
                        CLIENTS,
                        "required",
                        "tls.reloadInterval",
                        "1m")))
                .isEqualTo(new ListenerSecurity(
                        new TlsFiles(Path.of("/ca.crt"), Path.of("/s.crt"), Path.of("/s.key"), Duration.ofMinutes(1)),
                        ClientCertificates.REQUIRED,
                        false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "localhost:1"})
    void plainTextMayBeSpokenWithThisMachine(String listen) {
        assertThatCode(() -> ListenerSecurity.PLAIN.require("listen", HostPort.parse(listen)))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0:2379", "[::]:2379", "10.0.0.7:2379", "no-such-host.invalid:2379"})
    void plainTextWithOthersIsRefusedUnlessWrittenDown(String listen) {
        HostPort at = HostPort.parse(listen);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> ListenerSecurity.PLAIN.require("rest.listen", at))
                .withMessage("rest.listen is " + listen + ", which would accept plaintext from other hosts;"
                        + " set tls.certificate and tls.key, use a loopback address such as 127.0.0.1,"
                        + " or set insecure: true");
        assertThatCode(() -> from(Map.of("insecure", "true")).require("rest.listen", at))
                .doesNotThrowAnyException();
        assertThatCode(() -> new ListenerSecurity(FILES, ClientCertificates.NONE, false).require("rest.listen", at))
                .doesNotThrowAnyException();
    }

    @Test
    void aCertificateIsNeededForAnythingElse() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> from(Map.of(TRUSTED, "/ca.crt")))
                .withMessageContaining("tls.trusted is /ca.crt; a listener also requires tls.certificate and tls.key");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> from(Map.of(CERTIFICATE, "/s.crt")))
                .withMessageContaining("key is not set");
    }

    @ParameterizedTest
    @ValueSource(strings = {"optional", "required"})
    void clientsCanOnlyBeVerifiedByAuthorities(String clients) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> from(Map.of(CERTIFICATE, "/s.crt", KEY, "/s.key", CLIENTS, clients)))
                .withMessageContaining("tls.clients is " + clients)
                .withMessageContaining("set tls.certificate, tls.key and tls.trusted");
    }

    @Test
    void authoritiesWithoutClientVerificationAreRejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> from(Map.of(CERTIFICATE, "/s.crt", KEY, "/s.key", TRUSTED, "/ca.crt")))
                .withMessageContaining("tls.clients is none")
                .withMessageContaining("set tls.clients to optional or required");
    }

    @Test
    void plainTextAndACertificateExcludeEachOther() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> from(Map.of(CERTIFICATE, "/s.crt", KEY, "/s.key", "insecure", "true")))
                .withMessageContaining("insecure is true, but tls.certificate is /s.crt");
    }

    private static ListenerSecurity from(Map<String, String> flags) {
        return Configuration.load(null, Map.of(), flags, Binder.rows(ListenerSecurity.class))
                .bind(ListenerSecurity.class);
    }
}
