package io.understudy.gateway.permission;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who comes with nothing but the name in a certificate is a user that nobody knows. */
final class UnknownNames implements Oracle<Principal.Certificate> {

    private static final Logger LOG = LoggerFactory.getLogger(UnknownNames.class);

    private final AtomicBoolean told = new AtomicBoolean();

    @Override
    public CompletableFuture<Verdict> ask(Principal.Certificate principal, Permission wanted) {
        if (wanted == Permission.Standing.ANYBODY || wanted == Permission.Standing.USER) {
            return CompletableFuture.completedFuture(Verdict.GRANTED);
        }
        if (told.compareAndSet(false, true)) {
            LOG.atWarn()
                    .addKeyValue("name", principal.commonName())
                    .log("rejected a client identified only by certificate (logged once); permissions.roles is false");
        }
        return CompletableFuture.completedFuture(new Verdict.Refused(ApiException.permissionDenied()));
    }
}
