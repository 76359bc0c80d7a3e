package io.understudy.lab;

import io.understudy.lab.RestartPolicy.Verdict;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.part.Child;
import io.understudy.lab.part.Part;
import io.understudy.local.process.ServerProcess;
import java.time.InstantSource;
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
}
