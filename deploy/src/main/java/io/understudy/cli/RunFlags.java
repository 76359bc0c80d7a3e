package io.understudy.cli;

import picocli.CommandLine.Option;

/** What every benchmark can be told, in the same words. */
final class RunFlags {

    @Option(names = "--runs", defaultValue = "3", paramLabel = "N", description = "Runs of each; 3 by default.")
    private int runs;

    @Option(
            names = "--output",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "Form of the results; progress goes to standard error.")
    private OutputForm output;

    int runs() {
        return runs;
    }

    boolean wantJson() {
        return output == OutputForm.JSON;
    }
}
