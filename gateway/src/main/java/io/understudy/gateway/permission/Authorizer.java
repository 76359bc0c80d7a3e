package io.understudy.gateway.permission;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import java.util.concurrent.CompletableFuture;

/** Decides whether a principal has a permission while authentication is enabled. Thread-safe. */
interface Authorizer<P extends Principal> {

    /** Fails if the verdict is unknown. Completes on any thread, which must not be blocked. */
    CompletableFuture<Verdict> authorize(P principal, Permission wanted);

    /** The source's decision on a permission. */
    sealed interface Verdict {

        Verdict GRANTED = new Granted();

        record Granted() implements Verdict {}

        /** Denied; {@code why} is the source's error. */
        record Refused(ApiException why) implements Verdict {}
    }

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
}
