package io.understudy.cli;

import io.understudy.cluster.goal.ChangePeerUrls;
import io.understudy.cluster.observe.MemberFacts;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy cluster update-peer-urls}: a member listens elsewhere to the others. */
@Command(
        name = "update-peer-urls",
        description = "Update a member's peer URLs and restart it.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterUpdatePeerUrlsCommand implements Callable<Integer> {

    @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member.")
    private String member;

    @Option(
            names = "--peer-urls",
            split = ",",
            paramLabel = "URL",
            description = "New peer URLs (default: from the configuration).")
    private List<URI> peerUrls = List.of();

    @Mixin
    private ClusterFlags connection;

    @Mixin
    private ChangeFlags change;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        return ClusterChange.run(spec.commandLine(), connection, change, seen -> {
            MemberFacts found = seen.member(member);
            return new ChangePeerUrls(found.id(), seen.place(found.label(), peerUrls, List.of()));
        });
    }
}
