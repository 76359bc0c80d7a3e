package io.understudy.cli;

import picocli.CommandLine.Option;

/** Whether a hand-over is to be taken back. */
final class UndoFlag {

    @Option(
            names = "--undo",
            description =
                    "Undo the completed steps. Possible until the primary role has moved. With --dry-run, print the steps to undo.")
    private boolean undo;

    boolean isGiven() {
        return undo;
    }
}
