package io.understudy.gateway.dashboard;

import java.net.URI;
import java.util.Locale;

/**
 * A process beside this one.
 *
 * @param url as configured
 */
record Neighbour(Kind kind, URI url) {

    /** What it is, and so where it tells how it is. */
    enum Kind {
        GATEWAY("/v1/status"),
        MIRROR("/status"),
        SUPERVISOR("/state");

        private final String path;

        Kind(String path) {
            this.path = path;
        }

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What is asked for. */
    URI page() {
        return url.resolve(kind.path);
    }
}
