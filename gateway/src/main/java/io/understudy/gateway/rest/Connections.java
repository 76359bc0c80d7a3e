package io.understudy.gateway.rest;

import io.understudy.gateway.caller.Peer;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.server.Admission;
import io.understudy.gateway.server.LoopLoad;
import io.vertx.core.http.HttpConnection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The open connections of one event loop. Confined to it. */
final class Connections {

    private final Map<HttpConnection, Client> open = new HashMap<>();
    private final LoopLoad load;

    Connections(LoopLoad load) {
        this.load = load;
    }

    /**
     * The state that all requests of a connection share.
     *
     * @param name for limits, as at the API's port
     */
    record Client(Session session, String name, Admission admission) {}

    /** The connection's, for as long as it is open. */
    Client of(HttpConnection connection) {
        Client known = open.get(connection);
        if (known != null) {
            return known;
        }
        Session session = new Session(Peer.of(connection.sslSession()));
        String name = LoopLoad.client(session.peer(), connection.remoteAddress());
        Client client = new Client(session, name, load.admission(() -> name));
        open.put(connection, client);
        connection.closeHandler(closed -> open.remove(connection));
        return client;
    }

    /** The number of open connections. */
    int count() {
        return open.size();
    }

    /** Ends all connections, after a short time for requests in flight. */
    void disconnect() {
        for (HttpConnection connection : List.copyOf(open.keySet())) {
            var unused = connection.shutdown(1, TimeUnit.SECONDS);
        }
    }
}
