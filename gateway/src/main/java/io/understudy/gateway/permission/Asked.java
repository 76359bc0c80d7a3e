package io.understudy.gateway.permission;

import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;

/** Who wants what. */
record Asked(Principal principal, Permission wanted) {

    /** Of object headers, references, and a cache's own book-keeping. */
    private static final int OVERHEAD = 200;

    /** What it takes in memory, about. */
    int bytes() {
        int who = principal instanceof Principal.Token token ? token.value().length() : 0;
        int what = wanted instanceof Permission.Read read
                ? read.key().size() + read.end().size()
                : 0;
        return OVERHEAD + who + what;
    }
}
