package io.understudy.tls;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files one side of a TLS connection uses.
 *
 * @param trusted certificates of the authorities by which the other side is verified; null for the platform's own
 * @param certificate this side's certificate, followed by its intermediates; null to show none
 * @param key the certificate's private key, PKCS #8, unencrypted; null exactly when {@code certificate} is
 */
public record TlsFiles(
        @Nullable Path trusted,
        @Nullable Path certificate,
        @Nullable Path key) {

    private static final Setting<Path> TRUSTED = Setting.path(
                    "tls.trusted",
                    "PEM file with the certificates of the authorities that the other side is verified by; by"
                            + " default the platform's.")
            .optionally()
            .example("/etc/understudy/ca.crt");
    private static final Setting<Path> CERTIFICATE = Setting.path(
                    "tls.certificate", "PEM file with this side's certificate, then its intermediates.")
            .optionally()
            .example("/etc/understudy/client.crt");
    private static final Setting<Path> KEY = Setting.path(
                    "tls.key", "PEM file with the certificate's private key, PKCS #8 without a password.")
            .optionally()
            .example("/etc/understudy/client.key");

    /** The files as rows, all optional. */
    public static final List<Setting<?>> ROWS = List.of(TRUSTED, CERTIFICATE, KEY);

    public TlsFiles {
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException("a certificate and its key go together: certificate is "
                    + shown(certificate) + ", key is " + shown(key));
        }
    }

    /**
     * What {@link #ROWS} say; empty if none of them is given.
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
        return Optional.of(new TlsFiles(trusted.orElse(null), certificate.orElse(null), key.orElse(null)));
    }

    private static String shown(@Nullable Path file) {
        return file == null ? "not given" : file.toString();
    }
}
