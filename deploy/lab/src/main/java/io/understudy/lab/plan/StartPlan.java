package io.understudy.lab.plan;

import io.understudy.vocabulary.DaemonThreads;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Steps with what each waits for. Every step runs on a thread of its own as soon as those before it are done; the first
 * failure gives up the rest.
 */
public final class StartPlan {

    private static final Logger LOG = LoggerFactory.getLogger(StartPlan.class);
    private static final long GIVE_UP_SECONDS = 1;

    private final List<LabStep> steps;
    private final CompletableFuture<Void> givenUp = new CompletableFuture<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(DaemonThreads.named("lab-start"));

    /**
     * Checks that the steps can all be done.
     *
     * @throws IllegalArgumentException a name is there twice, or a step waits for one that is not listed before it
     */
    public StartPlan(List<LabStep> steps) {
        this.steps = List.copyOf(steps);
        Map<String, LabStep> before = new HashMap<>();
        for (LabStep step : steps) {
            if (!before.keySet().containsAll(step.after())) {
                throw new IllegalArgumentException("step " + step.name() + " depends on " + step.after()
                        + "; preceding steps: " + before.keySet());
            }
            if (before.put(step.name(), step) != null) {
                throw new IllegalArgumentException("step " + step.name() + " is listed twice");
            }
        }
    }

    /**
     * Runs all steps and waits for them. At its end, however it ends, no step runs any more, or it was interrupted and
     * has ignored that for a second.
     *
     * @throws InterruptedException this thread was interrupted, which gives up as well
     * @throws Exception of the first step that failed
     */
    public void run() throws Exception {
        Map<String, CompletableFuture<Void>> begun = new HashMap<>();
        for (LabStep step : steps) {
            CompletableFuture<?>[] before =
                    step.after().stream().map(begun::get).toArray(CompletableFuture<?>[]::new);
            CompletableFuture<Void> done =
                    CompletableFuture.allOf(before).thenRunAsync(() -> perform(step.action()), threads);
            begun.put(step.name(), done);
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(begun.values().toArray(CompletableFuture<?>[]::new));
        try {
            CompletableFuture.anyOf(givenUp, all).get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            threads.shutdownNow();
            if (!threads.awaitTermination(GIVE_UP_SECONDS, TimeUnit.SECONDS)) {
                LOG.atWarn().log("start step did not stop after interrupt");
            }
        }
    }

    private void perform(LabStep.Action action) {
        try {
            action.run();
        } catch (Exception | Error e) {
            givenUp.completeExceptionally(e);
            throw new CompletionException(e);
        }
    }

    /**
     * A step of a start plan.
     *
     * @param after names of the steps that must be done before
     */
    public record LabStep(String name, Set<String> after, Action action) {

        public LabStep {
            after = Set.copyOf(after);
        }

        /** A step that needs no other. */
        public static LabStep first(String name, Action action) {
            return new LabStep(name, Set.of(), action);
        }

        public static LabStep after(String other, String name, Action action) {
            return new LabStep(name, Set.of(other), action);
        }

        /** The work of a step, which ends soon when interrupted. */
        @FunctionalInterface
        public interface Action {
            void run() throws Exception;
        }
    }
}
