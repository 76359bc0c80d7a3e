package io.understudy.gateway.caller;

import io.vertx.core.http.HttpConnection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The sessions of the connections on one event loop, on which alone it is used. */
public final class Sessions {

    private final Map<HttpConnection, Session> open = new HashMap<>();

    /** The connection's, for as long as it is open. */
    public Session of(HttpConnection connection) {
        Session known = open.get(connection);
        if (known != null) {
            return known;
        }
        Session session = new Session(Peer.of(connection.sslSession()));
        open.put(connection, session);
        connection.closeHandler(closed -> open.remove(connection));
        return session;
    }

    /** How many connections have one. */
    public int count() {
        return open.size();
    }

    /** Ends all connections, once what is under way on them has ended, for a moment. */
    public void disconnect() {
        for (HttpConnection connection : List.copyOf(open.keySet())) {
            var unused = connection.shutdown(1, TimeUnit.SECONDS);
        }
    }
}
