package io.understudy.cli;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.PatientObserver;
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
            "Show member health and remaining fault tolerance.",
            "Queries every member directly and changes nothing."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:all members are healthy and no alarm is active",
            "1:a member is unhealthy, an alarm is active, or no member responds",
            "2:usage error"
        })
final class ClusterStatusCommand implements Callable<Integer> {

    @Mixin
    private ClusterFlags flags;

    @Option(
            names = "--timeout",
            defaultValue = "5s",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description = "Timeout for members to respond (default: ${DEFAULT-VALUE})."
                    + " Extended while this machine is overloaded.")
    private Duration timeout;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Output format.")
    private OutputForm output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        ClusterFacts facts;
        try (var cluster = flags.connect(spec.commandLine())) {
            facts = new PatientObserver(cluster.observer()).observe(timeout);
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
