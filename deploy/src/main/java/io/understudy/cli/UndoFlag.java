package io.understudy.cli;

import picocli.CommandLine.Option;

/** Whether a hand-over is to be taken back. */
final class UndoFlag {

    @Option(names = "--undo", description = "Undo what was done; possible until the home has moved.")
    private boolean undo;

    boolean isGiven() {
        return undo;
    }
}
