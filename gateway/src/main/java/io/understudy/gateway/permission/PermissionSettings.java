package io.understudy.gateway.permission;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * How the source's permissions are enforced.
 *
 * @param maxAge of what was granted, from when it was asked for; 10 ms to 1 s
 * @param watchRecheck whether watches are ended when what they tell may not be read any more
 * @param roles whether names in certificates are users of the source
 */
public record PermissionSettings(Duration maxAge, boolean watchRecheck, boolean roles) {

    private static final Duration LEAST_AGE = Duration.ofMillis(10);
    private static final Duration MOST_AGE = Duration.ofSeconds(1);

    public static final PermissionSettings DEFAULTS = new PermissionSettings(MOST_AGE, true, false);

    private static final Setting<Duration> MAX_AGE = Setting.duration(
                    "permissions.maxAge",
                    "Maximum age of a cached permission, counted from the request to the source. A shorter age sends more"
                            + " requests to the learner.")
            .defaultsTo(MOST_AGE)
            .between(LEAST_AGE, MOST_AGE);

    private static final Setting<Boolean> WATCH_RECHECK = Setting.flag(
                    "permissions.watchRecheck",
                    "End a watch when its read permission is revoked. false: check permissions at the start only, as etcd"
                            + " does.")
            .defaultsTo(true);

    private static final Setting<Boolean> ROLES = Setting.flag(
                    "permissions.roles",
                    "Use the common name of a client certificate as a user of the source, as etcd does with"
                            + " --client-cert-auth. Users and roles are read as source.user, which requires the role root.")
            .defaultsTo(false);

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(MAX_AGE, WATCH_RECHECK, ROLES);

    public PermissionSettings {
        if (maxAge.compareTo(LEAST_AGE) < 0 || maxAge.compareTo(MOST_AGE) > 0) {
            throw new IllegalArgumentException(
                    "permissions.maxAge is " + maxAge + "; allowed: " + LEAST_AGE + " to " + MOST_AGE);
        }
    }

    /** What {@link #ROWS} say. */
    public static PermissionSettings from(Configuration configuration) {
        return new PermissionSettings(
                configuration.get(MAX_AGE), configuration.get(WATCH_RECHECK), configuration.get(ROLES));
    }
}
