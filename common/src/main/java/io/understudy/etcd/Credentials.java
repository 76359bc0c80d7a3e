package io.understudy.etcd;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A user of a cluster with authentication by name and password.
 *
 * @param plainText whether the password may be sent to other machines without TLS
 * @param passwordFile where the password was read, and may be another one by now; null if it was given itself
 */
public record Credentials(
        String user,
        String password,
        boolean plainText,
        @Nullable Path passwordFile) {

    private static final Setting<String> USER = Setting.text(
                    "user", "etcd user to authenticate as; requires a password.")
            .optionally()
            .example("gateway");
    private static final Setting<String> PASSWORD = Setting.text(
                    "password", "Password of the user; a password file is reloaded when a login is rejected.")
            .optionally()
            .secretly();

    private static final Setting<Boolean> INSECURE = Setting.flag(
                    "insecure",
                    "Allow sending the password in plaintext to other hosts. If false, a user requires https or"
                            + " loopback endpoints.")
            .defaultsTo(false);

    /** The first two together, or neither. */
    static final List<Setting<?>> ROWS = List.of(USER, PASSWORD, INSECURE);

    /** For TLS, for this machine, and for endpoints that somebody named. */
    public Credentials(String user, String password) {
        this(user, password, false, null);
    }

    /**
     * What {@link #ROWS} say; empty if neither is given.
     *
     * @throws IllegalArgumentException for one without the other
     */
    static Optional<Credentials> from(Configuration group) {
        Optional<String> user = group.find(USER);
        Optional<String> password = group.find(PASSWORD);
        if (user.isPresent() != password.isPresent()) {
            throw new IllegalArgumentException("user and password must be set together: user is "
                    + user.orElse("not set") + ", password is " + (password.isPresent() ? "set" : "not set"));
        }
        return user.map(name -> new Credentials(
                name,
                password.orElseThrow(),
                group.get(INSECURE),
                group.fileOf(PASSWORD).orElse(null)));
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "user " + user;
    }
}
