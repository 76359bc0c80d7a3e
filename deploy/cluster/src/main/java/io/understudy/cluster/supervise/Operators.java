package io.understudy.cluster.supervise;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsExchange;
import io.understudy.tls.ClientCertificates;
import javax.net.ssl.SSLPeerUnverifiedException;

/** The requests that may change the state of a supervisor. */
final class Operators {

    private Operators() {}

    /**
     * Whether the request is from this machine and, if client certificates are used, has one.
     *
     * <p>Other users of this machine, and a proxy on it, have this machine's address too.
     */
    static boolean include(HttpExchange exchange, ClientCertificates clients) {
        // A browser adds an Origin to requests that a foreign page makes.
        return exchange.getRemoteAddress().getAddress().isLoopbackAddress()
                && !exchange.getRequestHeaders().containsKey("Origin")
                && (clients == ClientCertificates.NONE || showsCertificate(exchange));
    }

    private static boolean showsCertificate(HttpExchange exchange) {
        try {
            return exchange instanceof HttpsExchange secured
                    && secured.getSSLSession().getPeerPrincipal() != null;
        } catch (SSLPeerUnverifiedException e) {
            return false;
        }
    }
}
