package io.understudy.tls;

import io.understudy.config.Configured;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files one side of a TLS connection uses.
 *
 * <p>Invariant T3: a missing, damaged or mismatched file is reported by name before any connection is made.
 *
 * @param trusted null for the platform's trust store
 * @param certificate null to show none
 * @param key null exactly when {@code certificate} is
 */
@Configured.Group("tls")
public record TlsFiles(
        @Configured(
                value =
                        "PEM file with the CA certificates used to verify the peer; by default, the platform's trust store.",
                example = "/etc/understudy/ca.crt")
        @Nullable Path trusted,

        @Configured(
                value = "PEM file with the client certificate, followed by intermediates.",
                example = "/etc/understudy/client.crt")
        @Nullable Path certificate,

        @Configured(
                value = "PEM file with the private key of the certificate, unencrypted.",
                example = "/etc/understudy/client.key")
        @Nullable Path key,

        @Configured(value = RELOAD_DOC, byDefault = "10s", range = "100ms..1h")
        Duration reloadInterval) {

    static final String RELOAD_DOC = "Interval of checks for changed TLS files. Changes apply to new connections; open"
            + " connections are kept.";

    public static final Duration DEFAULT_RELOAD_INTERVAL = Duration.ofSeconds(10);

    public TlsFiles {
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException("tls.certificate and tls.key must be set together: tls.certificate is "
                    + shown(certificate) + ", tls.key is " + shown(key));
        }
        if (reloadInterval.isNegative() || reloadInterval.isZero()) {
            throw new IllegalArgumentException("tls.reloadInterval is " + reloadInterval + "; must be positive");
        }
    }

    /** Looked at every {@link #DEFAULT_RELOAD_INTERVAL}. */
    public TlsFiles(@Nullable Path trusted, @Nullable Path certificate, @Nullable Path key) {
        this(trusted, certificate, key, DEFAULT_RELOAD_INTERVAL);
    }

    /**
     * Reads the files, and forgets what they hold.
     *
     * @throws TlsFileException if a file is missing, damaged, or does not fit the others
     */
    public void requireReadable() {
        var unused = TlsMaterial.read(this, "check");
    }

    /**
     * Reads the files; etcd must map the certificate to no user.
     *
     * @throws TlsFileException also if it has a common name
     */
    public void requireNameless() {
        if (certificate != null) {
            String common = CommonName.of(Pem.certificates(certificate).get(0));
            if (common == null || !common.isEmpty()) {
                throw new TlsFileException(
                        certificate,
                        "its common name is " + (common == null ? "not text" : "'" + common + "'")
                                + ", which etcd would use as the user name; use a certificate without a common name");
            }
        }
        requireReadable();
    }

    List<Path> all() {
        return Stream.of(trusted, certificate, key).filter(Objects::nonNull).toList();
    }

    private static String shown(@Nullable Path file) {
        return file == null ? "not set" : file.toString();
    }
}
