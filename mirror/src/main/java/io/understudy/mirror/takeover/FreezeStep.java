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
    public boolean isBegun(Journal journal) {
        return journal.has("freeze") || journal.hasFreeze();
    }

    @Override
    public Journal prepare(Journal journal) {
        return freeze.prepare(journal);
    }

    @Override
    public Journal perform(Journal journal) {
        freeze.raise(journal);
        if (!JournalStore.isHeld(parties, journal)) {
            // Who has taken it back meanwhile may have lifted it too soon.
            freeze.lift(journal);
            throw JournalStore.writtenMeanwhile(parties);
        }
        return anew(journal)
                .edit()
                .frozenAt(parties.source().head().revision().value())
                .build();
    }

    /** Where it had been lifted by somebody after these steps were done. */
    private Journal anew(Journal journal) {
        if (!journal.has("drain")) {
            return journal;
        }
        // To be drained, the mirror has to be active.
        new ActiveKey(parties).release(journal.writer());
        return journal.without("drain")
                .without("verify")
                .without("fence")
                .edit()
                .fenced(0, null)
                .build();
    }

    @Override
    public Journal undo(Journal journal) {
        freeze.lift(journal);
        return journal;
    }
}
