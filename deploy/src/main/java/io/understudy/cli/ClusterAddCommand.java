package io.understudy.cli;

import io.understudy.cluster.goal.AddMember;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy cluster add}: a member more. */
@Command(
        name = "add",
        description = "Add a member as a learner and promote it once it is in sync.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterAddCommand implements Callable<Integer> {

    /** What becomes of the learner. */
    private enum Promote {
        AUTO,
        NEVER
    }

    @Parameters(paramLabel = "NAME", description = "Name of the new member.")
    private String name;

    @Option(
            names = "--peer-urls",
            split = ",",
            paramLabel = "URL",
            description = "Peer URLs of the new member (default: from the configuration).")
    private List<URI> peerUrls = List.of();

    @Option(
            names = "--client-urls",
            split = ",",
            paramLabel = "URL",
            description = "Client URLs of the new member (default: from the configuration).")
    private List<URI> clientUrls = List.of();

    @Option(
            names = "--promote",
            defaultValue = "auto",
            paramLabel = "auto|never",
            description = "auto: promote once in sync; never: keep it a learner (default: ${DEFAULT-VALUE}).")
    private Promote promote;

    @Mixin
    private ClusterFlags connection;

    @Mixin
    private ChangeFlags change;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        return ClusterChange.run(
                spec.commandLine(),
                connection,
                change,
                seen -> new AddMember(seen.place(name, peerUrls, clientUrls), promote == Promote.AUTO));
    }
}
