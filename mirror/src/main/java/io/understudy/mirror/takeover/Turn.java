package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.takeover.Direction.Comparer.Equal;
import io.understudy.mirror.takeover.Direction.Comparer.Lost;
import io.understudy.mirror.takeover.Records.Found;
import io.understudy.mirror.takeover.Rejoin.Claims;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Has the former primary store that it is one once the role has moved, and finds what clients lost by the move. One thread.
 */
final class Turn {

    private final Direction direction;
    private final Operation operation;
    private final MovedLeases leases;
    private final Records from;
    private final Records to;
    /** What the new primary did not have at the move, as found before the turn; null if that is not known. */
    private @Nullable Lost lostAtMove;
    /** Revision since which expiries are named; 0 for the end marker. */
    private long closedSince;
    /** As last compared before the role moved; null if that is not known. */
    private @Nullable Equal verified;

    Turn(Direction direction, Operation operation, MovedLeases leases) {
        this.direction = direction;
        this.operation = operation;
        this.leases = leases;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
    }

    /** Sets the revision of the former primary since which leases may have expired, if before the end marker. */
    void closedSince(long revision) {
        closedSince = revision;
    }

    /** Sets what was compared last before the role moves. */
    void verified(Equal equal) {
        verified = equal;
    }

    /**
     * What became of the former primary.
     *
     * @param lost what clients wrote there after the end marker
     * @param again why the command has to run again; null if it has not
     */
    record Turned(Lost lost, @Nullable String again) {}

    /**
     * Makes the former primary the mirror's target.
     *
     * @param isResumed whether a killed command moved the role
     */
    Turned run(Found primary, boolean isResumed) {
        Lost lost = null;
        try {
            Found former = from.read();
            Claims claims = new Claims(primary, former);
            if (former.isPrimary() && former.epoch() > primary.epoch()) {
                throw new Undo.StaysClosed(claims.shown(to.shown(), from.shown()) + "; run " + claims.remedy(), null);
            }
            boolean isTurned = former.epoch() >= primary.epoch();
            boolean isWhole = isTurned || hasEndMarker(former, primary);
            if (!isWhole && former.isPrimary()) {
                // What clients wrote there is named by the command that overwrites it.
                return new Turned(Lost.unknown(restored(from, to, claims)), null);
            }
            Closed closed = former.move().closed();
            long marker = primary.move().endMarker();
            // Another command may have opened it since the end marker, and closed it again.
            boolean isPlanned = isWhole
                    && closed != null
                    && direction.closingFrom().isClosed(closed)
                    && (isTurned
                            ? former.move().endMarker() > 0
                            : !direction.comparer().hasWrites(marker, former.revision()));
            if (isTurned && lostAtMove != null) {
                lost = lostAtMove;
            } else if (isPlanned) {
                Way way = closed == null ? Way.NONE : closed.way();
                lost = missed(primary, isResumed, way, isTurned ? former.recordRevision() : 0);
            } else if (!isWhole) {
                lost = Lost.unknown(from.shown() + " has not the record of the move: it was restored or rebuilt");
            }
            lostAtMove = lost;
            if (!isTurned && !direction.turn(primary, former, operation, isPlanned)) {
                return again(lost, "its record was written meanwhile");
            }
            // Until the mirror back does it; an alarm is disarmed by now.
            leases.keepAliveFrom();
            return new Turned(lost == null ? lost(primary) : lost, null);
        } catch (Undo.StaysClosed | Lock.Expired e) {
            throw e;
        } catch (TakeOverException e) {
            return again(lost, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Finds keys that the new primary did not have at the move: they expired at the former one after the end marker, or
     * clients changed them at the new one after the last comparison.
     *
     * @param turnedAt revision at which the former primary was turned: the mirror writes there since; 0 if it was not
     */
    private Lost missed(Found primary, boolean isResumed, Way way, long turnedAt) {
        leases.keepAliveFrom(way);
        List<ByteString> missed = new ArrayList<>();
        try {
            if ((isResumed || leases.haveExpired()) && way != Way.CORRUPT_ALARM) {
                direction
                        .comparer()
                        .missingSince(
                                direction.from(),
                                closedSince > 0 ? closedSince : primary.move().endMarker(),
                                turnedAt,
                                true)
                        .stream()
                        .filter(key -> !to.had(key, primary.recordRevision()))
                        .forEach(missed::add);
            }
        } catch (TakeOverException e) {
            return new Lost(missed, e.getMessage());
        }
        return new Lost(missed, null).and(foreign(primary, turnedAt));
    }

    /**
     * Finds keys that clients changed at the new primary between the last comparison and the move.
     *
     * @param firstAt revision of the former primary; 0 for the present one
     */
    private Lost foreign(Found primary, long firstAt) {
        try {
            Equal since = verified;
            if (since == null) {
                // Up to where a killed command compared at the new primary is in no record.
                long compared = primary.move().verifiedAt();
                since = new Equal(compared, to.reachedAt(primary, compared), 0);
            }
            return new Lost(direction.comparer().overwritten(since, primary.recordRevision(), firstAt), null);
        } catch (TakeOverException e) {
            return Lost.unknown(String.valueOf(e.getMessage()));
        }
    }

    private static Turned again(@Nullable Lost lost, String why) {
        return new Turned(lost == null ? Lost.unknown(why) : lost, why);
    }

    /** Whether it is as the move closed it. Another one was restored, or closed by the mirror, since it was open. */
    private static boolean hasEndMarker(Found former, Found primary) {
        Closed closed = former.move().closed();
        long marker = primary.move().endMarker();
        return primary.move().phase() == Phase.MOVED
                && primary.isLast(Switchover.SWITCHOVER)
                && former.move().phase() == Phase.CLOSING
                && !former.isLast(Failover.FAILOVER)
                && ((closed != null && closed.way() == Way.CORRUPT_ALARM)
                        ? former.recordRevision() <= marker && former.revision() >= marker
                        : former.recordRevision() == marker);
    }

    static String restored(Records from, Records to, Claims claims) {
        return claims.shown(to.shown(), from.shown()) + ", which was open since: run \"understudy mirror rejoin\"";
    }

    /** Finds writes that an open former primary accepted until its turn, and foreign ones. The mirror overwrites both then. */
    private Lost lost(Found primary) {
        try {
            Checkpoint reached = primary.checkpoint();
            Lost foreign = reached == null
                    ? Lost.unknown(to.shown() + " has no checkpoint")
                    : foreign(primary, reached.revision().value());
            return direction
                    .comparer()
                    .lostBetween(primary.move().endMarker(), from.read().recordRevision())
                    .and(foreign);
        } catch (TakeOverException e) {
            return Lost.unknown(String.valueOf(e.getMessage()));
        }
    }
}
