package io.understudy.cli;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.PatientObserver;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.status.ClusterStatus;
import io.understudy.cluster.status.Declared;
import io.understudy.cluster.status.StatusJson;
import io.understudy.cluster.status.StatusText;
import io.understudy.cluster.status.Warning;
import io.understudy.etcd.Alarm;
import io.understudy.vocabulary.MemberId;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
            "Show member health, remaining fault tolerance, and decisions of supervisors.",
            "Queries every member directly and changes nothing. With --config, compares the members with the declared shape."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:all members are healthy and as declared, and no alarm is active",
            "1:a member is unhealthy or missing, an alarm is active, or no member responds",
            "2:usage error"
        })
final class ClusterStatusCommand implements Callable<Integer> {

    @Mixin
    private ClusterFlags flags;

    @Mixin
    private SupervisorsFlag supervisors;

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
        ClusterStatus status;
        try (var cluster = flags.connect(spec.commandLine())) {
            status = status(cluster);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (output == OutputForm.JSON) {
            out.println(StatusJson.of(status));
        } else {
            StatusText.of(status).forEach(out::println);
        }
        out.flush();
        return status.isHealthy() && status.isAsDeclared() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private ClusterStatus status(ClusterConnection cluster) throws InterruptedException {
        ClusterFacts facts = new PatientObserver(cluster.observer()).observe(timeout);
        ClusterSettings settings = cluster.settings();
        List<String> machines = cluster.places().stream().map(MemberSpec::name).toList();
        return ClusterStatus.of(
                facts,
                Optional.of(new Declared(settings.shape(), machines)).filter(unused -> settings.isShapeDeclared()),
                moves(cluster, facts),
                supervisors.views(cluster));
    }

    private static List<Warning> moves(ClusterConnection cluster, ClusterFacts facts) throws InterruptedException {
        List<Alarm> corrupt = facts.raised().stream()
                .filter(alarm -> alarm.kind().equals("CORRUPT"))
                .toList();
        if (corrupt.isEmpty()) {
            return List.of();
        }
        try {
            Map<MemberId, String> moves = cluster.alarmsOfMoves();
            return corrupt.stream()
                    .flatMap(alarm -> Optional.ofNullable(moves.get(alarm.member())).stream())
                    .map(by -> new Warning(
                            "alarm-of-move",
                            "CORRUPT was raised by " + by
                                    + " to reject client writes; complete or undo that command (understudy mirror"
                                    + " status)"))
                    .toList();
        } catch (IllegalStateException e) {
            return List.of(new Warning("alarm-of-move", String.valueOf(e.getMessage())));
        }
    }
}
