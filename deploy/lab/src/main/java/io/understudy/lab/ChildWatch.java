package io.understudy.lab;

import io.understudy.lab.ChildWatch.RestartPolicy.Verdict;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.part.Part;
import io.understudy.lab.part.Part.Child;
import io.understudy.local.process.ServerProcess;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;

/** Monitors the child processes and restarts those that were killed from outside. One thread. */
final class ChildWatch {

    private final List<Part> parts;
    private final InstantSource clock;
    private final Consumer<String> notes;
    private final RestartPolicy policy = new RestartPolicy();
    private final Map<String, Long> pids = new HashMap<>();

    /** @param notes receives each restart */
    ChildWatch(List<Part> parts, InstantSource clock, Consumer<String> notes) {
        this.parts = List.copyOf(parts);
        this.clock = clock;
        this.notes = notes;
    }

    /** @throws LabException a child has ended, whatever the reason */
    void requireAllAlive() {
        look((child, status) -> {
            Verdict verdict = policy.judge(child.name(), status, clock.instant());
            throw child.failure(verdict.how() + " during the start of the lab");
        });
    }

    /** @throws LabException a child ended by itself, or too often */
    void restartTheKilled() {
        look((child, status) -> {
            Verdict verdict = policy.judge(child.name(), status, clock.instant());
            if (verdict instanceof Verdict.Fatal) {
                throw child.failure(verdict.how());
            }
            restart(child, verdict);
        });
    }

    private void restart(Child child, Verdict verdict) {
        long before = pids.getOrDefault(child.name(), -1L);
        child.again().run();
        notes.accept(String.format(
                "%tT %s (pid %d) %s; restarted as pid %d",
                clock.instant().atZone(java.time.ZoneId.systemDefault()),
                child.name(),
                before,
                verdict.how(),
                child.process().get().pid().orElse(-1)));
    }

    private void look(ObjIntConsumer<Child> dead) {
        for (Part part : parts) {
            for (Child child : part.children()) {
                ServerProcess process = child.process().get();
                process.pid().ifPresent(pid -> pids.put(child.name(), pid));
                OptionalInt status = process.exitStatus();
                if (status.isPresent()) {
                    dead.accept(child, status.getAsInt());
                }
            }
        }
    }

    /**
     * Decides whether a child that ended is started again.
     *
     * <p>A child killed from outside is, unless that happens too often. A child that failed by itself is not; its log has
     * the reason.
     *
     * <p>Invariant DP6: a killed part restarts; a part that exits by itself ends the lab with the end of its log.
     */
    static final class RestartPolicy {

        static final int FATAL_DEATHS = 3;
        static final Duration WITHIN = Duration.ofSeconds(60);

        private static final int SIGNALLED = 128;

        /** Signals that a process brings upon itself by a fault: QUIT is not among them. */
        private static final Map<Integer, String> OWN_FAULTS =
                Map.of(4, "SIGILL", 6, "SIGABRT", 7, "SIGBUS", 8, "SIGFPE", 11, "SIGSEGV");

        private static final Map<Integer, String> OUTSIDE =
                Map.of(1, "SIGHUP", 2, "SIGINT", 3, "SIGQUIT", 9, "SIGKILL", 15, "SIGTERM");

        private final Map<String, Deque<Instant>> deaths = new HashMap<>();

        /** The reaction to the end of a process. */
        sealed interface Verdict {

            /** Returns how it ended, such as {@code was killed by SIGKILL}. */
            String how();

            record Restart(String how) implements Verdict {}

            record Fatal(String how) implements Verdict {}
        }

        /**
         * Judges one death.
         *
         * @param exitStatus 128 + n after signal n
         */
        Verdict judge(String child, int exitStatus, Instant now) {
            String how = describe(exitStatus);
            if (!fromOutside(exitStatus)) {
                return new Verdict.Fatal(how);
            }
            Deque<Instant> recent = deaths.computeIfAbsent(child, name -> new ArrayDeque<>());
            recent.addLast(now);
            while (recent.getFirst().isBefore(now.minus(WITHIN))) {
                recent.removeFirst();
            }
            return recent.size() < FATAL_DEATHS
                    ? new Verdict.Restart(how)
                    : new Verdict.Fatal(how + ", exit " + recent.size() + " within " + WITHIN.toSeconds() + " s");
        }

        /** A server ends with status 0 only after a stop signal, such as SIGTERM. */
        private static boolean fromOutside(int exitStatus) {
            return exitStatus == 0 || (exitStatus > SIGNALLED && !OWN_FAULTS.containsKey(exitStatus - SIGNALLED));
        }

        private static String describe(int exitStatus) {
            if (exitStatus == 0) {
                return "was stopped";
            }
            if (exitStatus <= SIGNALLED) {
                return "failed with exit status " + exitStatus;
            }
            int signal = exitStatus - SIGNALLED;
            String crash = OWN_FAULTS.get(signal);
            return crash != null
                    ? "crashed with " + crash
                    : "was killed by " + OUTSIDE.getOrDefault(signal, "signal " + signal);
        }
    }
}
