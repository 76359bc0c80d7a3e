package io.understudy.mirror.revisions;

import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.revisions.Translation.ListAgain;
import io.understudy.mirror.revisions.Translation.NotYet;
import io.understudy.mirror.revisions.Translation.ResumeAt;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Translates revisions of the source into the target's. Nothing is stored for it: the revisions of a checkpoint only
 * move forward while its source stays the same, so the history of the checkpoint key is searched by halves from the key's
 * creation on, some thirty reads. The map lives as long as
 * the target's history, which is as long as a watcher could use it.
 *
 * <p>Invariant M34: a watcher that resumes at the translated revision misses nothing.
 */
public final class RevisionMap {

    /** Nothing here tells whether the source had any: the hand-over's report does. */
    private static final String LATER = "; later changes, if any, are lost";

    private final CheckpointHistory history;

    public RevisionMap(CheckpointHistory history) {
        this.history = history;
    }

    /**
     * Where a watcher goes on.
     *
     * @param seen the watcher has seen every change of the source up to there
     */
    public Translation translate(Revision seen) throws TargetUnreadableException, InterruptedException {
        Moment now = history.now();
        Checkpoint reached = now.checkpoint();
        if (reached == null) {
            return new NotYet(Revision.ZERO, "the target has no checkpoint of this mirror");
        }
        ClusterId source = reached.source();
        if (now.holdsMoreThan(seen, source)) {
            // Checkpoints that were deleted before this one was created are of an earlier mirror.
            Revision absent = before(now.created());
            return resume(
                    seen,
                    source,
                    absent,
                    first(
                            absent,
                            now.revision(),
                            at -> at.isPresent() && at.get().holdsMoreThan(seen, source)));
        }
        if (reached.state() == CheckpointState.SYNCED && reached.revision().equals(seen)) {
            return history.isHomeAt(now.revision())
                    ? resumeAfter(now)
                    : new ResumeAt(now.revision().next());
        }
        if (history.homeSince().isPresent()) {
            return new ListAgain(
                    now.revision(),
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
     * The oldest revision of the target that can be read: its compact revision, or 1 if nothing was compacted.
     *
     * @param now the target's, at least 1
     */
    public Revision oldest(Revision now) throws TargetUnreadableException, InterruptedException {
        return first(Revision.ZERO, now, Optional::isPresent);
    }

    /** The target's revisions with such a checkpoint are all those from one on: which is it? */
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

    /** Whether the target, as it was then, is what is looked for; it is asked with nothing where that is compacted. */
    interface Condition {
        boolean holds(Optional<Moment> at);
    }

    /**
     * @param absent the target's last revision without this checkpoint
     * @param more the target's first revision with more than was seen
     */
    private Translation resume(Revision seen, ClusterId source, Revision absent, Revision more)
            throws TargetUnreadableException, InterruptedException {
        Moment before = more.value() == 1 ? null : history.at(before(more)).orElse(null);
        if (before == null) {
            return new ListAgain(more, "target history is compacted up to revision " + more);
        }
        Revision base = revision(before);
        if (before.isWhole() && before.checkpoint() == null) {
            return new ListAgain(more, "the mirror started after revision " + seen);
        }
        if (before.checkpoint() != null && !before.checkpoint().source().equals(source)) {
            return new ListAgain(
                    more,
                    "source cluster ID changed from " + before.checkpoint().source() + " to " + source + " at revision "
                            + before.revision() + " of the target");
        }
        if (history.isHomeAt(more)) {
            // No mirror writes meanwhile: a failback has brought both together.
            return before.isWhole() && base.equals(seen)
                    ? resumeAfter(before)
                    : new ListAgain(
                            more,
                            "the target was primary in the meantime, with the source's changes up to revision " + base
                                    + LATER);
        }
        if (before.isWhole()) {
            return new ResumeAt(more);
        }
        if (isSyncing(before) && base.isBefore(seen)) {
            // Keys that came after the base and went before the snapshot were never in the target: nothing tells that
            // they are gone.
            return new ListAgain(
                    more,
                    base.equals(Revision.ZERO)
                            ? "the mirror started at revision "
                                    + history.at(more)
                                            .map(RevisionMap::revision)
                                            .orElse(base) + ", after revision " + seen
                            : "the mirror was resynced from revision " + base + ", after revision " + seen);
        }
        // Some of the changes came in parts, before the checkpoint moved on.
        Revision held = first(
                before(absent),
                before.revision(),
                at -> at.isPresent() && !revision(at.get()).isBefore(base));
        Optional<Moment> first = history.at(held);
        if (first.isEmpty() || !first.get().isWhole()) {
            return new ListAgain(more, "target history is compacted up to revision " + held);
        }
        return new ResumeAt(
                first(held, before.revision(), at -> at.isPresent() && !at.get().isWhole()));
    }

    /** All that the target's owners have written after the mirror's last word. */
    private Translation resumeAfter(Moment moment) throws TargetUnreadableException, InterruptedException {
        return history.at(moment.written()).isPresent()
                ? new ResumeAt(moment.written().next())
                : new ListAgain(moment.revision(), "target history is compacted up to revision " + moment.written());
    }

    private static Revision before(Revision revision) {
        return new Revision(Math.max(0, revision.value() - 1));
    }

    private static boolean isSyncing(Moment moment) {
        Checkpoint checkpoint = moment.checkpoint();
        return checkpoint != null && checkpoint.state() == CheckpointState.SYNCING;
    }

    private static Revision revision(Moment moment) {
        @Nullable Checkpoint checkpoint = moment.checkpoint();
        return checkpoint == null ? Revision.ZERO : checkpoint.revision();
    }
}
