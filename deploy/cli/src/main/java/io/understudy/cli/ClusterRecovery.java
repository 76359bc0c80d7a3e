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
import picocli.CommandLine.Option;

/** Recovers a cluster after quorum loss; an operator confirms each step at the terminal. */
final class ClusterRecovery extends ClusterFlags implements Operator {

    private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));

    @Option(
            names = "--from",
            split = ",",
            paramLabel = "NAME",
            description = "Members to recover from, regardless of the data of the others.")
    private Set<String> from = Set.of();

    @Option(names = "--yes", description = "Skip all confirmations.")
    private boolean isConfirmed;

    @Option(
            names = "--start-timeout",
            defaultValue = "5m",
            paramLabel = "TIME",
            description = "Maximum time until a started member serves (default: ${DEFAULT-VALUE}).")
    private Duration timeout;

    /** Returns whether the cluster has a quorum afterwards. */
    boolean run() {
        try (ClusterConnection cluster = connect()) {
            if (cluster.places().isEmpty()) {
                throw usageError("specify --config with a configuration that has machines");
            }
            ClusterSettings settings = cluster.settings();
            Survey survey = cluster.survey(this::print);
            LearnerRestore learners = new LearnerRestore(
                    survey,
                    this,
                    () -> SnapshotTool.of(settings.machines()),
                    () -> EtcdBinaries.find().etcd(),
                    settings.snapshots().directory().map(SnapshotDirectory::new),
                    settings.shape(),
                    timeout);
            boolean isDone = new Recovery(survey, this, learners, timeout).run(from);
            String next = isDone
                    ? "next: understudy cluster status; if members are missing, understudy cluster scale "
                            + settings.shape().voters()
                    : "stopped; run the command again to continue";
            print(next);
            if (isJson()) {
                json(cells("quorum", isDone, "next", next));
            }
            return isDone;
        }
    }

    @Override
    public void print(String line) {
        progress(line);
    }

    @Override
    public boolean confirms(String step) {
        if (isConfirmed) {
            print("next: " + step);
            return true;
        }
        PrintWriter out = progressWriter();
        out.print(step + "? [y/N] ");
        out.flush();
        try {
            String answer = in.readLine();
            return answer != null && answer.strip().toLowerCase(Locale.ROOT).equals("y");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the confirmation from standard input", e);
        }
    }
}
