package io.understudy.mirror.takeover;

import com.google.protobuf.TextFormat;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.ReservedKeys;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What must hold before a failback begins, and what an earlier run has left of it. What takes a reading of all keys is found
 * once, not again for the plan, the check and the run of one command. Changes nothing. One thread.
 */
final class FailbackPreconditions {

    private final Parties forward;
    private final Parties backward;
    private final HandoverOptions options;
    private final OldSource old;

    private @Nullable Boolean goesOn;
    private boolean isPrunable;

    FailbackPreconditions(Parties forward, Parties backward, HandoverOptions options, OldSource old) {
        this.forward = forward;
        this.backward = backward;
        this.options = options;
        this.old = old;
    }

    /** What is known to stop it later is found before anything is done, since the thaw lets clients write again. */
    void require(Survey found) {
        CheckStep.requireScope(
                TargetCheckpoint.read(forward.target(), forward.mirror()).checkpoint(), forward);
        boolean goesOn = goesOn();
        if (found.behind() > 0 && !options.acceptSilentWatchers() && !goesOn) {
            long head = forward.source().head().revision().value();
            throw CheckStep.silentWatchers(backward, head, head + found.behind());
        }
        if (!goesOn && !hasFrozenSo()) {
            requireFreezable();
        }
        Homes there = new Homes(forward.source(), forward.mirror());
        new Homes(forward.target(), forward.mirror())
                .read()
                .flatMap(own -> there.keepingOut(own, forward.scope().sourceRanges()))
                .ifPresent(other -> {
                    throw keptOut(other);
                });
        // Last, since it reads all keys. What an earlier run has frozen is lifted first of all: nothing may be in the
        // way of that.
        if (!isPrunable && !isHandingOver()) {
            Surplus.requirePrunable(backward);
            isPrunable = true;
        }
    }

    /** Whether what an earlier run has left can be gone on with, as far as was found first: it may take a comparison. */
    boolean goesOn() {
        Boolean known = goesOn;
        boolean found = known == null ? isHandingOver() && !needsMirror() : known;
        goesOn = found;
        return found;
    }

    /** Whether an earlier run may have frozen the new home in that way; that is taken back first. */
    private boolean hasFrozenSo() {
        Journal journal = unfinished();
        return journal != null && journal.hasFreeze() && journal.freeze() == options.freeze();
    }

    /** Only reads. */
    private void requireFreezable() {
        TargetCheckpoint there = TargetCheckpoint.read(forward.target(), forward.mirror());
        var unused = Freeze.of(options.freeze(), backward)
                .prepare(Journal.begun(
                        Journal.Kind.SWITCHOVER,
                        "failback",
                        Instant.now(),
                        there.cluster(),
                        there.checkpoint().source(),
                        options.freeze()));
    }

    private TakeOverException keptOut(Home other) {
        boolean isMovedThere = other.cluster().equals(other.target());
        String key = "key \"" + TextFormat.escapeBytes(ReservedKeys.home(other.mirror())) + "\"";
        return new TakeOverException("keys to be mirrored back have their home in "
                + backward.target().shown() + " through another mirror, " + other.mirror() + " ("
                + other.scope().shown() + ", clusters " + other.source() + " and " + other.target()
                + "): "
                + (isMovedThere
                        ? "fail back mirror " + other.mirror() + " first. If it no longer exists"
                        : "it started, or failed back, after the home of mirror " + forward.mirror()
                                + " moved, and its clients may write them there. To discard what "
                                + forward.target().shown() + " was written, start mirror " + forward.mirror()
                                + " over. To overwrite what its clients wrote, or if mirror " + other.mirror()
                                + " no longer exists")
                + ", delete " + key + " in both of its clusters");
    }

    /** As it is now. Not once the hand-over back has what it needs of it: it may have become the active process itself. */
    boolean needsMirror() {
        Journal journal = unfinished();
        return journal == null
                || journal.state() != Journal.State.RUNNING
                || journal.kind() != Journal.Kind.SWITCHOVER
                || !new VerifyStep(backward).isDone(journal)
                || !Freeze.of(journal.freeze(), backward).isRaised(journal)
                || old.isOverwritten();
    }

    boolean isHandingOver() {
        return unfinished() != null;
    }

    /** Of the hand-over back that is under way, or being undone; null for none. */
    @Nullable Journal unfinished() {
        Journal journal = new JournalStore(backward.target(), backward.mirror()).read();
        return journal != null && journal.isUnfinished() ? journal : null;
    }
}
