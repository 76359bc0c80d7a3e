package io.understudy.mirror.takeover;

/** Trusts the operator. */
record NoFreeze() implements Freeze {

    @Override
    public String does() {
        return "nothing: writers are stopped by you";
    }

    @Override
    public String needs() {
        return "that no client writes the source";
    }

    @Override
    public String undone() {
        return "nothing to undo";
    }

    @Override
    public Journal prepare(Journal journal) {
        return journal;
    }

    @Override
    public void raise(Journal journal) {
        // The operator has.
    }

    @Override
    public boolean isRaised(Journal journal) {
        return true;
    }

    @Override
    public void lift(Journal journal) {
        // Nothing was raised.
    }
}
