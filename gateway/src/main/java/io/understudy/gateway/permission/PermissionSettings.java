package io.understudy.gateway.permission;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import java.time.Duration;

/** How the source's permissions are enforced. */
@Configured.Group("permissions")
public record PermissionSettings(
        @Configured(
                value =
                        "Maximum age of a cached permission, counted from the request to the source. A shorter age sends"
                                + " more requests to the learner.",
                byDefault = "1s",
                range = "10ms..1s")
        Duration maxAge,

        @Configured(
                value =
                        "End a watch when its read permission is revoked. false: check permissions at the start only, as etcd"
                                + " does.",
                byDefault = "true")
        boolean watchRecheck,

        @Configured(
                value = "Use the common name of a client certificate as a user of the source, as etcd does with"
                        + " --client-cert-auth. Users and roles are read as source.user, which requires the role root.",
                byDefault = "false")
        boolean roles) {

    public static final PermissionSettings DEFAULTS = Binder.defaults(PermissionSettings.class);
}
