package io.understudy.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy cluster snapshot}: copies of the cluster's data in files. */
@Command(
        name = "snapshot",
        description = "Save and list snapshots of a cluster.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {ClusterSnapshotSaveCommand.class, ClusterSnapshotListCommand.class})
final class ClusterSnapshotCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is required");
    }
}
