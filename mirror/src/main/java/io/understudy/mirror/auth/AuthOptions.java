package io.understudy.mirror.auth;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether and how roles and users are copied.
 *
 * @param passwords see {@link PasswordFile}
 */
public record AuthOptions(
        @Configured(
                key = "auth",
                value = "copy: copy roles, permissions, and users without passwords from the source; the mirror's users"
                        + " require the role root in both clusters. none: do not copy.",
                byDefault = "none")
        AuthMode mode,

        @Configured(
                key = "authPasswords",
                value =
                        "With auth: copy, file with a line NAME:HASH for each user that requires a password in the target."
                                + " The hash is bcrypt, as printed by \"htpasswd -nB NAME\". The file is reloaded every"
                                + " authInterval.",
                example = "/etc/understudy/passwords")
        @Nullable Path passwords,

        @Configured(
                key = "authInterval",
                value =
                        "With auth: copy, interval of checks for changed roles or users in the source. Each check is one"
                                + " Raft proposal.",
                byDefault = "10s",
                range = "1s..1h")
        Duration lookInterval,

        @Configured(
                key = "authCompareInterval",
                value =
                        "With auth: copy, interval of full comparisons of roles and users, which detect changes made in the"
                                + " target.",
                byDefault = "5m",
                range = "10s..1d")
        Duration compareInterval) {

    public static final AuthOptions DEFAULTS = Binder.defaults(AuthOptions.class);
}
