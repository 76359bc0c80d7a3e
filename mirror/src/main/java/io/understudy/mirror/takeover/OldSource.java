package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.etcd.ReadIndex;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.verify.Difference;
import io.understudy.mirror.verify.NotComparable;
import io.understudy.mirror.verify.Verification;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The cluster that a failback brings the home back to: what it has of its own, and whether it is still frozen as it was left.
 *
 * @param forward the parties of the mirror, of which this is the source
 * @param backward those of the mirror back
 * @param patience how long its history may take to be told
 */
record OldSource(Parties forward, Parties backward, Duration patience) {

    /** As many as one answer has room for. */
    private static final int MOST_KEYS = 10_000;

    /**
     * Finds out what would be lost. Changes nothing.
     *
     * @throws TakeOverException there is nothing to fail back
     */
    Survey survey() {
        if (!isNeeded()) {
            return Survey.NOT_NEEDED;
        }
        long behind = Math.max(
                0,
                forward.target().head().revision().value()
                        - forward.source().head().revision().value());
        Survey told = own(behind, LateCommits.NOW);
        if (told.unknown() == null) {
            return told;
        }
        return isMirroredBack() ? overwritten(behind) : written(behind, told.unknown());
    }

    /**
     * What was lost of what was there before both were compared, at that revision, and of what came after, which is mirrored
     * again unless the mirror back has overwritten it.
     */
    Survey lost(long verifiedAt) {
        return own(0, verifiedAt);
    }

    /**
     * What its owners have committed, by its history, that is otherwise in the new home; or, of what came after a revision,
     * otherwise in itself.
     */
    private Survey own(long behind, long verifiedAt) {
        TargetCheckpoint there = TargetCheckpoint.read(forward.target(), forward.mirror());
        ReadIndex head = forward.source().head();
        long since = since(there.checkpoint(), head);
        OwnWrites compared = new OwnWrites(forward.scope(), forward.sink().maxRequestBytes());
        OwnWrites later = new OwnWrites(forward.scope(), forward.sink().maxRequestBytes());
        String unknown = new LateCommits(forward, there.cluster(), true, patience)
                .forEach(
                        head.clusterId(),
                        since,
                        head.revision().value(),
                        commit -> (commit.revision().value() <= verifiedAt ? compared : later).add(commit));
        compared.dropAllOf(later);
        OwnWrites.Differing differing = unknown == null
                ? compared.differingIn(forward.target()).and(later.overwrittenIn(forward.source(), head.revision()))
                : OwnWrites.Differing.NONE;
        return Survey.of(
                behind,
                shown(since),
                differing.keys().size(),
                !compared.isComplete() || !later.isComplete(),
                differing.keys(),
                unknown == null ? differing.unknown() : unknown);
    }

    /** Up to where the new home has its data; 0 if it was made anew since. */
    private static long since(Checkpoint there, ReadIndex head) {
        long mirrored = there.revision().value();
        boolean isSame =
                head.clusterId().equals(there.source()) && head.revision().value() >= mirrored;
        return isSame ? mirrored : 0;
    }

    private static String shown(long since) {
        return since == 0 ? "it was made" : "revision " + since;
    }

    /** Whether the home is still to be moved; else only what comes after that is left to do. */
    boolean isNeeded() {
        Optional<Home> there = new Homes(forward.target(), forward.mirror()).read();
        Optional<Home> here = new Homes(forward.source(), forward.mirror()).read();
        TargetCheckpoint checkpoint = TargetCheckpoint.read(forward.target(), forward.mirror());
        if (there.filter(home -> home.cluster().equals(checkpoint.cluster())).isEmpty()) {
            Journal journal = new JournalStore(forward.target(), forward.mirror()).read();
            throw new TakeOverException("the home of mirror " + forward.mirror() + " is its "
                    + forward.source().shown() + ": there is nothing to fail back"
                    + (journal != null && journal.isUnfinished()
                            ? ". A " + journal.kind().name().toLowerCase(Locale.ROOT)
                                    + " is under way: run that again to finish it, or with --undo to take it back"
                            : ""));
        }
        return here.filter(home -> home.moves() > there.get().moves()).isEmpty();
    }

    /** Whether an earlier run has begun to mirror back. */
    boolean isMirroredBack() {
        return backward.target().get(ReservedKeys.checkpoint(backward.mirror())).isPresent();
    }

    /** The keys that are there and were written after what the new home has, where the history in between is gone. */
    private Survey written(long behind, String unknown) {
        long since = since(
                TargetCheckpoint.read(forward.target(), forward.mirror()).checkpoint(),
                forward.source().head());
        List<ByteString> keys = new ArrayList<>();
        boolean more = false;
        for (KeyRange range : forward.scope().sourceRanges()) {
            RangeResponse found = forward.source()
                    .range(RangeRequest.newBuilder()
                            .setKey(range.etcdKey())
                            .setRangeEnd(range.etcdRangeEnd())
                            .setMinModRevision(since + 1)
                            .setKeysOnly(true)
                            .setLimit(MOST_KEYS)
                            .build());
            found.getKvsList().forEach(kv -> keys.add(kv.getKey()));
            more |= found.getMore();
        }
        return Survey.of(behind, shown(since), keys.size(), more, keys, unknown);
    }

    /** Whether it is not the copy that a mirror back has made: it may have been written though its mirror is held off. */
    boolean isOverwritten() {
        Survey found = overwritten(0);
        return found.keys() > 0 || found.unknown() != null;
    }

    /** The keys that are not as an earlier run's mirror back has left them. */
    private Survey overwritten(long behind) {
        try {
            VerifyResult result = Verification.run(backward.sides(), keys -> {});
            String since = "it was mirrored back into";
            if (result instanceof VerifyReport report) {
                List<ByteString> keys =
                        report.differences().stream().map(Difference::targetKey).toList();
                return Survey.of(behind, since, report.differing(), false, keys, null);
            }
            return Survey.of(behind, since, 0, false, List.of(), ((NotComparable) result).reason());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TakeOverException("interrupted while comparing", e);
        }
    }

    /** The journal of what moved the home, if its freeze has been lifted since; else null. */
    @Nullable Journal thawed() {
        Journal there = new JournalStore(forward.target(), forward.mirror()).read();
        boolean isLifted = there != null
                && there.hasFreeze()
                && !Freeze.of(there.freeze(), forward).isRaised(there);
        return isLifted ? there : null;
    }

    /** Lifts that freeze; does nothing where it is lifted. */
    void lift() {
        Journal there = new JournalStore(forward.target(), forward.mirror()).read();
        if (there != null) {
            Freeze.of(there.freeze(), forward).lift(there);
        }
    }
}
