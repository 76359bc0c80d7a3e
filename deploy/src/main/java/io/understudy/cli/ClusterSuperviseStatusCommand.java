package io.understudy.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.cluster.supervise.StateClient;
import io.understudy.report.TextTable;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy cluster supervise status}: what a running supervisor sees, and does about it. */
@Command(
        name = "status",
        description = "Show the state and recent decisions of a running supervisor.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:the cluster has its declared shape",
            "1:the cluster differs from its declared shape, or no response",
            "2:usage error"
        })
final class ClusterSuperviseStatusCommand implements Callable<Integer> {

    private static final int SHOWN_EVENTS = 10;

    @Mixin
    private SupervisorFlag supervisor;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Output format.")
    private OutputForm output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        String json = new StateClient(supervisor.url(), supervisor.files(spec.commandLine())).state();
        JsonNode state = new JsonMapper().readTree(json);
        PrintWriter out = spec.commandLine().getOut();
        if (output == OutputForm.JSON) {
            out.print(json);
        } else {
            print(out, state);
        }
        out.flush();
        boolean settled = state.path("decision").path("rule").asText().equals("settled");
        return settled ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private static void print(PrintWriter out, JsonNode state) {
        JsonNode decision = state.path("decision");
        out.println("supervisor " + state.path("supervisor").asText() + ", "
                + state.path("standing").asText()
                + (state.path("paused").isNull()
                        ? ""
                        : ", paused " + state.path("paused").asText()));
        out.println("cluster    " + state.path("cluster").path("quorum").asText("not observed yet"));
        out.println("now        " + decision.path("rule").asText("-") + ": "
                + decision.path("observed").asText() + "; " + told(decision));
        for (JsonNode member : state.path("cluster").path("members")) {
            if (!member.path("state").asText("healthy").equals("healthy")) {
                out.println("member     " + member.path("name").asText() + " is "
                        + member.path("state").asText() + ": "
                        + member.path("evidence").asText() + "; supervisor "
                        + member.path("response").asText());
            }
        }
        decision.path("guidance").forEach(line -> out.println("           " + line.asText()));
        out.println();
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
                        told(event));
            }
        }
        table.lines().forEach(out::println);
    }

    private static String told(JsonNode event) {
        String detail = event.path("detail").asText();
        String told =
                event.path("guidance").isMissingNode() ? event.path("told").asText() : "no change";
        return detail.isEmpty() ? told : told + " (" + detail + ")";
    }
}
