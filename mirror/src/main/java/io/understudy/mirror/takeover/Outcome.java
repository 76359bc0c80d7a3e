package io.understudy.mirror.takeover;

import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.takeover.HandoverReport.Fact;
import io.understudy.vocabulary.Counted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Says what a hand-over came to, and no more than is known.
 *
 * @param counted whether the journal has the late commits up to now; else up to when the home had moved
 */
record Outcome(Parties parties, Journal journal, FreezeFound freeze, boolean counted) {

    HandoverReport report() {
        boolean planned = journal.kind() == Journal.Kind.SWITCHOVER;
        Optional<CheckpointState> unsynced = unsynced();
        String summary = "the home of mirror " + parties.mirror() + " is now "
                + parties.target().shown() + " (cluster " + journal.target() + ")";
        List<Fact> facts = new ArrayList<>();
        if (planned) {
            facts.add(new Fact("freeze", journal.freeze().word() + ", from " + revision(journal.frozenAt())));
            facts.add(new Fact("relayed while frozen", relayed()));
            facts.add(new Fact("drained at", revision(journal.drainedAt())));
            facts.add(new Fact("keys compared, all equal", String.valueOf(journal.verifiedKeys())));
        }
        String state = "no state that the source ever had: it was "
                + unsynced.map(CheckpointState::word).orElse("");
        facts.add(new Fact(
                "data up to",
                unsynced.isPresent() ? state : revision(journal.fencedAt()) + ", as of " + journal.dataAt()));
        String loss = loss();
        if (freeze == FreezeFound.LIFTED) {
            loss += ", when the home moved. Since then the freeze of " + parties.from()
                    + " was lifted: what came before that was not counted, and what is written there will be lost";
        }
        return new HandoverReport(summary, loss, facts, next());
    }

    /** Not in the facts' names, which are the same for whoever reads them in JSON, whichever way the home has moved. */
    private String revision(long revision) {
        return "revision " + revision + " of " + parties.from();
    }

    /** What a target was in that was forced to take over; empty if it was whole. Nobody has written that since. */
    private Optional<CheckpointState> unsynced() {
        if (journal.kind() != Journal.Kind.FAILOVER) {
            return Optional.empty();
        }
        CheckpointState state = TargetCheckpoint.read(parties.target(), parties.mirror())
                .checkpoint()
                .state();
        return state == CheckpointState.SYNCED ? Optional.empty() : Optional.of(state);
    }

    private String relayed() {
        long commits = Math.max(0, journal.fencedAt() - journal.frozenAt());
        return switch (journal.freeze()) {
            case ALARM -> Counted.of(commits, "commit") + " by deletes and expiries";
            case AUTH -> Counted.of(commits, "commit") + " by users with the role root, or expiries";
            case NONE -> Counted.of(commits, "commit");
        };
    }

    /** "none" only if nobody could write, nothing was on its way, and both sides were compared. */
    private String loss() {
        if (journal.kind() == Journal.Kind.FAILOVER) {
            Optional<CheckpointState> unsynced = unsynced();
            if (unsynced.isPresent()) {
                return "certain, of unknown extent: " + parties.to() + " was "
                        + unsynced.get().word() + ", so it holds no state that the source ever had";
            }
            return "possible, everything after revision " + journal.fencedAt() + " of " + journal.dataAt();
        }
        if (journal.freeze() == FreezeMode.NONE) {
            return unfrozen();
        }
        if (!journal.has("drain") || !journal.has("verify")) {
            return "not known: " + parties.from() + " was not drained and compared";
        }
        String what = journal.freeze() == FreezeMode.ALARM ? "deletes or expiries" : "expiries or writes of root";
        if (journal.late() == 0) {
            // Where it was lifted, that is said for it.
            return counted || freeze == FreezeFound.LIFTED
                    ? "none"
                    : "none, when the home moved; " + parties.from() + " does not report whether there were " + what
                            + " since then, which will be lost";
        }
        if (journal.late() == Journal.UNKNOWN) {
            return "not known: " + parties.from() + " does not report whether anything was committed after revision "
                    + journal.fencedAt();
        }
        return "possible: " + (counted ? "" : "at least ") + Counted.of(journal.late(), "commit") + " of "
                + parties.from() + " after revision "
                + journal.fencedAt() + " came too late to be relayed; frozen as it was, there can be nothing but "
                + what;
    }

    private String unfrozen() {
        String wasNot = parties.from() + " was not frozen";
        if (journal.late() == Journal.UNKNOWN) {
            return "not known: " + wasNot + ", and does not report what was committed after revision "
                    + journal.fencedAt();
        }
        if (journal.late() > 0) {
            return Counted.of(journal.late(), "commit") + " to mirrored keys: " + wasNot
                    + ", and was written after revision " + journal.fencedAt()
                    + ", until the home had moved, and perhaps since";
        }
        return "not known: " + wasNot
                + "; none if no client wrote it since the home has moved, as none did from revision "
                + journal.fencedAt() + " until then";
    }

    private List<String> next() {
        List<String> next = new ArrayList<>();
        if (journal.freeze() == FreezeMode.NONE && journal.late() > 0) {
            next.add("stop all writers of " + parties.source().shown()
                    + "; failback shows which keys were written there");
        }
        next.add("point clients at " + parties.target().shown());
        if (freeze == FreezeFound.LIFTED) {
            next.add(parties.from()
                    + " is not frozen any more, though it is not the home: a failback that did not come to"
                    + " its end has lifted that, or another client. Keep clients off it, and run \"understudy mirror"
                    + " failback\" to its end, or with --undo, which freezes it again");
        } else if (journal.freeze() != FreezeMode.NONE) {
            next.add(parties.from() + " " + stays() + " frozen ("
                    + journal.freeze().word() + "); failback lifts that");
        }
        next.add("to go back: understudy mirror failback");
        return next;
    }

    private String stays() {
        if (journal.kind() == Journal.Kind.FAILOVER) {
            return "may still be";
        }
        return freeze == FreezeFound.RAISED ? "stays" : "was left";
    }
}
