package io.understudy.mirror.revisions;

import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.revisions.CheckpointHistory.TargetUnreadableException;
import io.understudy.mirror.revisions.Translation.ListAgain;
import io.understudy.mirror.revisions.Translation.NotYet;
import io.understudy.mirror.revisions.Translation.ResumeAt;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.Revision;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Translates revisions of the source into the target's. Checkpoint revisions only increase after the last resync, so a
 * binary search in the history of the checkpoint key takes some thirty reads. The map lives as long as the target's
 * history, and thus as long as a watcher can use it. In addition only the end of the last resync is stored, see {@link
 * ReservedKeys#resumable}.
 *
 * <p>Invariant M34: a watcher that resumes at the translated revision misses nothing, and sees each deletion that a
 * watcher of the source would see.
 */
public final class RevisionMap {

    /** Lost changes, which the report of the move names. */
    private static final String LATER = "; later changes, if any, are lost";

    private final CheckpointHistory history;

    public RevisionMap(CheckpointHistory history) {
        this.history = history;
    }

    /**
     * Returns where a watcher resumes.
     *
     * @param seen source revision up to which the watcher has received every change
     */
    public Translation translate(Revision seen) throws TargetUnreadableException, InterruptedException {
        Moment now = history.now();
        Checkpoint reached = now.checkpoint();
        if (reached == null) {
            return new NotYet(Revision.ZERO, "the target has no checkpoint of this mirror");
        }
        if (reached.state() != CheckpointState.SYNCING && now.holdsMoreThan(seen, reached.source())) {
            Moment resumable = history.resumable(now);
            return seen.isBefore(revision(resumable))
                    ? listAgain(
                            resumable.written(),
                            resumable,
                            "the target may lack deletions up to source revision " + revision(resumable)
                                    + ", where its last resync ended")
                    : resume(seen, now, resumable);
        }
        if (reached.state() == CheckpointState.SYNCED && reached.revision().equals(seen)) {
            return history.isHomeAt(now.revision())
                    ? resumeAfter(now, null)
                    : new ResumeAt(now.revision().next());
        }
        if (history.homeSince().isPresent()) {
            return new ListAgain(
                    now.revision(),
                    null,
                    reached.state() == CheckpointState.SYNCED
                            ? "the target became primary, with the source's changes up to revision "
                                    + reached.revision() + LATER
                            : "the target became primary while "
                                    + reached.state().word() + ", so it had no consistent state of the source");
        }
        return new NotYet(
                reached.revision(),
                reached.state() == CheckpointState.SYNCED
                        ? "the target has revision " + reached.revision()
                        : "the target is " + reached.state().word() + " after revision " + reached.revision());
    }

    /**
     * Returns the target's oldest readable revision: its compact revision, or 1 without one.
     *
     * @param now current revision of the target, at least 1
     */
    public Revision oldest(Revision now) throws TargetUnreadableException, InterruptedException {
        return first(Revision.ZERO, now, Optional::isPresent);
    }

    /** Returns the first target revision from which the condition holds, by binary search. */
    Revision first(Revision notYet, Revision reached, Condition condition)
            throws TargetUnreadableException, InterruptedException {
        long low = notYet.value();
        long high = reached.value();
        while (high - low > 1) {
            long middle = low + (high - low) / 2;
            if (condition.holds(history.at(new Revision(middle)))) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return new Revision(high);
    }

    /** A condition on the target's past state; the argument is empty for a compacted revision. */
    interface Condition {
        boolean holds(Optional<Moment> at);
    }

    /** @param resumable start of increasing checkpoints up to {@code now}; at most {@code seen} */
    private Translation resume(Revision seen, Moment now, Moment resumable)
            throws TargetUnreadableException, InterruptedException {
        Revision more = first(
                resumable.written(),
                now.revision(),
                at -> at.isPresent() && revision(at.get()).isAfter(seen));
        Moment from = history.at(more).orElse(now);
        Moment before = history.at(before(more)).orElse(null);
        if (before == null) {
            return listAgain(more, from, "target history is compacted up to revision " + more);
        }
        Revision base = revision(before);
        if (history.isHomeAt(before.revision())) {
            // No mirror wrote meanwhile.
            return before.isWhole() && base.equals(seen)
                    ? resumeAfter(before, from)
                    : listAgain(
                            more,
                            from,
                            "the target was primary in the meantime, with the source's changes up to revision " + base
                                    + LATER);
        }
        if (before.isWhole()) {
            return new ResumeAt(more);
        }
        // Some of the changes came in parts, before the checkpoint moved on.
        Revision held = first(
                before(resumable.written()),
                before.revision(),
                at -> at.isPresent() && !revision(at.get()).isBefore(base));
        Optional<Moment> first = history.at(held);
        if (first.isEmpty() || !first.get().isWhole()) {
            return listAgain(more, from, "target history is compacted up to revision " + held);
        }
        return new ResumeAt(
                first(held, before.revision(), at -> at.isPresent() && !at.get().isWhole()));
    }

    /**
     * Resumes after the mirror's last commit, at the first write of other clients.
     *
     * @param resumable when a mirror writes again; null if none does
     */
    private Translation resumeAfter(Moment moment, @Nullable Moment resumable)
            throws TargetUnreadableException, InterruptedException {
        if (history.at(moment.written()).isPresent()) {
            return new ResumeAt(moment.written().next());
        }
        String why = "target history is compacted up to revision " + moment.written();
        return resumable == null
                ? new ListAgain(moment.revision(), null, why)
                : listAgain(resumable.revision(), resumable, why);
    }

    /** @param resumable first moment that resumes */
    private static ListAgain listAgain(Revision oldest, Moment resumable, String why) {
        Revision from = revision(resumable);
        return new ListAgain(oldest, from, why + ". Revisions from " + from + " resume");
    }

    private static Revision before(Revision revision) {
        return new Revision(Math.max(0, revision.value() - 1));
    }

    private static Revision revision(Moment moment) {
        @Nullable Checkpoint checkpoint = moment.checkpoint();
        return checkpoint == null ? Revision.ZERO : checkpoint.revision();
    }
}
