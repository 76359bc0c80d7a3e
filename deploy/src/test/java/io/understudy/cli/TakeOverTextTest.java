package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.mirror.takeover.TakeOverReport;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

final class TakeOverTextTest {

    /** Any command that prints. */
    @Command
    private static final class Printing {

        @Mixin
        private Output output;
    }

    @Test
    void progressHasAnEstimateOnceSomethingIsDone() {
        assertThat(TakeOverText.progress(40, 100, Duration.ofSeconds(8))).isEqualTo("40 of 100, 8 s, about 12 s left");
        assertThat(TakeOverText.progress(0, 100, Duration.ofSeconds(8))).isEqualTo("0 of 100, 8 s");
        assertThat(TakeOverText.progress(7, 0, Duration.ofSeconds(8))).isEqualTo("7, 8 s");
        assertThat(TakeOverText.progress(101, 100, Duration.ofSeconds(8))).isEqualTo("101 of 100, 8 s");
    }

    /** Loss that is not known has no keys. */
    @ParameterizedTest
    @CsvSource({
        "none,0",
        "1 keys,3",
        "not known: source does not respond,3",
        "possible: all writes after revision 7,3",
        "of unknown extent,3"
    })
    void theExitStatusIsThatOfLossUnlessNoneIsProven(String loss, int expected) {
        Printing printing = new Printing();
        var unused = new CommandLine(printing)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(new StringWriter()))
                .parseArgs();
        TakeOverReport report = new TakeOverReport("moved", loss, List.of(), null, Map.of(), List.of());
        assertThat(new TakeOverText(printing.output, true).report(report)).isEqualTo(expected);
    }

    /** The role has moved: the report is the only one. */
    @ParameterizedTest
    @CsvSource({"table", "json"})
    void allLostKeysArePrintedIfTheyCannotBeStored(String format) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Printing printing = new Printing();
        var unused = new CommandLine(printing)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .parseArgs("--output=" + format);
        List<String> lost =
                IntStream.range(0, 1_000).mapToObj(i -> "\"/k" + i + "\"").toList();
        TakeOverReport report = new TakeOverReport("moved", "1000 keys", lost, null, Map.of(), List.of());
        String directory = System.setProperty("java.io.tmpdir", "/absent");
        try {
            assertThat(new TakeOverText(printing.output, true).report(report)).isEqualTo(3);
        } finally {
            System.setProperty("java.io.tmpdir", directory);
        }
        assertThat(out.toString()).contains("1000 keys", "/k0", "/k999");
        assertThat(err.toString()).contains("not stored in a file: /absent");
    }

    @Test
    void aReportInJsonHasTheTimeOfEachStepInOrder() throws Exception {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Printing printing = new Printing();
        var unused = new CommandLine(printing)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .parseArgs("--output=json");
        TakeOverText text = new TakeOverText(printing.output, true);
        for (String step : List.of("compare", "close", "drain", "move", "open")) {
            text.begin(step);
            text.progress(1, 2);
        }
        int status =
                text.report(new TakeOverReport("moved", TakeOverReport.NONE, List.of(), null, Map.of(), List.of()));
        assertThat(status).isZero();
        JsonNode steps = new JsonMapper().readTree(out.toString()).path("steps");
        assertThat(steps.findValuesAsText("step")).containsExactly("compare", "close", "drain", "move", "open");
        assertThat(steps.findValuesAsText("seconds")).hasSize(5);
        assertThat(err.toString().lines()).as("nothing takes long").hasSize(5);
    }

    /** The error would be a second document. */
    @Test
    void aRefusedDryRunPrintsNoPlanInJson() {
        StringWriter out = new StringWriter();
        Printing printing = new Printing();
        var unused = new CommandLine(printing)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out))
                .parseArgs("--output=json");
        TakeOverText text = new TakeOverText(printing.output, true);
        assertThatThrownBy(() -> text.plan(List.of("close"), true, () -> {
                    throw new IllegalStateException("refused");
                }))
                .hasMessage("refused");
        assertThat(out.toString()).isEmpty();
        assertThat(printing.output.isPrinted()).isFalse();
    }
}
