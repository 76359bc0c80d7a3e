package io.understudy.cli;

import io.understudy.cluster.recover.Operator;
import io.understudy.cluster.recover.Recovery;
import io.understudy.cluster.recover.Survey;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.local.binary.EtcdBinaries;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy cluster recover}: on from what is left, once the quorum is lost for good. */
@Command(
        name = "recover",
        description = {
            "Recover a cluster after permanent quorum loss, from the member with the most recent data.",
            "Waits 30 s for a quorum first. Starts members that still have their data, which may restore the quorum. Stops if another member may have more recent data; then specify --from.",
            "Each step needs confirmation. Writes that only the lost members had, or that the chosen member's log does not mark as committed, are lost. Keeps every data directory. Run it"
                    + " again after an interruption."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:the cluster has a quorum", "1:the cluster has no quorum", "2:usage error"})
final class ClusterRecoverCommand implements Callable<Integer> {

    @Mixin
    private ClusterFlags flags;

    @Option(
            names = "--from",
            paramLabel = "NAME",
            description = "Member to recover from, regardless of the data of the others.")
    private String from;

    @Option(names = "--yes", description = "Skip all confirmations.")
    private boolean isConfirmed;

    @Option(
            names = "--timeout",
            converter = DurationFlag.class,
            defaultValue = "5m",
            paramLabel = "TIME",
            description = "Maximum time until a started member serves (default: ${DEFAULT-VALUE}).")
    private Duration timeout;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (ClusterConnection cluster = flags.connect(spec.commandLine())) {
            if (cluster.places().isEmpty()) {
                throw new ParameterException(
                        spec.commandLine(), "specify --config with a configuration that has machines");
            }
            Operator operator = new AtTerminal(spec.commandLine().getOut());
            Survey survey = new Survey(
                    cluster.believingObserver(),
                    cluster.machines(operator::tell),
                    cluster.settings().machines(),
                    SnapshotTool.of(EtcdBinaries.find()));
            boolean isDone = new Recovery(survey, operator, timeout).run(Optional.ofNullable(from));
            operator.tell(
                    isDone
                            ? "next: add members one by one, as learners (understudy cluster add)"
                            : "stopped; run the command again to continue");
            return isDone ? ExitCode.OK : ExitCode.SOFTWARE;
        }
    }

    private final class AtTerminal implements Operator {

        private final PrintWriter out;
        private final BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));

        AtTerminal(PrintWriter out) {
            this.out = out;
        }

        @Override
        public void tell(String line) {
            out.println(line);
            out.flush();
        }

        @Override
        public boolean confirms(String step) {
            if (isConfirmed) {
                tell("next: " + step);
                return true;
            }
            out.print(step + "? [y/N] ");
            out.flush();
            String answer = read();
            return answer != null && answer.strip().toLowerCase(Locale.ROOT).equals("y");
        }

        /** Null at the end of what there is to read. */
        private @Nullable String read() {
            try {
                return in.readLine();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read the confirmation from standard input", e);
            }
        }
    }
}
