package io.understudy.config;

/**
 * A value as written, not yet parsed.
 *
 * @param text elements of a list are joined by commas
 * @param where the file with line and column, the variable, or the flag
 * @param origin decides precedence, and whether secrets are allowed
 * @param list whether it was written as a list
 */
record Given(String text, String where, Origin origin, boolean list) {

    /** Later ones take precedence. */
    enum Origin {
        FILE,
        ENVIRONMENT,
        FLAG
    }
}
