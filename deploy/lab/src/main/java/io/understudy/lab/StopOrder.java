package io.understudy.lab;

import io.understudy.lab.part.Child;
import io.understudy.lab.part.Part;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Stops the parts group after group, those of a group at the same time. Readers come before what they read. Every part
 * is tried. What has not ended in time is killed.
 */
final class StopOrder {

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
                .map(part -> CompletableFuture.runAsync(part::stop, StopOrder::inThread))
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

    private static void inThread(Runnable task) {
        Thread thread = new Thread(task, "lab-stop");
        thread.setDaemon(true);
        thread.start();
    }
}
