package io.understudy.cli;

import java.util.Set;
import picocli.CommandLine;

/** The real command, for tests of other packages that check its arguments. */
public final class Commands {

    private Commands() {}

    /** One for a single parse. */
    public static CommandLine understudy() {
        return Understudy.commandLine();
    }

    /** Former names of flags. */
    public static Set<String> renamed() {
        return Understudy.RENAMED.keySet();
    }
}
