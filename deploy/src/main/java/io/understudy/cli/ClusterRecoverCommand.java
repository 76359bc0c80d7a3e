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
            "Go on from the member with the most recent data, when the quorum is lost for good; asks before every step.",
            "It looks for a quorum for half a minute first, and stops where another may have more data: then --from chooses.",
            "Members that have their data are started first, which may be all that is needed. What only the lost members"
                    + " had is lost; every data directory is kept. Can be run again after an interruption."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:the quorum is held", "1:it is not", "2:bad usage"})
final class ClusterRecoverCommand implements Callable<Integer> {

    @Mixin
    private ClusterFlags flags;

    @Option(names = "--from", paramLabel = "NAME", description = "Go on from this member, whatever the others have.")
    private String from;

    @Option(names = "--yes", description = "Ask nothing.")
    private boolean isConfirmed;

    @Option(
            names = "--timeout",
            converter = DurationFlag.class,
            defaultValue = "5m",
            paramLabel = "TIME",
            description = "How long a member may take to serve; ${DEFAULT-VALUE} by default.")
    private Duration timeout;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (ClusterConnection cluster = flags.connect(spec.commandLine())) {
            if (cluster.places().isEmpty()) {
                throw new ParameterException(
                        spec.commandLine(), "a configuration with machines is needed: --config is missing");
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
                            ? "to grow again: add members one by one, as learners first"
                            : "nothing more was done; run it again to go on");
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
                throw new UncheckedIOException("the answer can't be read", e);
            }
        }
    }
}
