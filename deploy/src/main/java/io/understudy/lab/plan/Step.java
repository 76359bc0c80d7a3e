package io.understudy.lab.plan;

import java.util.Set;

/**
 * One thing to do.
 *
 * @param after names of the steps that must be done before
 */
public record Step(String name, Set<String> after, Action action) {

    public Step {
        after = Set.copyOf(after);
    }

    /** A step that needs no other. */
    public static Step first(String name, Action action) {
        return new Step(name, Set.of(), action);
    }

    public static Step after(String other, String name, Action action) {
        return new Step(name, Set.of(other), action);
    }

    /** What a step does. Interrupted when the plan is given up; ends soon then. */
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }
}
