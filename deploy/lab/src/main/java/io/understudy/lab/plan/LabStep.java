package io.understudy.lab.plan;

import java.util.Set;

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
