package io.understudy.mirror.takeover;

/** Ends a hand-over after a step, before or after its word in the journal, as kill -9 would. */
record Killed(String step, boolean journaled) implements HandoverListener {

    /** In place of the process' end. */
    static final class KilledException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @Override
    public void taken(StepPlan plan) {
        if (!journaled && plan.name().equals(step)) {
            throw new KilledException();
        }
    }

    @Override
    public void ends(StepPlan plan) {
        if (journaled && plan.name().equals(step)) {
            throw new KilledException();
        }
    }
}
