package io.understudy.local.fault;

import java.net.InetSocketAddress;
import java.util.Optional;

/** Identifies the other end of a connection. */
@FunctionalInterface
public interface Party {

    /** Every connection comes from the same party. */
    Party ANYONE = client -> Optional.of("");

    /**
     * Name of the party that has connected from this address. Called on the proxy's thread, once per connection, and
     * must not block for long.
     *
     * @return empty if it is unknown; such a connection is refused, because no rule could be kept for it
     */
    Optional<String> at(InetSocketAddress client);
}
