package io.understudy.tls;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files one side of a TLS connection uses.
 *
 * <p>Invariant T3: a missing, damaged or mismatched file is reported by name before any connection is made.
 *
 * @param trusted certificates of the authorities by which the other side is verified; null for the platform's own
 * @param certificate this side's certificate, followed by its intermediates; null to show none
 * @param key the certificate's private key, PKCS #8, unencrypted; null exactly when {@code certificate} is
 * @param reloadInterval pause between two looks at the files, 100 ms to 1 h
 */
public record TlsFiles(
        @Nullable Path trusted,
        @Nullable Path certificate,
        @Nullable Path key,
        Duration reloadInterval) {

    public static final Duration DEFAULT_RELOAD_INTERVAL = Duration.ofSeconds(10);

    private static final Setting<Path> TRUSTED = Setting.path(
                    "tls.trusted",
                    "PEM file with the CA certificates used to verify the peer; by"
                            + " default, the platform's trust store.")
            .optionally()
            .example("/etc/understudy/ca.crt");
    private static final Setting<Path> CERTIFICATE = Setting.path(
                    "tls.certificate", "PEM file with the client certificate, followed by intermediates.")
            .optionally()
            .example("/etc/understudy/client.crt");
    private static final Setting<Path> KEY = Setting.path(
                    "tls.key", "PEM file with the private key of the certificate, in unencrypted PKCS #8.")
            .optionally()
            .example("/etc/understudy/client.key");

    static final Setting<Duration> RELOAD_INTERVAL = Setting.duration(
                    "tls.reloadInterval",
                    "Interval of checks for changed TLS files. Changes apply to new connections; open connections are"
                            + " kept.")
            .defaultsTo(DEFAULT_RELOAD_INTERVAL)
            .between(Duration.ofMillis(100), Duration.ofHours(1));

    /** The files as rows, all optional. */
    public static final List<Setting<?>> ROWS = List.of(TRUSTED, CERTIFICATE, KEY, RELOAD_INTERVAL);

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
     * What {@link #ROWS} say; empty if no file is given.
     *
     * @throws IllegalArgumentException for a certificate without a key or the reverse
     */
    public static Optional<TlsFiles> from(Configuration group) {
        Optional<Path> trusted = group.find(TRUSTED);
        Optional<Path> certificate = group.find(CERTIFICATE);
        Optional<Path> key = group.find(KEY);
        if (trusted.isEmpty() && certificate.isEmpty() && key.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new TlsFiles(
                trusted.orElse(null), certificate.orElse(null), key.orElse(null), group.get(RELOAD_INTERVAL)));
    }

    /**
     * Reads the files, and forgets what they hold.
     *
     * @throws TlsFileException if a file is missing, damaged, or does not fit the others
     */
    public void requireReadable() {
        var unused = TlsMaterial.read(this, "check");
    }

    List<Path> all() {
        return Stream.of(trusted, certificate, key).filter(Objects::nonNull).toList();
    }

    private static String shown(@Nullable Path file) {
        return file == null ? "not set" : file.toString();
    }
}
