package io.understudy.mirror.auth;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Hashes of passwords as their file has them; one that can't be used changes nothing. One thread. */
final class WatchedPasswords {

    private final @Nullable Path file;
    private Map<String, PasswordHash> hashes = Map.of();
    private @Nullable String problem;

    /** @param file null for none */
    WatchedPasswords(@Nullable Path file) {
        this.file = file;
    }

    /** Reads the file again. */
    Map<String, PasswordHash> look() {
        if (file != null) {
            try {
                hashes = PasswordFile.read(file);
                problem = null;
            } catch (IllegalArgumentException e) {
                problem = "password file reload failed; keeping previous passwords: " + e.getMessage();
            }
        }
        return hashes;
    }

    /** Returns the problem of the file; null for none. */
    @Nullable String problem() {
        return problem;
    }
}
