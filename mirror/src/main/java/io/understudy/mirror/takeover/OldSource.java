package io.understudy.mirror.takeover;

import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.verify.NotComparable;
import io.understudy.mirror.verify.Verification;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The cluster that a failback brings the home back to: what it has of its own, and whether it is still frozen as it was left.
 *
 * @param forward the parties of the mirror, of which this is the source
 * @param backward those of the mirror back
 */
record OldSource(Parties forward, Parties backward) {

    private static final int KEYS_SHOWN = 10;

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
        if (isMirroredBack()) {
            return overwritten(behind);
        }
        long since = TargetCheckpoint.read(forward.target(), forward.mirror())
                .checkpoint()
                .revision()
                .value();
        return written(since, behind);
    }

    /** Whether the home is still to be moved; else only what comes after that is left to do. */
    boolean isNeeded() {
        Optional<Home> there = new Homes(forward.target(), forward.mirror()).read();
        Optional<Home> here = new Homes(forward.source(), forward.mirror()).read();
        TargetCheckpoint checkpoint = TargetCheckpoint.read(forward.target(), forward.mirror());
        if (there.filter(home -> home.cluster().equals(checkpoint.cluster())).isEmpty()) {
            throw new TakeOverException("the home of mirror " + forward.mirror() + " is its source, "
                    + forward.source().shown() + ": there is nothing to fail back");
        }
        return here.filter(home -> home.moves() > there.get().moves()).isEmpty();
    }

    /** Whether an earlier run has begun to mirror back. */
    boolean isMirroredBack() {
        return backward.target().get(ReservedKeys.checkpoint(backward.mirror())).isPresent();
    }

    /** The keys written at the old source after what the new home has of it. */
    private Survey written(long since, long behind) {
        long keys = 0;
        long head = since;
        List<String> first = new ArrayList<>();
        for (KeyRange range : forward.scope().sourceRanges()) {
            RangeResponse found = forward.source()
                    .range(RangeRequest.newBuilder()
                            .setKey(range.etcdKey())
                            .setRangeEnd(range.etcdRangeEnd())
                            .setMinModRevision(since + 1)
                            .setKeysOnly(true)
                            .build());
            head = Math.max(head, found.getHeader().getRevision());
            keys += found.getKvsCount();
            found.getKvsList().stream()
                    .limit(KEYS_SHOWN - (long) first.size())
                    .forEach(kv -> first.add("\"" + TextFormat.escapeBytes(kv.getKey()) + "\""));
        }
        return new Survey(true, since, keys, first, head - since, behind, null);
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
            if (result instanceof VerifyReport report) {
                List<String> first = report.differences().stream()
                        .limit(KEYS_SHOWN)
                        .map(each -> "\"" + TextFormat.escapeBytes(each.targetKey()) + "\"")
                        .toList();
                return new Survey(true, 0, report.differing(), first, 0, behind, null);
            }
            NotComparable not = (NotComparable) result;
            return new Survey(true, 0, 0, List.of(), 0, behind, not.reason());
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
