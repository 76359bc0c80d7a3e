package io.understudy.local.etcd;

import java.net.URI;

/**
 * Where a member listens, and where others are told to find it: a proxy if there is one.
 *
 * @param client clients, directly
 * @param peer other members, directly
 * @param advertisedClient clients, as told
 * @param advertisedPeer other members, as told
 */
record MemberAddresses(URI client, URI peer, URI advertisedClient, URI advertisedPeer) {

    static URI http(int port) {
        return URI.create("http://127.0.0.1:" + port);
    }
}
