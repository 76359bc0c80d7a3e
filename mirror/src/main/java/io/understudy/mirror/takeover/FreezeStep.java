package io.understudy.mirror.takeover;

/** Keeps the source from being written. */
record FreezeStep(Parties parties, Freeze freeze) implements Step {

    @Override
    public StepPlan plan() {
        return new StepPlan("freeze", freeze.does(), freeze.needs(), freeze.undone());
    }

    @Override
    public boolean isDone(Journal journal) {
        return journal.has("freeze") && freeze.isRaised(journal);
    }

    @Override
    public Journal prepare(Journal journal) {
        return freeze.prepare(journal);
    }

    @Override
    public Journal perform(Journal journal) {
        freeze.raise(journal);
        return journal.edit()
                .frozenAt(parties.source().head().revision().value())
                .build();
    }

    @Override
    public Journal undo(Journal journal) {
        freeze.lift(journal);
        return journal;
    }
}
