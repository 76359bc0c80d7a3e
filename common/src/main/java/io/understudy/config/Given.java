package io.understudy.config;

/**
 * A value as it was found, not yet understood.
 *
 * @param text elements of a list are joined by commas
 * @param where the file with line and column, the variable, or the flag
 * @param origin decides who wins, and where secrets may come from
 * @param list whether it was written as a list
 */
record Given(String text, String where, Origin origin, boolean list) {

    /** Later ones win. */
    enum Origin {
        FILE,
        ENVIRONMENT,
        FLAG
    }
}
