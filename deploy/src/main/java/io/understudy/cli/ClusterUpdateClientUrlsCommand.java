package io.understudy.cli;

import io.understudy.cluster.goal.ChangeClientUrls;
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

/** {@code understudy cluster update-client-urls}: clients reach a member elsewhere. */
@Command(
        name = "update-client-urls",
        description = "Update a member's client URLs and restart it.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterUpdateClientUrlsCommand implements Callable<Integer> {

    @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member.")
    private String member;

    @Option(
            names = "--client-urls",
            split = ",",
            paramLabel = "URL",
            description = "New client URLs (default: from the configuration).")
    private List<URI> clientUrls = List.of();

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
            return new ChangeClientUrls(found.id(), seen.place(found.label(), List.of(), clientUrls));
        });
    }
}
