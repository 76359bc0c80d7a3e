package io.understudy.mirror.takeover;

/**
 * A step of a hand-over, in words for whoever has to decide on it.
 *
 * @param name by which the journal knows it
 * @param does what it changes, and where
 * @param needs what must hold for it
 * @param undone how it is undone
 */
public record StepPlan(String name, String does, String needs, String undone) {}
