package io.understudy.gateway.permission;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.permission.Authorizer.Verdict;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Treats a client identified by certificate only as an unknown user. */
final class UnknownNames implements Authorizer<Principal.Certificate> {

    private static final Logger LOG = LoggerFactory.getLogger(UnknownNames.class);

    private final AtomicBoolean logged = new AtomicBoolean();

    @Override
    public CompletableFuture<Verdict> authorize(Principal.Certificate principal, Permission wanted) {
        if (wanted == Permission.Standing.NONE || wanted == Permission.Standing.USER) {
            return CompletableFuture.completedFuture(Verdict.GRANTED);
        }
        if (logged.compareAndSet(false, true)) {
            LOG.atWarn()
                    .addKeyValue("name", principal.commonName())
                    .log("rejected a client identified only by certificate (logged once); permissions.roles is false");
        }
        return CompletableFuture.completedFuture(new Verdict.Refused(ApiException.permissionDenied()));
    }
}
