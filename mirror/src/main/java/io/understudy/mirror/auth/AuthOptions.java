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
                    "copy: copy roles, permissions, and users without passwords from the source; the"
                            + " mirror's users require the role root in both clusters. none: do not copy.")
            .defaultsTo(DEFAULTS.mode());

    /** The file of hashes. */
    public static final Setting<Path> PASSWORDS = Setting.path(
                    "authPasswords",
                    "With auth: copy, file with a line NAME:HASH for each user that requires a password in the target. The hash"
                            + " is bcrypt, as printed by \"htpasswd -nB NAME\". The file is reloaded every authInterval.")
            .optionally()
            .example("/etc/understudy/passwords");

    private static final Setting<Duration> LOOK_INTERVAL = Setting.duration(
                    "authInterval",
                    "With auth: copy, interval of checks for changed roles or users in the source. Each check is one Raft"
                            + " proposal.")
            .defaultsTo(DEFAULTS.lookInterval())
            .between(Duration.ofSeconds(1), Duration.ofHours(1));
    private static final Setting<Duration> COMPARE_INTERVAL = Setting.duration(
                    "authCompareInterval",
                    "With auth: copy, interval of full comparisons of roles and users, which detect changes made"
                            + " in the target.")
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
