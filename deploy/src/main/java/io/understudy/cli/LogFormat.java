package io.understudy.cli;

import java.io.PrintStream;
import java.util.Set;

/** The form of the log on standard error, as the environment has it: {@code logback.xml} includes the file of that name. */
final class LogFormat {

    private static final String VARIABLE = "UNDERSTUDY_LOG_FORMAT";
    private static final Set<String> KNOWN = Set.of("text", "json");

    private LogFormat() {}

    /** Whether there is such a form; tells if not, since nothing at all would be logged then. */
    static boolean isKnown(PrintStream err) {
        String format = System.getenv().getOrDefault(VARIABLE, "text");
        boolean known = KNOWN.contains(format);
        if (!known) {
            err.println("understudy: " + VARIABLE + " is '" + format + "'; allowed: text, json");
        }
        return known;
    }
}
