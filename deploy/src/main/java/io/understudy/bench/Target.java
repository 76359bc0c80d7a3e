package io.understudy.bench;

import java.util.OptionalDouble;

/**
 * Whom the gateway is compared with.
 *
 * @param atMost CPU per request at the gateway as a share of the peer's that is to be reached; empty where the peer is
 *     only shown
 */
record Target(ReadPath peer, OptionalDouble atMost) {

    static Target of(ReadPath peer, double atMost) {
        return new Target(peer, OptionalDouble.of(atMost));
    }

    static Target shown(ReadPath peer) {
        return new Target(peer, OptionalDouble.empty());
    }
}
