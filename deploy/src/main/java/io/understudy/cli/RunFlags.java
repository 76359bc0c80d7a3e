package io.understudy.cli;

import picocli.CommandLine.Option;

/** What every benchmark can be told, in the same words. */
final class RunFlags {

    @Option(
            names = "--runs",
            defaultValue = "3",
            paramLabel = "N",
            description = "Runs of each benchmark (default: 3).")
    private int runs;

    @Option(
            names = "--output",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "Output format. Progress goes to standard error.")
    private OutputForm output;

    int runs() {
        return runs;
    }

    boolean wantJson() {
        return output == OutputForm.JSON;
    }
}
