package io.understudy.local.etcd;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Where a member listens, and where others are told to find it: a proxy if there is one.
 *
 * @param client clients, directly
 * @param peer other members, directly
 * @param advertisedClient clients, as told
 * @param advertisedPeer other members, as told
 */
record MemberAddresses(URI client, URI peer, URI advertisedClient, URI advertisedPeer) {

    static MemberAddresses of(int clientPort, int peerPort, @Nullable MemberProxies proxies) {
        URI client = http(clientPort);
        URI peer = http(peerPort);
        return proxies == null
                ? new MemberAddresses(client, peer, client, peer)
                : new MemberAddresses(
                        client,
                        peer,
                        http(proxies.client().port()),
                        http(proxies.peer().port()));
    }

    private static URI http(int port) {
        return URI.create("http://127.0.0.1:" + port);
    }
}
