package io.understudy.gateway.permission;

import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;

/** A permission that a principal needs. */
record PermissionRequest(Principal principal, Permission wanted) {

    /** Object headers, references and cache entries. */
    private static final int OVERHEAD = 200;

    /** Estimated heap size. */
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
