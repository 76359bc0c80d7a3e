package io.understudy.gateway.permission;

import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;

/** Who wants what. */
record Asked(Principal principal, Permission wanted) {

    /** Of object headers, references, and a cache's own book-keeping. */
    private static final int OVERHEAD = 200;

    /** What it takes in memory, about. */
    int bytes() {
        int what = wanted instanceof Permission.Read read
                ? read.key().size() + read.end().size()
                : 0;
        return bytes(principal) + what;
    }

    static int bytes(Principal principal) {
        if (principal instanceof Principal.Token token) {
            return OVERHEAD + token.value().length();
        }
        return OVERHEAD
                + (principal instanceof Principal.Certificate certificate
                        ? certificate.commonName().length()
                        : 0);
    }
}
