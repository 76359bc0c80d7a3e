package io.understudy.mirror.auth;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether and how roles and users are copied.
 *
 * @param passwords a file of hashes, see {@link PasswordFile}; null for none
 * @param lookInterval how often the source is asked whether anything has changed
 * @param compareInterval after how long both sides are compared though nothing has
 */
public record AuthOptions(AuthMode mode, @Nullable Path passwords, Duration lookInterval, Duration compareInterval) {

    /** The configuration's. */
    public static final AuthOptions DEFAULTS =
            new AuthOptions(AuthMode.NONE, null, Duration.ofSeconds(10), Duration.ofMinutes(5));

    /** Whether. */
    public static final Setting<AuthMode> MODE = Setting.choice(
                    "auth",
                    AuthMode.class,
                    "copy: roles, their grants, and users are kept as the source has them, users without passwords; the"
                            + " mirror's users need the role root on both sides. none: the target has its own.")
            .defaultsTo(DEFAULTS.mode());

    /** The file of hashes. */
    public static final Setting<Path> PASSWORDS = Setting.path(
                    "authPasswords",
                    "With auth: copy, a file with a line NAME:HASH for each user who is to have a password in the target:"
                            + " a bcrypt hash, such as \"htpasswd -nB NAME\" prints. Looked at again every authInterval.")
            .optionally()
            .example("/etc/understudy/passwords");

    private static final Setting<Duration> LOOK_INTERVAL = Setting.duration(
                    "authInterval",
                    "With auth: copy, how often the source is asked whether roles or users have changed, which costs its"
                            + " voters a proposal.")
            .defaultsTo(DEFAULTS.lookInterval())
            .between(Duration.ofSeconds(1), Duration.ofHours(1));
    private static final Setting<Duration> COMPARE_INTERVAL = Setting.duration(
                    "authCompareInterval",
                    "With auth: copy, after how long all roles and users of both sides are compared though nothing has"
                            + " changed at the source, since somebody may have changed the target.")
            .defaultsTo(DEFAULTS.compareInterval())
            .between(Duration.ofSeconds(10), Duration.ofDays(1));

    /** The rows of all that can be configured, relative to the target's group. */
    public static final List<Setting<?>> ROWS = List.of(MODE, PASSWORDS, LOOK_INTERVAL, COMPARE_INTERVAL);

    /** What {@link #ROWS} say. */
    public static AuthOptions from(Configuration group) {
        return new AuthOptions(
                group.get(MODE),
                group.find(PASSWORDS).orElse(null),
                group.get(LOOK_INTERVAL),
                group.get(COMPARE_INTERVAL));
    }
}
