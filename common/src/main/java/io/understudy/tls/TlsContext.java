package io.understudy.tls;

import com.google.common.base.Suppliers;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.net.http.HttpClient;
import java.security.GeneralSecurityException;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of TLS. Its files are read again when they change: new connections use their contents, and open
 * ones stay. Thread-safe.
 *
 * <p>Invariant T4: nothing is sent to a server without a trusted certificate.
 */
public final class TlsContext implements AutoCloseable {

    private static final ApplicationProtocolConfig HTTP_2 = new ApplicationProtocolConfig(
            ApplicationProtocolConfig.Protocol.ALPN,
            ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
            ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
            ApplicationProtocolNames.HTTP_2);

    private final ReloadingMaterial material;
    // Created on first use: most processes need one of them alone, and each delays the start.
    private final Supplier<SslContext> grpc;
    private final Supplier<SslContext> http;
    private final Supplier<SSLContext> platform;

    private TlsContext(ReloadingMaterial material) {
        this.material = material;
        this.grpc = Suppliers.memoize(() -> built(client(material).applicationProtocolConfig(HTTP_2)));
        this.http = Suppliers.memoize(() -> built(client(material)));
        this.platform = Suppliers.memoize(() -> platform(material));
    }

    /**
     * Reads the files.
     *
     * @param name what logs and metrics call the other side
     * @param files null for the platform's trust and no certificate of our own
     * @throws TlsFileException if a file is missing, damaged, or doesn't fit the others
     */
    public static TlsContext of(String name, @Nullable TlsFiles files, MeterRegistry meters) {
        return of(name, files, false, meters);
    }

    /**
     * Likewise, with a certificate that etcd maps to no user.
     *
     * @throws TlsFileException also if it has a common name
     */
    public static TlsContext nameless(String name, @Nullable TlsFiles files, MeterRegistry meters) {
        return of(name, files, true, meters);
    }

    /** Whether TLS itself reports the failure of a connection. */
    public static boolean isFailure(Throwable failure) {
        return failure instanceof SSLException;
    }

    private static TlsContext of(String name, @Nullable TlsFiles files, boolean nameless, MeterRegistry meters) {
        ReloadingMaterial material = new ReloadingMaterial(name, files, nameless, meters);
        TlsContext context = new TlsContext(material);
        if (files != null) {
            material.onReload(context::forgetSessions);
        }
        return context;
    }

    /** Likewise, without metrics. */
    public static TlsContext of(@Nullable TlsFiles files) {
        return of("client", files, new CompositeMeterRegistry());
    }

    /** For a gRPC channel: HTTP/2 is negotiated. */
    public SslContext forGrpc() {
        return grpc.get();
    }

    /** For a connection that speaks HTTP/1.1: nothing is negotiated. The other side must be the host it is named as. */
    public SslContext forHttp() {
        return http.get();
    }

    /** Gives the JDK's HTTP client the same trust and certificate. */
    public HttpClient.Builder applyTo(HttpClient.Builder builder) {
        return builder.sslContext(platform());
    }

    /** For callers that create the JDK's HTTP client themselves. */
    public SSLContext platform() {
        return platform.get();
    }

    /** Trust manager of {@link #platform}. */
    public X509TrustManager trust() {
        return material.trust();
    }

    /** Looks at the files no more; connections can still be made. Idempotent. */
    @Override
    public void close() {
        material.close();
    }

    /** Invalidates sessions, since resumption skips the certificate and the authorities of the new files. */
    private void forgetSessions() {
        for (SSLSessionContext sessions : List.of(
                forGrpc().sessionContext(),
                forHttp().sessionContext(),
                platform().getClientSessionContext())) {
            for (byte[] id : Collections.list(sessions.getIds())) {
                SSLSession session = sessions.getSession(id);
                if (session != null) {
                    session.invalidate();
                }
            }
        }
    }

    private static SslContext built(SslContextBuilder builder) {
        try {
            return builder.build();
        } catch (SSLException e) {
            throw lacking(e);
        }
    }

    private static SSLContext platform(ReloadingMaterial material) {
        try {
            SSLContext made = SSLContext.getInstance("TLS");
            made.init(
                    material.hasKeys() ? new KeyManager[] {material.keys()} : new KeyManager[0],
                    new TrustManager[] {material.trust()},
                    null);
            return made;
        } catch (GeneralSecurityException e) {
            throw lacking(e);
        }
    }

    private static IllegalStateException lacking(Exception what) {
        return new IllegalStateException("TLS is not available on this Java platform", what);
    }

    private static SslContextBuilder client(ReloadingMaterial material) {
        SslContextBuilder builder = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .protocols(Modern.PROTOCOLS)
                .ciphers(Modern.SUITES)
                .endpointIdentificationAlgorithm("HTTPS")
                .trustManager(material.trust());
        return material.hasKeys() ? builder.keyManager(material.keys()) : builder;
    }

    /** The negotiated protocols and cipher suites: TLS 1.2 with forward secrecy, or newer. */
    static final class Modern {

        static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

        static final List<String> SUITES = List.of(
                "TLS_AES_128_GCM_SHA256",
                "TLS_AES_256_GCM_SHA384",
                "TLS_CHACHA20_POLY1305_SHA256",
                "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
                "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

        private Modern() {}
    }
}
