package io.understudy.config;

/**
 * One problem of a configuration.
 *
 * @param where the file with line and column, the variable, or the flag
 * @param key the setting; empty when the file as a whole is meant
 * @param message the problem and what is allowed
 */
public record Problem(String where, String key, String message) {

    @Override
    public String toString() {
        return where + ": " + (key.isEmpty() ? "" : key + " ") + message;
    }
}
