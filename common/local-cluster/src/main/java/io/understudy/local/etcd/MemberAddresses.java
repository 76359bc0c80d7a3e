package io.understudy.local.etcd;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Listen and advertised URLs of a member. The latter are those of a proxy, if there is one.
 *
 * @param client listen client URL
 * @param peer listen peer URL
 * @param advertisedClient for clients
 * @param advertisedPeer for other members
 */
record MemberAddresses(URI client, URI peer, URI advertisedClient, URI advertisedPeer) {

    static MemberAddresses of(boolean secured, int clientPort, int peerPort, @Nullable MemberProxies proxies) {
        URI client = url(secured, clientPort);
        URI peer = url(secured, peerPort);
        return proxies == null
                ? new MemberAddresses(client, peer, client, peer)
                : new MemberAddresses(
                        client,
                        peer,
                        url(secured, proxies.client().port()),
                        url(secured, proxies.peer().port()));
    }

    private static URI url(boolean secured, int port) {
        return URI.create((secured ? "https" : "http") + "://127.0.0.1:" + port);
    }
}
