package io.understudy.mirror.takeover;

import java.util.List;

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
        // It may have been lifted by somebody after that was done.
        return journal.without("drain")
                .without("verify")
                .edit()
                .frozenAt(parties.source().head().revision().value())
                .build();
    }

    @Override
    public Journal undo(Journal journal) {
        freeze.lift(journal);
        return journal.edit().alarmMember(0).withdrawn(List.of()).build();
    }
}
