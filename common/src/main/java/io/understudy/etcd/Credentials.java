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
                    "user", "etcd user that this process acts as where authentication is enabled; needs a password.")
            .optionally()
            .example("gateway");
    private static final Setting<String> PASSWORD = Setting.text(
                    "password", "The user's password; one in a file is read again whenever a login is refused.")
            .optionally()
            .secretly();

    private static final Setting<Boolean> INSECURE = Setting.flag(
                    "insecure",
                    "Whether the password may be sent to other machines in plain text: without it, a user needs https"
                            + " endpoints, or such of this machine.")
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
            throw new IllegalArgumentException("a user and its password go together: user is "
                    + user.orElse("not given") + ", password is " + (password.isPresent() ? "given" : "not given"));
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
