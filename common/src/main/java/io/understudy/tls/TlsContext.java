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
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** The client's side of TLS, ready for connections. Immutable; its files have been read. */
public final class TlsContext {

    private static final char[] NO_PASSWORD = {};

    private static final ApplicationProtocolConfig HTTP_2 = new ApplicationProtocolConfig(
            ApplicationProtocolConfig.Protocol.ALPN,
            ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
            ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
            ApplicationProtocolNames.HTTP_2);

    private final SslContext grpc;
    private final SslContext http;
    private final SSLContext platform;

    private TlsContext(SslContext grpc, SslContext http, SSLContext platform) {
        this.grpc = grpc;
        this.http = http;
        this.platform = platform;
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
            SSLContext platform = SSLContext.getInstance("TLS");
            platform.init(
                    keys == null ? new KeyManager[0] : keys.getKeyManagers(),
                    trust.getTrustManagers() == null ? new TrustManager[0] : trust.getTrustManagers(),
                    null);
            return new TlsContext(
                    client(keys, trust).applicationProtocolConfig(HTTP_2).build(),
                    client(keys, trust).build(),
                    platform);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("this Java platform lacks what TLS needs", e);
        }
    }

    /** For a gRPC channel: HTTP/2 is negotiated. */
    public SslContext forGrpc() {
        return grpc;
    }

    /** For a connection that speaks HTTP/1.1: nothing is negotiated. The other side must be the host it is named as. */
    public SslContext forHttp() {
        return http;
    }

    /** Gives the JDK's HTTP client the same trust and certificate. */
    public HttpClient.Builder applyTo(HttpClient.Builder builder) {
        return builder.sslContext(platform);
    }

    private static SslContextBuilder client(@Nullable KeyManagerFactory keys, TrustManagerFactory trust) {
        SslContextBuilder builder = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .protocols("TLSv1.3", "TLSv1.2")
                .endpointIdentificationAlgorithm("HTTPS")
                .trustManager(trust);
        return keys == null ? builder : builder.keyManager(keys);
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
