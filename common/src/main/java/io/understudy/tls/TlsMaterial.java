package io.understudy.tls;

import com.google.common.base.Suppliers;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * What the files of one side held when they were read.
 *
 * @param keys this side's certificate and key; null to show none
 * @param trust what the other side is verified by
 * @param expires when the first of this side's certificates does; null if it has none
 */
record TlsMaterial(
        @Nullable X509ExtendedKeyManager keys,
        X509ExtendedTrustManager trust,
        @Nullable Instant expires) {

    private static final char[] NO_PASSWORD = {};

    /**
     * Reads the files.
     *
     * @param files null for the platform's trust and no certificate of our own
     * @param alias what this certificate is called among those of its side, earlier ones included
     * @throws TlsFileException if a file is missing, damaged, or doesn't fit the others
     */
    static TlsMaterial read(@Nullable TlsFiles files, String alias) {
        try {
            Path certificate = files == null ? null : files.certificate();
            Path key = files == null ? null : files.key();
            X509ExtendedTrustManager trust = trust(files == null ? null : files.trusted());
            if (certificate == null || key == null) {
                return new TlsMaterial(null, trust, null);
            }
            List<X509Certificate> chain = Pem.certificates(certificate);
            Instant expires = chain.stream()
                    .map(each -> each.getNotAfter().toInstant())
                    .min(Instant::compareTo)
                    .orElseThrow();
            return new TlsMaterial(keys(certificate, chain, key, alias), trust, expires);
        } catch (GeneralSecurityException | IOException e) {
            throw lacking(e);
        }
    }

    private static X509ExtendedKeyManager keys(Path certificate, List<X509Certificate> chain, Path key, String alias)
            throws GeneralSecurityException, IOException {
        KeyStore store = emptyStore();
        store.setKeyEntry(
                alias, Pem.key(key, certificate, chain.get(0)), NO_PASSWORD, chain.toArray(X509Certificate[]::new));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return only(X509ExtendedKeyManager.class, factory.getKeyManagers());
    }

    private static X509ExtendedTrustManager trust(@Nullable Path trusted) throws GeneralSecurityException, IOException {
        return trusted == null
                // A hundred authorities and more, read only when one is needed.
                ? new CurrentTrust(Suppliers.memoize(TlsMaterial::trustOfPlatform))
                : trust(store(Pem.certificates(trusted)));
    }

    private static X509ExtendedTrustManager trustOfPlatform() {
        try {
            return trust((KeyStore) null);
        } catch (GeneralSecurityException e) {
            throw lacking(e);
        }
    }

    /** @param authorities null for the platform's */
    private static X509ExtendedTrustManager trust(@Nullable KeyStore authorities) throws GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(authorities);
        return only(X509ExtendedTrustManager.class, factory.getTrustManagers());
    }

    private static IllegalStateException lacking(Exception what) {
        return new IllegalStateException("TLS is not available on this Java platform", what);
    }

    private static KeyStore store(List<X509Certificate> authorities) throws GeneralSecurityException, IOException {
        KeyStore store = emptyStore();
        for (int i = 0; i < authorities.size(); i++) {
            store.setCertificateEntry("authority-" + i, authorities.get(i));
        }
        return store;
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        return store;
    }

    private static <T> T only(Class<T> kind, Object[] managers) throws GeneralSecurityException {
        return Arrays.stream(managers)
                .filter(kind::isInstance)
                .map(kind::cast)
                .findFirst()
                .orElseThrow(() -> new GeneralSecurityException("no " + kind.getSimpleName() + " available"));
    }
}
