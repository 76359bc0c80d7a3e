package io.understudy.tls;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.understudy.tls.TlsContext.Modern;
import io.understudy.vocabulary.DaemonThreads;
import java.security.GeneralSecurityException;
import java.security.KeyManagementException;
import java.security.SecureRandom;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The server's side of TLS. Its files are read again when they change: new connections use their contents, and open
 * ones stay. Thread-safe.
 */
public final class TlsServer implements AutoCloseable {

    /** HTTP versions as in etcd: HTTP/2 where the client supports it. */
    private static final ApplicationProtocolConfig HTTP = new ApplicationProtocolConfig(
            ApplicationProtocolConfig.Protocol.ALPN,
            ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
            ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
            ApplicationProtocolNames.HTTP_2,
            ApplicationProtocolNames.HTTP_1_1);

    /** Handshakes that wait for a thread, before further connections are closed. */
    private static final int MOST_WAITING = 10_000;

    private static final long IDLE_SECONDS = 10;

    /** Lifetime of sessions, in which a certificate may expire: resumption does not present it again. */
    private static final int SESSION_SECONDS = 600;

    private final ReloadingMaterial material;
    private final ClientCertificates clients;
    /** Threads for handshakes, which would block an event loop for milliseconds. */
    private final ThreadPoolExecutor handshakes;

    /** Replaced at each reload, with the sessions that clients may resume. */
    private volatile SslContext current;

    /** The same for the JDK's servers. */
    private volatile SSLContext currentOfPlatform;

    private TlsServer(ReloadingMaterial material, ClientCertificates clients)
            throws SSLException, GeneralSecurityException {
        this.material = material;
        this.clients = clients;
        this.handshakes = handshakes();
        this.current = build();
        this.currentOfPlatform = buildOfPlatform();
        material.onReload(this::reloaded);
    }

    /**
     * Reads the files.
     *
     * @param files with a certificate
     * @throws TlsFileException if a file is missing, damaged, or doesn't fit the others
     */
    public static TlsServer of(TlsFiles files, ClientCertificates clients, MeterRegistry meters) {
        ReloadingMaterial material = new ReloadingMaterial("listener", files, false, meters);
        try {
            return new TlsServer(material, clients);
        } catch (SSLException | GeneralSecurityException e) {
            material.close();
            throw new IllegalStateException("TLS is not available on this Java platform", e);
        }
    }

    /** Returns the first handler of a connection of a Netty server. HTTP/2 or HTTP/1.1 is negotiated. */
    public SslHandler handler(ByteBufAllocator allocator) {
        SslHandler handler = current.newHandler(allocator, handshakes);
        handler.handshakeFuture().addListener(done -> material.metrics().shookHands(done.isSuccess()));
        return handler;
    }

    /** What it requires of clients. */
    public ClientCertificates clients() {
        return clients;
    }

    /** For the JDK's own servers. */
    public SSLContext platform() {
        return CurrentContext.of(() -> currentOfPlatform);
    }

    /** Parameters for connections of {@link #platform}. */
    public SSLParameters parameters() {
        SSLParameters parameters =
                new SSLParameters(Modern.SUITES.toArray(String[]::new), Modern.PROTOCOLS.toArray(String[]::new));
        switch (clients) {
            case NONE -> parameters.setNeedClientAuth(false);
            case OPTIONAL -> parameters.setWantClientAuth(true);
            case REQUIRED -> parameters.setNeedClientAuth(true);
        }
        return parameters;
    }

    /** Stops watching the files and accepts no more connections of Netty. Idempotent. */
    @Override
    public void close() {
        material.close();
        handshakes.shutdown();
    }

    private static ThreadPoolExecutor handshakes() {
        int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                threads,
                threads,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MOST_WAITING),
                DaemonThreads.named("tls-handshakes"));
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    private void reloaded() {
        try {
            current = build();
            currentOfPlatform = buildOfPlatform();
        } catch (SSLException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot rebuild the TLS context", e);
        }
    }

    private SSLContext buildOfPlatform() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {material.keys()}, new TrustManager[] {material.trust()}, null);
        context.getServerSessionContext().setSessionTimeout(SESSION_SECONDS);
        return context;
    }

    private SslContext build() throws SSLException {
        return SslContextBuilder.forServer(material.keys())
                .sslProvider(SslProvider.JDK)
                .protocols(Modern.PROTOCOLS)
                .ciphers(Modern.SUITES)
                .trustManager(material.trust())
                .clientAuth(
                        switch (clients) {
                            case NONE -> ClientAuth.NONE;
                            case OPTIONAL -> ClientAuth.OPTIONAL;
                            case REQUIRED -> ClientAuth.REQUIRE;
                        })
                .applicationProtocolConfig(HTTP)
                .sessionTimeout(SESSION_SECONDS)
                .build();
    }

    /** Delegates each connection to the current context, for servers that keep one context. */
    private static final class CurrentContext extends SSLContextSpi {

        private final Supplier<SSLContext> current;

        private CurrentContext(Supplier<SSLContext> current) {
            this.current = current;
        }

        static SSLContext of(Supplier<SSLContext> current) {
            SSLContext first = current.get();
            return new SSLContext(new CurrentContext(current), first.getProvider(), first.getProtocol()) {};
        }

        @Override
        protected void engineInit(
                KeyManager @Nullable [] keys, TrustManager @Nullable [] trust, @Nullable SecureRandom random)
                throws KeyManagementException {
            throw new KeyManagementException("SSL context is already initialized");
        }

        @Override
        protected SSLSocketFactory engineGetSocketFactory() {
            return current.get().getSocketFactory();
        }

        @Override
        protected SSLServerSocketFactory engineGetServerSocketFactory() {
            return current.get().getServerSocketFactory();
        }

        @Override
        protected SSLEngine engineCreateSSLEngine() {
            return current.get().createSSLEngine();
        }

        @Override
        protected SSLEngine engineCreateSSLEngine(String host, int port) {
            return current.get().createSSLEngine(host, port);
        }

        @Override
        protected SSLSessionContext engineGetServerSessionContext() {
            return current.get().getServerSessionContext();
        }

        @Override
        protected SSLSessionContext engineGetClientSessionContext() {
            return current.get().getClientSessionContext();
        }

        @Override
        protected SSLParameters engineGetDefaultSSLParameters() {
            return current.get().getDefaultSSLParameters();
        }

        @Override
        protected SSLParameters engineGetSupportedSSLParameters() {
            return current.get().getSupportedSSLParameters();
        }
    }
}
