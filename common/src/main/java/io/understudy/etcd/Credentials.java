package io.understudy.etcd;

import io.understudy.config.Configured;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A user of a cluster with authentication by name and password.
 *
 * @param passwordFile where the password was read, and may be another one by now; null if it was given itself
 */
public record Credentials(
        @Configured(value = "etcd user to authenticate as; requires a password.", example = "gateway")
        String user,

        @Configured(
                value = "Password of the user; a password file is reloaded when a login is rejected.",
                secret = true)
        String password,

        @Configured(
                key = "insecure",
                value =
                        "Allow sending the password in plaintext to other hosts. If false, a user requires https or loopback"
                                + " endpoints.",
                byDefault = "false")
        boolean plainText,

        @Nullable Path passwordFile) {

    /** For TLS, for this machine, and for configured endpoints. */
    public Credentials(String user, String password) {
        this(user, password, false, null);
    }

    /** The user without the password. */
    @Override
    public String toString() {
        return "user " + user;
    }
}
