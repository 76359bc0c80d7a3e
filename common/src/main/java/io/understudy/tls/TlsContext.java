package io.understudy.tls;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** The client's side of TLS, ready for connections. Immutable; its files have been read. */
public final class TlsContext {

    private static final char[] NO_PASSWORD = {};

    private final SslContext grpc;
    private final SSLContext http;

    private TlsContext(SslContext grpc, SSLContext http) {
        this.grpc = grpc;
        this.http = http;
    }

    /**
     * Reads the files.
     *
     * @param files null for the platform's trust and no certificate of our own
     * @throws TlsFileException if a file is missing, damaged, or doesn't fit the others
     */
    public static TlsContext of(@Nullable TlsFiles files) {
        try {
            @Nullable KeyManagerFactory keys = keys(files);
            TrustManagerFactory trust = trust(files);
            SSLContext http = SSLContext.getInstance("TLS");
            http.init(
                    keys == null ? new KeyManager[0] : keys.getKeyManagers(),
                    trust.getTrustManagers() == null ? new TrustManager[0] : trust.getTrustManagers(),
                    null);
            return new TlsContext(grpc(keys, trust), http);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("this Java platform lacks what TLS needs", e);
        }
    }

    /** For a gRPC channel: HTTP/2 is negotiated. */
    public SslContext forGrpc() {
        return grpc;
    }

    /** Gives the JDK's HTTP client the same trust and certificate. */
    public HttpClient.Builder applyTo(HttpClient.Builder builder) {
        return builder.sslContext(http);
    }

    private static SslContext grpc(@Nullable KeyManagerFactory keys, TrustManagerFactory trust) throws SSLException {
        SslContextBuilder builder = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .protocols("TLSv1.3", "TLSv1.2")
                .trustManager(trust)
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        ApplicationProtocolConfig.Protocol.ALPN,
                        ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                        ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_2));
        return (keys == null ? builder : builder.keyManager(keys)).build();
    }

    private static @Nullable KeyManagerFactory keys(@Nullable TlsFiles files)
            throws GeneralSecurityException, IOException {
        Path certificate = files == null ? null : files.certificate();
        Path key = files == null ? null : files.key();
        if (certificate == null || key == null) {
            return null;
        }
        List<X509Certificate> chain = Pem.certificates(certificate);
        KeyStore store = emptyStore();
        store.setKeyEntry(
                "own", Pem.key(key, certificate, chain.get(0)), NO_PASSWORD, chain.toArray(X509Certificate[]::new));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory;
    }

    private static TrustManagerFactory trust(@Nullable TlsFiles files) throws GeneralSecurityException, IOException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        Path trusted = files == null ? null : files.trusted();
        if (trusted == null) {
            factory.init((KeyStore) null);
            return factory;
        }
        KeyStore store = emptyStore();
        List<X509Certificate> authorities = Pem.certificates(trusted);
        for (int i = 0; i < authorities.size(); i++) {
            store.setCertificateEntry("authority-" + i, authorities.get(i));
        }
        factory.init(store);
        return factory;
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        return store;
    }
}
