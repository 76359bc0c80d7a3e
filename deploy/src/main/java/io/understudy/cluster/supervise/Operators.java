package io.understudy.cluster.supervise;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsExchange;
import io.understudy.tls.ClientCertificates;
import javax.net.ssl.SSLPeerUnverifiedException;

/** Who may tell a supervisor what to do. */
final class Operators {

    private Operators() {}

    /**
     * Whether the request is of somebody on this machine, and of none of its other users where clients are asked for
     * certificates: they, and a proxy, come from this machine too.
     */
    static boolean include(HttpExchange exchange, ClientCertificates clients) {
        // A browser adds an Origin to what a page of somebody else's makes it send.
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
