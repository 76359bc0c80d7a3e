package io.understudy.mirror.takeover;

import io.understudy.vocabulary.ClusterId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a hand-over has done so far. Numbers are 0, and ids null, until they are known.
 *
 * @param writer names this hand-over; it is the writer of the checkpoint once the target is fenced
 * @param source the cluster that is the home before
 * @param target the cluster that is the home afterwards
 * @param alarmMember in whose name the alarm was raised
 * @param withdrawn what has to be granted again
 * @param done names of the steps that are done, in order
 * @param frozenAt revision of the source once it was frozen
 * @param drainedAt revision of the source that the target had reached when two reads showed it
 * @param verifiedKeys how many were found equal
 * @param verifiedAt revision of the target at which they were
 * @param fencedAt revision of the source that the target held when it was fenced
 * @param dataAt when the mirror was given what the target holds
 * @param late commits of the source to mirrored keys after that, when the home had moved, or {@link #UNKNOWN}
 * @param lost what a failback has found to be lost of the target's own, in words; empty for nothing, null until that is known
 */
record Journal(
        Kind kind,
        State state,
        String writer,
        Instant startedAt,
        ClusterId source,
        ClusterId target,
        FreezeMode freeze,
        long alarmMember,
        List<Grant> withdrawn,
        List<String> done,
        long frozenAt,
        long drainedAt,
        long verifiedKeys,
        long verifiedAt,
        long fencedAt,
        @Nullable Instant dataAt,
        long late,
        @Nullable String lost) {

    /** What the source didn't tell. */
    static final long UNKNOWN = -1;

    /** Which hand-over it is. */
    enum Kind {
        SWITCHOVER,
        FAILOVER
    }

    /** Where it stands. */
    enum State {
        RUNNING,
        DONE,
        UNDOING,
        UNDONE
    }

    Journal {
        withdrawn = List.copyOf(withdrawn);
        done = List.copyOf(done);
    }

    static Journal begun(Kind kind, String writer, Instant now, ClusterId source, ClusterId target, FreezeMode freeze) {
        return new Journal(
                kind,
                State.RUNNING,
                writer,
                now,
                source,
                target,
                freeze,
                0,
                List.of(),
                List.of(),
                0,
                0,
                0,
                0,
                0,
                null,
                0,
                null);
    }

    /** This one, in place of one that nobody has finished: with its fence, and its freeze, if there may be one. */
    Journal following(Journal before) {
        boolean mayBeFrozen = before.alarmMember() != 0 || before.freeze() == FreezeMode.AUTH;
        return new Journal(
                kind,
                state,
                before.writer(),
                startedAt,
                source,
                target,
                mayBeFrozen ? before.freeze() : freeze,
                before.alarmMember(),
                before.withdrawn(),
                done,
                frozenAt,
                drainedAt,
                verifiedKeys,
                verifiedAt,
                fencedAt,
                dataAt,
                late,
                lost);
    }

    /** Whether there may be something that was raised and is to be lifted. */
    boolean hasFreeze() {
        return alarmMember != 0 || !withdrawn.isEmpty() || (freeze == FreezeMode.AUTH && has("freeze"));
    }

    boolean isUnfinished() {
        return state == State.RUNNING || state == State.UNDOING;
    }

    boolean has(String step) {
        return done.contains(step);
    }

    Journal with(String step) {
        if (has(step)) {
            return this;
        }
        List<String> more = new ArrayList<>(done);
        more.add(step);
        return new JournalEdit(this).done(more).build();
    }

    Journal without(String step) {
        return new JournalEdit(this)
                .done(done.stream().filter(each -> !each.equals(step)).toList())
                .build();
    }

    JournalEdit edit() {
        return new JournalEdit(this);
    }
}
