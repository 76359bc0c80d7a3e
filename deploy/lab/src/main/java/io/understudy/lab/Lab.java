package io.understudy.lab;

import io.understudy.lab.check.SelfCheck.ClosedCoreException;
import io.understudy.lab.check.SelfCheck.WriteVisibility;
import io.understudy.lab.directory.LabDirectory;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.part.Part;
import io.understudy.lab.part.Part.Child;
import io.understudy.lab.plan.StartPlan;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import io.understudy.lab.ports.LabPorts.PortCheck;
import io.understudy.lab.ports.PortHolders;
import io.understudy.lab.progress.Progress;
import io.understudy.vocabulary.DaemonThreads;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One run of the lab: starts all parts, checks itself, and monitors them until stopped.
 *
 * <p>However it ends, all started parts are stopped.
 *
 * <p>Invariant DP3: after kills of mirror, voter, gateway and DR cluster, the topics, the edge cluster and its gateway
 * equal the core.
 *
 * <p>Invariant DP4: however the lab ends, SIGKILL included, it leaves no process and no listener.
 */
public final class Lab implements AutoCloseable {

    /** Maximum time until all parts have stopped after {@link #close}. */
    public static final Duration STOP_DEADLINE = Duration.ofSeconds(10);

    private static final Duration PARTS_STOP_DEADLINE = Duration.ofMillis(8500);
    private static final Duration WORKER_PATIENCE = Duration.ofSeconds(1);
    private static final long LOOK_MILLIS = 200;

    private final LabSettings settings;
    private final Progress progress;
    private final Consumer<LabReport> report;
    private final CountDownLatch stopRequested = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private volatile @Nullable Exception failure;

    /**
     * @param progress receives the start of the parts, and later events
     * @param report receives the result of the self-check, or that it is impossible because the core rejects writes
     */
    public Lab(LabSettings settings, Progress progress, Consumer<LabReport> report) {
        this.settings = settings;
        this.progress = progress;
        this.report = report;
    }

    /**
     * Runs the lab until {@link #close} or, if so configured, a successful self-check.
     *
     * @throws LabException it could not start, failed its check, lost a part, or could not stop a part in order
     */
    public void run() throws Exception {
        try (LabDirectory directory = LabDirectory.open(settings.dataDirectory(), settings.fresh())) {
            runIn(directory);
        } catch (StopRequestedException e) {
            // A requested stop is no failure.
            return;
        } catch (Exception e) {
            failure = e;
            throw e;
        } finally {
            progress.close();
            finished.countDown();
        }
    }

    private void runIn(LabDirectory directory) throws Exception {
        directory
                .abandonedBy()
                .ifPresent(pid -> progress.note("the lab that ran as process " + pid
                        + " exited without cleanup; taking over " + directory.path()));
        LabPorts ports = directory.ports(settings.ports());
        new PortCheck(PortHolders.ofThisMachine()).requireFree(ports, LabPort.used(settings.kafka()));
        LabNetwork network = new LabNetwork(ports, certificates(directory), users(directory));
        directory.remember(ports);
        LabParts parts = LabParts.of(directory, network, settings.kafka(), progress);
        ChildWatch watch = new ChildWatch(parts.all(), InstantSource.system(), progress::note);
        try {
            during(watch, () -> {
                new StartPlan(parts.steps()).run();
                return true;
            });
            List<WriteVisibility> seen = during(watch, () -> check(parts));
            progress.close();
            report.accept(parts.report(seen));
            while (!settings.exitAfterCheck() && !stopRequested.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                watch.restartTheKilled();
            }
        } catch (Exception e) {
            stop(parts).forEach(progress::note);
            throw e instanceof StopRequestedException ? e : explained(e, directory);
        }
        List<String> failures = stop(parts);
        if (!failures.isEmpty()) {
            throw new LabException(String.join("\n", failures));
        }
    }

    /** Returns the certificates; TLS cannot change later, since members keep their URLs. */
    private @Nullable LabCertificates certificates(LabDirectory directory) {
        Path folder = directory.path().resolve("pki");
        requireAsBefore(directory, "TLS", "--tls", LabCertificates.existIn(folder), settings.tls());
        return settings.tls() ? new LabCertificates(folder) : null;
    }

    private @Nullable LabUsers users(LabDirectory directory) {
        Path folder = directory.path().resolve("auth");
        requireAsBefore(directory, "authentication", "--auth", LabUsers.existIn(folder), settings.auth());
        return settings.auth() ? new LabUsers(folder) : null;
    }

    private static void requireAsBefore(LabDirectory directory, String what, String flag, boolean before, boolean now) {
        if (before != now && Files.exists(directory.path().resolve("core"))) {
            String with = before ? "with" : "without";
            throw new LabException(directory.path() + " has the data of a lab " + with + " " + what + "; start it "
                    + with + " " + flag + ", or delete the data with --fresh");
        }
    }

    private static Exception explained(Exception failed, LabDirectory directory) {
        String why = String.valueOf(failed.getMessage());
        if (failed instanceof ClosedCoreException) {
            return new LabException(why, failed);
        }
        if (why.contains("NOSPACE")) {
            return new LabException(
                    "a cluster in " + directory.path() + " rejects puts: it is full."
                            + " Delete the data with --fresh; " + why,
                    failed);
        }
        return directory
                .full()
                .<Exception>map(full -> new LabException(full + "; " + failed.getMessage(), failed))
                .orElse(failed);
    }

    private List<WriteVisibility> check(LabParts parts) throws Exception {
        try (Viewpoints viewpoints = parts.viewpoints()) {
            return parts.check(viewpoints).run();
        } catch (ClosedCoreException e) {
            // Failback needs the whole lab; a run for the check alone has none.
            if (settings.exitAfterCheck()) {
                throw e;
            }
            progress.note(e.getMessage() + "; self-check skipped");
            return List.of();
        }
    }

    private List<String> stop(LabParts parts) {
        progress.close();
        List<String> failures = new StopOrder(parts.stopOrder(), PARTS_STOP_DEADLINE, progress::note).stopAll();
        progress.note("stopped");
        return failures;
    }

    /** Runs work on another thread; fails if a child ends or a stop is requested. */
    private <T> T during(ChildWatch watch, Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        Thread worker = new Thread(task, "lab-work");
        worker.setDaemon(true);
        worker.start();
        try {
            while (true) {
                try {
                    return task.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    watch.requireAllAlive();
                    if (stopRequested.getCount() == 0) {
                        throw new StopRequestedException();
                    }
                }
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            worker.interrupt();
            worker.join(WORKER_PATIENCE.toMillis());
        }
    }

    /**
     * Stops {@link #run} and all parts, and waits for the end. Any thread; idempotent.
     *
     * @throws LabException {@code run} failed
     */
    @Override
    public void close() {
        stopRequested.countDown();
        try {
            finished.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted while the lab was stopping", e);
        }
        Exception known = failure;
        if (known != null) {
            throw new LabException("the lab failed: " + known.getMessage(), known);
        }
    }

    /** Signals a stop before there was a report. */
    private static final class StopRequestedException extends Exception {}

    /**
     * Stops the parts group after group, those of a group at the same time. Readers come before what they read. Every part
     * is tried. What has not ended in time is killed.
     */
    static final class StopOrder {

        /** Reserved time for each remaining group, and for killing. */
        private static final Duration RESERVE = Duration.ofMillis(1500);

        private static final Duration KILL_PATIENCE = Duration.ofMillis(500);

        private final List<List<Part>> groups;
        private final Duration deadline;
        private final Consumer<String> notes;

        /** @param deadline for all groups together, more than 1.5 s for each */
        StopOrder(List<List<Part>> groups, Duration deadline, Consumer<String> notes) {
            this.groups = List.copyOf(groups);
            this.deadline = deadline;
            this.notes = notes;
        }

        /** Stops all; returns the failures, a line each. */
        List<String> stopAll() {
            long end = System.nanoTime() + deadline.toNanos();
            List<String> failures = new ArrayList<>();
            for (int index = 0; index < groups.size(); index++) {
                List<Part> group = groups.get(index);
                notes.accept("stopping " + group.stream().map(Part::name).collect(Collectors.joining(", ")));
                failures.addAll(
                        stop(group, end - RESERVE.toNanos() * (groups.size() - index - 1) - KILL_PATIENCE.toNanos()));
            }
            return failures;
        }

        private static List<String> stop(List<Part> group, long end) {
            // Collected before the stop, since a stopping process reports none.
            List<List<ProcessHandle>> processes =
                    group.stream().map(StopOrder::processesOf).toList();
            List<CompletableFuture<Void>> stops = group.stream()
                    .map(part -> CompletableFuture.runAsync(part::stop, stop -> DaemonThreads.start("lab-stop", stop)))
                    .toList();
            List<String> failures = new ArrayList<>();
            for (int index = 0; index < group.size(); index++) {
                String name = group.get(index).name();
                CompletableFuture<Void> stop = stops.get(index);
                Optional<String> failure = wait(stop, end - System.nanoTime());
                if (failure.isPresent()) {
                    processes.get(index).forEach(ProcessHandle::destroyForcibly);
                    boolean gone = wait(stop, KILL_PATIENCE.toNanos()).isEmpty();
                    failures.add(name + " " + failure.get() + (gone ? "; killed" : "; kill failed"));
                }
            }
            return failures;
        }

        private static Optional<String> wait(CompletableFuture<Void> stop, long nanos) {
            try {
                stop.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
                return Optional.empty();
            } catch (TimeoutException e) {
                return Optional.of("did not stop in time");
            } catch (ExecutionException | CompletionException e) {
                return Optional.of("could not be stopped: " + e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.of("did not stop: interrupted");
            }
        }

        private static List<ProcessHandle> processesOf(Part part) {
            return part.children().stream()
                    .map(Child::process)
                    .flatMap(process -> process.get().pid().stream().boxed())
                    .flatMap(pid -> ProcessHandle.of(pid).stream())
                    .toList();
        }
    }

    /**
     * Settings of a lab.
     *
     * @param fresh whether to delete the data of an earlier lab
     * @param kafka whether Kafka, the mirror to it and its readers are part of the lab
     * @param tls whether all parts use TLS with client certificates
     * @param auth whether authentication is enabled in the core and the DR cluster
     * @param exitAfterCheck whether to stop after the self-check
     * @param ports those that were chosen; the others are as in the run before, or standard
     */
    public record LabSettings(
            Path dataDirectory,
            boolean fresh,
            boolean kafka,
            boolean tls,
            boolean auth,
            boolean exitAfterCheck,
            Map<LabPort, Integer> ports) {

        public LabSettings {
            ports = Map.copyOf(ports);
        }
    }
}
