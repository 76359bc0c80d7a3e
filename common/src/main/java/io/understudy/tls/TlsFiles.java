package io.understudy.tls;

import java.nio.file.Path;
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

    public TlsFiles {
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException("a certificate and its key go together: certificate is "
                    + shown(certificate) + ", key is " + shown(key));
        }
    }

    private static String shown(@Nullable Path file) {
        return file == null ? "not given" : file.toString();
    }
}
