package io.understudy.gateway.primary;

import io.understudy.gateway.primary.PrimaryRecord.Phase;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the cluster that a gateway serves, from the records of both. Not thread-safe.
 *
 * <p>A record counts only at the cluster that it names as the primary: the other one may have an old record with
 * unrelated revisions. Without such a record the choice is unchanged.
 *
 * <p>Invariant G3: a gateway serves one primary at a time, and never one of an epoch below the last.
 */
public final class PrimaryChoice {

    /** The clusters by their place in the configuration. */
    public enum Side {
        SOURCE,
        STANDBY;

        public Side other() {
            return this == SOURCE ? STANDBY : SOURCE;
        }
    }

    /**
     * A record as read.
     *
     * @param cluster that stores it
     * @param revision at which it was stored
     */
    public record Seen(Side side, ClusterId cluster, Revision revision, PrimaryRecord record) {

        /** Whether it names the cluster that stores it. */
        public boolean isPrimary() {
            return record.primary().equals(cluster);
        }
    }

    /**
     * A move of the primary to the other cluster.
     *
     * @param revision of that cluster at which its contents are those of the former primary at the end marker
     * @param endMarker zero if unknown
     */
    public record Move(Side side, ClusterId cluster, Revision revision, Revision endMarker) {}

    /** Whether the primary is open to clients. */
    public enum Writes {
        OPEN,
        /** The primary is being closed, so the role may move. */
        CLOSING,
        /** The cluster has the role and is being opened. */
        OPENING
    }

    private Side side = Side.SOURCE;
    private long epoch = -1;
    private Writes writes = Writes.OPEN;
    private long movedAt;
    private long former;

    /** The cluster to serve. */
    public Side side() {
        return side;
    }

    public Writes writes() {
        return writes;
    }

    /**
     * A revision of the cluster to serve at which it was the primary: earlier ones may be of the former. Zero if it was
     * the first primary, or that is unknown.
     */
    public long movedAt() {
        return movedAt;
    }

    /** The end marker of the last switchover to the cluster to serve, a revision of the former primary; 0 if unknown. */
    public long former() {
        return former;
    }

    /** Processes a record. Returns null unless the primary has moved. */
    public @Nullable Move seen(Seen seen) {
        PrimaryRecord record = seen.record();
        boolean moves = seen.side() != side;
        if (!seen.isPrimary() || record.epoch() < epoch || (moves && record.epoch() == epoch)) {
            return null;
        }
        if (moves || movedAt == 0) {
            movedAt = record.epoch() == 0 ? 0 : seen.revision().value();
            // While a primary is closed, its record has the marker of the next move.
            former = record.phase() == Phase.CLOSING ? 0 : record.endMarker();
        }
        side = seen.side();
        epoch = record.epoch();
        writes = switch (record.phase()) {
            case STEADY -> Writes.OPEN;
            case CLOSING -> Writes.CLOSING;
            case MOVED -> record.closed() ? Writes.OPENING : Writes.OPEN;
        };
        // Once the move is complete the record is a later one, stored at a later revision.
        long end = record.phase() == Phase.MOVED ? record.endMarker() : 0;
        return moves ? new Move(side, seen.cluster(), seen.revision(), new Revision(end)) : null;
    }
}
