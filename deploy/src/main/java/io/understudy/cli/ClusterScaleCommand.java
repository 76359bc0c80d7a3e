package io.understudy.cli;

import io.understudy.cluster.goal.Scale;
import io.understudy.cluster.quorum.Quorum;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy cluster scale}: a number of voters. */
@Command(
        name = "scale",
        description = "Scale to N voting members, one at a time (odd recommended).",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterScaleCommand implements Callable<Integer> {

    /** etcd's own advice (its FAQ, maximum cluster size). */
    private static final int MOST_SENSIBLE = 7;

    @Parameters(paramLabel = "N", description = "Number of voting members.")
    private int voters;

    @Option(
            names = "--member",
            paramLabel = "NAME=PEERURL",
            description = "Name and peer URL of a new member, in addition to configured machines. Repeatable.")
    private Map<String, URI> members = new LinkedHashMap<>();

    @Mixin
    private ClusterFlags connection;

    @Mixin
    private ChangeFlags change;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        return ClusterChange.run(spec.commandLine(), connection, change, seen -> {
            if (voters < 1) {
                throw new ParameterException(spec.commandLine(), "the number of voting members must be at least 1");
            }
            if (voters % 2 == 0 || voters > MOST_SENSIBLE) {
                spec.commandLine()
                        .getErr()
                        .println("warning: " + new Quorum(voters, voters) + "; an odd number up to " + MOST_SENSIBLE
                                + " is recommended");
            }
            return new Scale(
                    voters,
                    Stream.concat(
                                    seen.places().stream(),
                                    members.entrySet().stream()
                                            .map(each ->
                                                    seen.place(each.getKey(), List.of(each.getValue()), List.of())))
                            .toList());
        });
    }
}
