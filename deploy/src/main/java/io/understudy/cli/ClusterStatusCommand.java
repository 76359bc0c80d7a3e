package io.understudy.cli;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.status.ClusterStatus;
import io.understudy.cluster.status.StatusJson;
import io.understudy.cluster.status.StatusText;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy cluster status}: how a cluster's members fare, and what it would survive. */
@Command(
        name = "status",
        description = {
            "Tell how the members of a cluster fare, and how many more failures it would survive.",
            "Every member is asked itself; nothing is changed."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:every member is healthy, and there is no alarm",
            "1:one is not, there is an alarm, or nobody answered",
            "2:bad usage"
        })
final class ClusterStatusCommand implements Callable<Integer> {

    @Mixin
    private ClusterFlags flags;

    @Option(
            names = "--timeout",
            defaultValue = "5s",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description = "How long members may take to answer; ${DEFAULT-VALUE} by default.")
    private Duration timeout;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Form of the results.")
    private OutputForm output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        ClusterFacts facts;
        try (var cluster = flags.connect(spec.commandLine())) {
            facts = cluster.observer().observe(timeout);
        }
        ClusterStatus status = ClusterStatus.of(facts);
        PrintWriter out = spec.commandLine().getOut();
        if (output == OutputForm.JSON) {
            out.println(StatusJson.of(status));
        } else {
            StatusText.of(status).forEach(out::println);
        }
        out.flush();
        return status.isHealthy() ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
