package io.understudy.cli;

import io.understudy.cluster.recover.LearnerRestore;
import io.understudy.cluster.recover.Operator;
import io.understudy.cluster.recover.Recovery;
import io.understudy.cluster.recover.Survey;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.SnapshotDirectory;
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
import java.util.Set;
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
            "Recover a cluster after quorum loss, from all members that still have data.",
            "Starts stopped members with their data first. If there is still no quorum for 30 s, starts lost voting members without data under their old names, as many as the quorum lacks: the most complete survivor is elected, and its whole log is kept. Then the other lost members join again.",
            "If only a learner is left, creates a new cluster from its data. Stops if another member may have more recent data; then specify --from.",
            "Each step needs confirmation: lost members must be lost for good, and fenced. Writes that only they had are lost. Keeps every data directory. Run it again after an interruption."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:the cluster has a quorum", "1:the cluster has no quorum", "2:usage error"})
final class ClusterRecoverCommand implements Callable<Integer> {

    @Mixin
    private ClusterFlags flags;

    @Option(
            names = "--from",
            split = ",",
            paramLabel = "NAME",
            description = "Members to recover from, regardless of the data of the others.")
    private Set<String> from = Set.of();

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
            ClusterSettings settings = cluster.settings();
            Survey survey = cluster.survey(operator::print);
            LearnerRestore learners = new LearnerRestore(
                    survey,
                    operator,
                    () -> SnapshotTool.of(settings.machines()),
                    () -> EtcdBinaries.find().etcd(),
                    settings.snapshots().directory().map(SnapshotDirectory::new),
                    settings.shape().voters(),
                    timeout);
            boolean isDone = new Recovery(survey, operator, learners, timeout).run(from);
            operator.print(
                    isDone
                            ? "next: understudy cluster status; if members are missing, understudy cluster scale "
                                    + settings.shape().voters()
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
        public void print(String line) {
            out.println(line);
            out.flush();
        }

        @Override
        public boolean confirms(String step) {
            if (isConfirmed) {
                print("next: " + step);
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
