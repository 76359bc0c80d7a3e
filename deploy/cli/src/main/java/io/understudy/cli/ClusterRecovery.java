package io.understudy.cli;

import io.understudy.cluster.plan.Plan.Refusal;
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
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.Mixin;
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

    @Mixin
    private TakeOver takeOver;

    @Option(names = "--yes", description = "Skip all confirmations.")
    private boolean isConfirmed;

    @Option(
            names = "--start-timeout",
            defaultValue = "5m",
            paramLabel = "TIME",
            description = "Maximum time until a started member serves (default: ${DEFAULT-VALUE}).")
    private Duration timeout;

    private Runnable beforeFirstStep = () -> {};

    /** Returns whether the cluster has a quorum afterwards. */
    boolean run() {
        try (ClusterConnection cluster = connect()) {
            if (cluster.places().isEmpty()) {
                throw usageError("specify --config with a configuration that has machines");
            }
            beforeFirstStep = () -> requireNoSupervisor(cluster);
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
            List<String> kept =
                    isDone ? survey.kept().stream().map(Path::toString).toList() : List.of();
            if (!kept.isEmpty()) {
                print("kept: " + String.join(", ", kept)
                        + "; delete them after the applications have verified their data and a snapshot is saved"
                        + " (understudy cluster snapshot save)");
            }
            print(next);
            if (isJson()) {
                json(cells("quorum", isDone, "kept", kept, "next", next));
            }
            return isDone;
        }
    }

    /** Without a quorum supervisors cannot be paused, and start members themselves. */
    private void requireNoSupervisor(ClusterConnection cluster) {
        List<String> notes = new ArrayList<>();
        try {
            List<Refusal> acting = takeOver.acting(cluster, notes::add);
            if (!acting.isEmpty()) {
                throw new IllegalStateException(
                        acting.stream().map(Refusal::toString).collect(Collectors.joining("; ")));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading the state of supervisors", e);
        }
        if (!notes.isEmpty() && !takeOver.isConfirmed) {
            throw new IllegalStateException(
                    "supervisors may run, which would start or replace members: " + String.join("; ", notes)
                            + ". Stop all supervisors of this cluster, then repeat with --take-over");
        }
        notes.forEach(this::print);
    }

    @Override
    public void print(String line) {
        progress(line);
    }

    @Override
    public boolean confirms(String step) {
        beforeFirstStep.run();
        beforeFirstStep = () -> {};
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
