package io.understudy.cli;

import picocli.CommandLine;

/** The real command, for tests of other packages that ask what it takes. */
public final class Commands {

    private Commands() {}

    /** One for a single parse. */
    public static CommandLine understudy() {
        return Understudy.commandLine();
    }
}
