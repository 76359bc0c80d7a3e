package io.understudy.cli;

import io.understudy.local.binary.EtcdBinaries;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.seed.Seed;
import io.understudy.seed.TargetSeeding;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy mirror init-target}: makes the data directory of a target's first member. */
@Command(
        name = "init-target",
        description = {
            "Create the data directory of a target's first member from a snapshot of the source.",
            "Raises the revision and compacts older history, so that watchers of the source list again instead of missing changes. Prints the command that starts the member."
        })
final class MirrorInitTargetCommand implements Callable<Integer> {

    @Mixin
    private TakeOverFlags flags;

    @Option(
            names = "--data-dir",
            required = true,
            paramLabel = "DIR",
            description = "Data directory to create. Must not exist.")
    private Path directory;

    @Option(names = "--member-name", required = true, paramLabel = "NAME", description = "Name of the member.")
    private String member;

    @Option(
            names = "--peer-url",
            required = true,
            converter = UrlFlag.class,
            paramLabel = "URL",
            description = "Peer URL of the member.")
    private URI peerUrl;

    @Option(
            names = "--client-url",
            defaultValue = "http://127.0.0.1:2379",
            converter = UrlFlag.class,
            paramLabel = "URL",
            description = "Client URL of the member, for the printed command (default: ${DEFAULT-VALUE}).")
    private URI clientUrl;

    @Option(
            names = "--cluster-token",
            defaultValue = "understudy-target",
            paramLabel = "TEXT",
            description = "Cluster token (default: ${DEFAULT-VALUE}).")
    private String token;

    @Option(
            names = "--bump-revision",
            defaultValue = "1000000000",
            converter = NumberFlag.class,
            paramLabel = "N",
            description = "Increase of the latest revision (default: ${DEFAULT-VALUE}).")
    private long bump;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        TakeOverText text = flags.text(spec.commandLine());
        Seed seed = new Seed(directory, member, peerUrl, clientUrl, token, bump);
        EtcdBinaries binaries = EtcdBinaries.find(text::note);
        TargetSeeding seeding = new TargetSeeding(binaries, flags.sourceUser(), text::note);
        if (!flags.isDryRun()) {
            try (TakeOver clusters = flags.clusters(spec.commandLine())) {
                seeding.make(clusters.sourceCluster(), seed);
            }
        }
        spec.commandLine().getOut().println(String.join(" ", seed.startCommand(binaries.etcd())));
        text.note(
                "Configure the mirror with onForeignKeys: delete. The first synchronization writes only differences.");
        return ExitCode.OK;
    }
}
