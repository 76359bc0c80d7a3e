package io.understudy.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy cluster}: the members of a real etcd cluster, looked at and changed safely. */
@Command(
        name = "cluster",
        description = "Inspect an etcd cluster and change its membership step by step.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ClusterStatusCommand.class,
            ClusterAddCommand.class,
            ClusterPromoteCommand.class,
            ClusterRemoveCommand.class,
            ClusterDemoteCommand.class,
            ClusterReplaceCommand.class,
            ClusterScaleCommand.class,
            ClusterRollCommand.class,
            ClusterMoveLeaderCommand.class,
            ClusterUpdatePeerUrlsCommand.class,
            ClusterUpdateClientUrlsCommand.class,
            ClusterSnapshotCommand.class,
            ClusterRestoreCommand.class,
            ClusterRepairCommand.class,
            ClusterRecoverCommand.class,
            ClusterSuperviseCommand.class
        })
final class ClusterCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is required");
    }
}
