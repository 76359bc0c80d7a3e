package io.understudy.tls;

import com.google.common.base.Suppliers;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLEngine;
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

    /** Trusts certificates of the current authorities. */
    static final class CurrentTrust extends X509ExtendedTrustManager {

        private final Supplier<X509ExtendedTrustManager> current;

        CurrentTrust(Supplier<X509ExtendedTrustManager> current) {
            this.current = current;
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) throws CertificateException {
            current.get().checkClientTrusted(chain, kind);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind, Socket socket)
                throws CertificateException {
            current.get().checkClientTrusted(chain, kind, socket);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind, SSLEngine engine)
                throws CertificateException {
            current.get().checkClientTrusted(chain, kind, engine);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) throws CertificateException {
            current.get().checkServerTrusted(chain, kind);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind, Socket socket)
                throws CertificateException {
            current.get().checkServerTrusted(chain, kind, socket);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind, SSLEngine engine)
                throws CertificateException {
            current.get().checkServerTrusted(chain, kind, engine);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return current.get().getAcceptedIssuers();
        }
    }

    /**
     * Presents the certificate that is current when a handshake begins. Its key is used to the handshake's end, even after
     * a reload.
     */
    static final class CurrentKeys extends X509ExtendedKeyManager {

        private final Supplier<@Nullable X509ExtendedKeyManager> current;
        private final Supplier<@Nullable X509ExtendedKeyManager> previous;

        CurrentKeys(
                Supplier<@Nullable X509ExtendedKeyManager> current,
                Supplier<@Nullable X509ExtendedKeyManager> previous) {
            this.current = current;
            this.previous = previous;
        }

        @Override
        public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
            return ofCurrent(keys -> keys.getClientAliases(keyType, issuers));
        }

        @Override
        public @Nullable String chooseClientAlias(
                String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return ofCurrent(keys -> keys.chooseClientAlias(keyType, issuers, socket));
        }

        @Override
        public @Nullable String chooseEngineClientAlias(
                String[] keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
            return ofCurrent(keys -> keys.chooseEngineClientAlias(keyType, issuers, engine));
        }

        @Override
        public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
            return ofCurrent(keys -> keys.getServerAliases(keyType, issuers));
        }

        @Override
        public @Nullable String chooseServerAlias(
                String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return ofCurrent(keys -> keys.chooseServerAlias(keyType, issuers, socket));
        }

        @Override
        public @Nullable String chooseEngineServerAlias(
                String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
            return ofCurrent(keys -> keys.chooseEngineServerAlias(keyType, issuers, engine));
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            return byAlias(keys -> keys.getCertificateChain(alias));
        }

        @Override
        public @Nullable PrivateKey getPrivateKey(String alias) {
            return byAlias(keys -> keys.getPrivateKey(alias));
        }

        private <T> @Nullable T byAlias(Function<X509ExtendedKeyManager, @Nullable T> property) {
            T found = ofCurrent(property);
            return found == null ? of(previous.get(), property) : found;
        }

        private <T> @Nullable T ofCurrent(Function<X509ExtendedKeyManager, @Nullable T> property) {
            return of(current.get(), property);
        }

        private static <T> @Nullable T of(
                @Nullable X509ExtendedKeyManager keys, Function<X509ExtendedKeyManager, @Nullable T> property) {
            return keys == null ? null : property.apply(keys);
        }
    }
}
