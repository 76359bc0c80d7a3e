package io.understudy.gateway.dashboard;

import java.net.URI;
import java.util.Locale;

/**
 * A process beside this one.
 *
 * @param url as configured
 */
record Neighbour(Kind kind, URI url) {

    /** The kind of process, with the path of its status. */
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

    /** Returns the URL of its status. */
    URI page() {
        return url.resolve(kind.path);
    }
}
