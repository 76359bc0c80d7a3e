package io.understudy.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A value as written, not yet parsed.
 *
 * @param text elements of a list are joined by commas
 * @param where the file with line and column, the variable, or the flag
 * @param origin decides precedence, and whether secrets are allowed
 * @param elements of a YAML list, which may contain commas; null if it was not written as a list
 */
record Given(
        String text, String where, Origin origin, @Nullable List<String> elements) {

    /** Later ones take precedence. */
    enum Origin {
        FILE,
        ENVIRONMENT,
        FLAG
    }
}
