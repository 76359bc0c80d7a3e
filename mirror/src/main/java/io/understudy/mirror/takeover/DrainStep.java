package io.understudy.mirror.takeover;

import io.understudy.mirror.checkpoint.CheckpointState;
import java.time.Duration;

/** Waits until the target has all that the source had at a moment after which it did not change, as far as can be seen. */
record DrainStep(Parties parties, Duration deadline) implements Step {

    private static final Duration PAUSE = Duration.ofMillis(50);

    @Override
    public StepPlan plan() {
        return new StepPlan(
                "drain",
                "waits, " + deadline.toSeconds() + " s at most, until " + parties.to() + " has reached the revision of "
                        + parties.from() + ", and that still shows the same one",
                "a running mirror",
                "changes nothing");
    }

    @Override
    public boolean isDone(Journal journal) {
        return journal.has("drain") && journal.has("verify") && new ActiveKey(parties).isHeldBy(journal.writer());
    }

    @Override
    public Journal perform(Journal journal) {
        long end = System.nanoTime() + deadline.toNanos();
        while (true) {
            long before = parties.source().head().revision().value();
            awaitRelayed(before, end);
            long after = parties.source().head().revision().value();
            if (after == before) {
                return journal.edit().drainedAt(after).build();
            }
            if (System.nanoTime() > end) {
                throw new TakeOverException(parties.from() + " went from revision " + before + " to " + after
                        + " while " + parties.to()
                        + " reached the former: it is still being written. Stop all writers, or"
                        + " use --freeze alarm; --undo lifts the freeze");
            }
        }
    }

    private void awaitRelayed(long revision, long end) {
        while (true) {
            TargetCheckpoint found = TargetCheckpoint.read(parties.target(), parties.mirror());
            if (found.checkpoint().state() == CheckpointState.SYNCED
                    && found.checkpoint().revision().value() >= revision) {
                return;
            }
            if (System.nanoTime() > end) {
                throw new TakeOverException(parties.to() + " is "
                        + found.checkpoint().state().word() + " at revision "
                        + found.checkpoint().revision() + " and did not reach " + revision + " of " + parties.from()
                        + " within "
                        + deadline.toSeconds() + " s: is the mirror running? Run this again to continue waiting; --undo"
                        + " lifts the freeze");
            }
            PatientCalls.pause(PAUSE);
        }
    }

    @Override
    public Journal undo(Journal journal) {
        return journal.edit().drainedAt(0).build();
    }
}
