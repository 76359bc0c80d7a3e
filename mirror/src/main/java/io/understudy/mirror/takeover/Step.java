package io.understudy.mirror.takeover;

/** One step of a hand-over. It may be interrupted anywhere and taken again; one thread. */
interface Step {

    StepPlan plan();

    /** Whether it needs not be taken (again), by what the journal says and the clusters show. */
    boolean isDone(Journal journal);

    /** What has to be in the journal before it is taken, so that it can be undone. */
    default Journal prepare(Journal journal) {
        return journal;
    }

    /**
     * Takes it.
     *
     * @throws TakeOverException it can't be taken
     */
    Journal perform(Journal journal);

    /** Whether something of it may have been done, that is to be undone. */
    default boolean isBegun(Journal journal) {
        return journal.has(plan().name());
    }

    /** Undoes it, as far as it has come. */
    default Journal undo(Journal journal) {
        return journal;
    }
}
