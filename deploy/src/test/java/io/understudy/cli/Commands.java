package io.understudy.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Set;
import picocli.CommandLine;

/** The real command, for tests of other packages that check its arguments. */
public final class Commands {

    private Commands() {}

    /** One for a single parse. */
    public static CommandLine understudy() {
        return Understudy.commandLine();
    }

    /** Runs a command with both outputs there, and returns its exit status. */
    public static int run(StringWriter out, String... arguments) {
        PrintWriter both = new PrintWriter(out, true);
        return Understudy.run(both, both, arguments);
    }

    /** Former names of flags. */
    public static Set<String> renamed() {
        return Understudy.RENAMED.keySet();
    }
}
