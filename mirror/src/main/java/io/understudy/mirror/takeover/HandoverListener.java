package io.understudy.mirror.takeover;

/** Follows a hand-over; called on its thread. */
public interface HandoverListener {

    /** Hears nothing. */
    HandoverListener NONE = new HandoverListener() {};

    /** The step is being taken, or undone. */
    default void begins(StepPlan step) {}

    /** The step was taken, which the journal doesn't know yet. */
    default void taken(StepPlan step) {}

    /** The step was taken, or undone, and the journal knows it. */
    default void ends(StepPlan step) {}
}
