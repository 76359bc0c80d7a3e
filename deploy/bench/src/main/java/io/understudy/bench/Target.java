package io.understudy.bench;

import java.util.OptionalDouble;

/**
 * The server that the gateway is compared with.
 *
 * @param atMost CPU per request at the gateway as a share of the peer's that is to be reached; empty where the peer is
 *     only shown
 */
record Target(ServerPath peer, OptionalDouble atMost) {

    static Target of(ServerPath peer, double atMost) {
        return new Target(peer, OptionalDouble.of(atMost));
    }

    static Target shown(ServerPath peer) {
        return new Target(peer, OptionalDouble.empty());
    }
}
