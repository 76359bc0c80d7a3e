package io.understudy.tls;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/** The JDK's HTTP server, for pages with few clients. */
public final class HttpServers {

    private static final String MAX_EXCHANGE_SECONDS = "10";

    /** A client that shakes hands slowly holds one of them. */
    private static final int MOST_THREADS = 32;

    private static final long IDLE_SECONDS = 10;

    private HttpServers() {}

    /**
     * Returns threads for such a server, as many as are busy up to a bound. Connections beyond it are closed. The
     * caller shuts the threads down.
     */
    public static ExecutorService workers(String name) {
        return new ThreadPoolExecutor(
                0, MOST_THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), work -> {
                    Thread thread = new Thread(work, name);
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /**
     * One that listens, but accepts nothing yet.
     *
     * @param setting that the address comes from
     * @param tls null for plain text; closed if the address can't be listened at
     * @throws IOException it can't; the message names it
     */
    public static HttpServer bind(String setting, InetSocketAddress address, @Nullable TlsServer tls)
            throws IOException {
        // Read once, when the JDK's server is first used; by default a client that falls silent holds its thread for
        // ever.
        System.setProperty("sun.net.httpserver.maxReqTime", MAX_EXCHANGE_SECONDS);
        System.setProperty("sun.net.httpserver.maxRspTime", MAX_EXCHANGE_SECONDS);
        try {
            return tls == null ? HttpServer.create(address, 0) : secured(HttpsServer.create(address, 0), tls);
        } catch (IOException e) {
            if (tls != null) {
                tls.close();
            }
            throw new IOException(
                    setting + ": cannot listen on " + address.getHostString() + ":" + address.getPort() + ": "
                            + e.getMessage(),
                    e);
        }
    }

    private static HttpServer secured(HttpsServer server, TlsServer tls) {
        SSLParameters accepted = tls.parameters();
        server.setHttpsConfigurator(new HttpsConfigurator(tls.platform()) {
            @Override
            public void configure(HttpsParameters connection) {
                connection.setSSLParameters(accepted);
            }
        });
        return server;
    }
}
