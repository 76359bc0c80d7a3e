package io.understudy.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.local.certificate.Certificates;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invariant T3. */
final class TlsContextTest {

    @TempDir
    static Path folder;

    private static Certificates certificates;
    private static final Map<String, Certificates.Pair> MADE = new HashMap<>();

    /** Once for all tests: making a key takes a second. */
    @BeforeAll
    static void make() throws Exception {
        certificates = new Certificates(folder);
        for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
            MADE.put(algorithm, certificates.make("own-" + algorithm, algorithm));
            MADE.put("other " + algorithm, certificates.make("other-" + algorithm, algorithm));
        }
    }

    @Test
    void withoutFilesThePlatformsTrustCounts() {
        assertThat(TlsContext.of(null).forGrpc().isClient()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC", "Ed25519"})
    void readsCertificatesAndKeysOfEveryUsualKind(String algorithm) {
        Certificates.Pair own = MADE.get(algorithm);

        TlsContext context = TlsContext.of(new TlsFiles(own.certificate(), own.certificate(), own.key()));

        assertThat(context.forGrpc().applicationProtocolNegotiator().protocols())
                .containsExactly("h2");
        assertThat(context.forHttp().applicationProtocolNegotiator().protocols())
                .isEmpty();
        assertThat(context.applyTo(HttpClient.newBuilder()).build().sslContext().getProtocol())
                .isEqualTo("TLS");
    }

    @Test
    void aMissingFileIsNamed() {
        Path none = folder.resolve("none.crt");

        assertThatThrownBy(() -> TlsContext.of(new TlsFiles(none, null, null)))
                .isInstanceOf(TlsFileException.class)
                .hasMessage(none + ": no such file");
        assertThatThrownBy(() -> TlsContext.of(new TlsFiles(folder, null, null)))
                .hasMessage(folder + ": cannot be read: Is a directory");
    }

    @Test
    void aFileOfAConfigurationIsReportedWithItsPlace() {
        Path none = folder.resolve("none.crt");

        assertThatThrownBy(() -> TlsFileException.at(
                        "mirrors.dr.source.tls", () -> TlsContext.of(new TlsFiles(none, null, null))))
                .isInstanceOfSatisfying(TlsFileException.class, failure -> assertThat(failure.isConfigured())
                        .isTrue())
                .hasMessage("mirrors.dr.source.tls: " + none + ": no such file");
    }

    @Test
    void aFileWithoutACertificateIsNamed() {
        Certificates.Pair own = MADE.get("EC");

        assertThatThrownBy(() -> TlsContext.of(new TlsFiles(own.key(), null, null)))
                .isInstanceOf(TlsFileException.class)
                .hasMessage(own.key() + ": contains no PEM certificate");
    }

    @Test
    void aDamagedCertificateIsNamed() throws IOException {
        Path damaged = certificates.write("damaged.crt", "CERTIFICATE", new byte[] {1, 2, 3});

        assertThatThrownBy(() -> TlsContext.of(new TlsFiles(damaged, null, null)))
                .isInstanceOf(TlsFileException.class)
                .hasMessageStartingWith(damaged + ": contains an invalid certificate");
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC"})
    void theKeyOfAnotherCertificateIsNamedWithBothFiles(String algorithm) {
        Certificates.Pair own = MADE.get(algorithm);
        Certificates.Pair other = MADE.get("other " + algorithm);

        assertThatThrownBy(() -> TlsContext.of(new TlsFiles(null, own.certificate(), other.key())))
                .isInstanceOf(TlsFileException.class)
                .hasMessage(other.key() + ": does not match the certificate in " + own.certificate());
    }

    @Test
    void aKeyOfAnotherKindThanItsCertificateIsNamed() {
        Certificates.Pair own = MADE.get("RSA");
        Certificates.Pair other = MADE.get("other EC");

        assertThatThrownBy(() -> TlsContext.of(new TlsFiles(null, own.certificate(), other.key())))
                .isInstanceOf(TlsFileException.class)
                .hasMessage(other.key() + ": contains no RSA key, which the certificate requires");
    }

    /** PKCS #1 and SEC 1, as kubeadm and cfssl write keys. */
    @ParameterizedTest
    @CsvSource({"RSA, RSA PRIVATE KEY, 26", "EC, EC PRIVATE KEY, 28"})
    void readsTraditionalKeys(String algorithm, String kind, int header) throws Exception {
        Certificates.Pair own = MADE.get(algorithm);
        X509Certificate certificate = Pem.certificates(own.certificate()).get(0);
        PrivateKey key = Pem.key(own.key(), own.certificate(), certificate);
        byte[] wrapped = key.getEncoded();
        byte[] traditional = Arrays.copyOfRange(wrapped, header, wrapped.length);

        Path old = certificates.write("traditional.key", kind, traditional);

        assertThat(Pem.key(old, own.certificate(), certificate)).isEqualTo(key);
    }

    @Test
    void anEncryptedKeyIsNamedWithTheCommandThatConvertsIt() throws IOException {
        Certificates.Pair own = MADE.get("EC");
        Path old = certificates.write("old.key", "ENCRYPTED PRIVATE KEY", new byte[] {1});

        assertThatThrownBy(() -> TlsContext.of(new TlsFiles(null, own.certificate(), old)))
                .isInstanceOf(TlsFileException.class)
                .hasMessageContaining(old + ": contains 'ENCRYPTED PRIVATE KEY', but an unencrypted private key")
                .hasMessageContaining("openssl pkcs8 -topk8 -nocrypt -in " + old);
    }

    @Test
    void aFileWithoutAKeyIsNamed() throws IOException {
        Certificates.Pair own = MADE.get("EC");
        Path empty = Files.writeString(folder.resolve("empty.key"), "");

        assertThatThrownBy(() -> TlsContext.of(new TlsFiles(null, own.certificate(), empty)))
                .hasMessage(empty + ": contains no PEM private key");
    }

    @Test
    void aCertificateAndItsKeyGoTogether() {
        Path file = folder.resolve("x");

        assertThatThrownBy(() -> new TlsFiles(null, file, null)).hasMessageContaining("key is not set");
        assertThatThrownBy(() -> new TlsFiles(null, null, file)).hasMessageContaining("certificate is not set");
    }
}
