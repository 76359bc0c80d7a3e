package io.understudy.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.cluster.machine.ConfiguredMachines;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.supervise.StateClient;
import io.understudy.cluster.supervise.SupervisorProcess;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.report.TextTable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy cluster supervise}: keeps a cluster in its declared shape until SIGTERM or SIGINT. */
@Command(
        name = "supervise",
        description =
                "Run a supervisor that keeps a cluster in its declared shape. Of several supervisors, one is active.",
        exitCodeList = {"0:stopped by SIGTERM or SIGINT", "1:failed", "2:usage error"})
final class SuperviseCommand implements Callable<Integer> {

    /** Above the duration of the last call of a step. */
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(25);

    private static final int SHOWN_EVENTS = 10;

    @Mixin
    private Flags.OptionalConfiguration configuration;

    @Option(
            names = "--max-learners",
            paramLabel = "N",
            description = "Confirm that members on other machines run with this --max-learners, as configured. Needed"
                    + " for more than one learner since 3.6.")
    private @Nullable Integer maxLearners;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        Path file = configuration.required(spec.commandLine());
        return Foreground.hold(() -> start(file), running -> new CompletableFuture<>(), CLOSE_DEADLINE);
    }

    private SupervisorProcess start(Path file) throws Exception {
        ClusterSettings settings = ClusterSettings.load(file, System.getenv(), configuration.values);
        // Voting members in excess of the default would be removed.
        if (!settings.isShapeDeclared()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "shape.voters is missing in " + file
                            + "; a supervisor needs the number of voting members: an odd number from 1 to 7");
        }
        ConfiguredMachines machines = ConfiguredMachines.of(
                settings.machines(),
                () -> EtcdBinaries.find().etcd(),
                spec.commandLine().getOut()::println,
                InstantSource.system());
        Integer confirmed = maxLearners;
        if (confirmed != null && confirmed != settings.maxLearners()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--max-learners is " + confirmed + ", the configuration has " + settings.maxLearners()
                            + " (shape.maxLearners); all members need the same");
        }
        return SupervisorProcess.start(settings, machines, confirmed != null);
    }

    @Command(name = "pause", description = "Pause all supervisors of the cluster.")
    void pause(@Mixin Flags.Supervisor supervisor) throws Exception {
        supervisor.text("result", supervisor.response(StateClient::pause).strip());
    }

    @Command(name = "resume", description = "Resume all supervisors of the cluster.")
    void resume(@Mixin Flags.Supervisor supervisor) throws Exception {
        supervisor.text("result", supervisor.response(StateClient::resume).strip());
    }

    @Command(
            name = "status",
            description = "Show the state and recent decisions of a running supervisor.",
            exitCodeList = {
                "0:the cluster has its declared shape",
                "1:the cluster differs from its declared shape, or no response",
                "2:usage error"
            })
    int status(@Mixin Flags.Supervisor supervisor) throws Exception {
        String page = supervisor.response(StateClient::state);
        JsonNode state;
        try {
            state = new JsonMapper().readTree(page);
        } catch (JsonProcessingException e) {
            throw new IOException("response of " + supervisor.url + " is not the state of a supervisor", e);
        }
        if (supervisor.isJson()) {
            supervisor.raw(page);
        } else {
            supervisor.lines(lines(state));
        }
        boolean settled = state.path("decision").path("rule").asText().equals("settled");
        return settled ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    static List<String> lines(JsonNode state) {
        List<String> lines = new ArrayList<>();
        JsonNode decision = state.path("decision");
        lines.add("supervisor " + state.path("supervisor").asText() + ", "
                + state.path("standing").asText()
                + (state.path("paused").isNull()
                        ? ""
                        : ", paused " + state.path("paused").asText()));
        lines.add("cluster    " + state.path("cluster").path("quorum").asText("not observed yet"));
        lines.add("now        " + decision.path("rule").asText("-") + ": "
                + decision.path("observed").asText() + "; " + detail(decision));
        for (JsonNode member : state.path("cluster").path("members")) {
            if (!member.path("state").asText("healthy").equals("healthy")) {
                lines.add("member     " + member.path("name").asText() + " is "
                        + member.path("state").asText() + ": "
                        + member.path("evidence").asText() + "; supervisor "
                        + member.path("response").asText());
            }
        }
        decision.path("guidance").forEach(line -> lines.add("           " + line.asText()));
        lines.add("");
        TextTable table = new TextTable("AT", "RULE", "OUTCOME", "OBSERVED", "DONE");
        int shown = 0;
        for (JsonNode event : state.path("events")) {
            if (shown++ < SHOWN_EVENTS) {
                table.row(
                        Instant.parse(event.path("at").asText())
                                .truncatedTo(ChronoUnit.SECONDS)
                                .toString(),
                        event.path("rule").asText(),
                        event.path("outcome").asText(),
                        event.path("observed").asText(),
                        detail(event));
            }
        }
        lines.addAll(table.lines());
        return lines;
    }

    private static String detail(JsonNode event) {
        String detail = event.path("detail").asText();
        String done =
                event.path("guidance").isMissingNode() ? event.path("action").asText() : "no change";
        return detail.isEmpty() ? done : done + " (" + detail + ")";
    }
}
