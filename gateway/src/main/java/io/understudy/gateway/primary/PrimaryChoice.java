package io.understudy.gateway.primary;

import io.understudy.gateway.primary.PrimaryRecord.Phase;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * Decides which of two clusters a gateway serves, from the records that it reads. Not thread-safe.
 *
 * <p>A record counts only in the cluster that it names as the primary: the other one may have an old record, and its
 * revisions mean nothing there. Without such a record everything stays as it is.
 *
 * <p>Invariant G3: a gateway serves one primary at a time, and never one of an epoch below the last.
 */
public final class PrimaryChoice {

    /** As configured. */
    public enum Side {
        SOURCE,
        STANDBY;

        public Side other() {
            return this == SOURCE ? STANDBY : SOURCE;
        }
    }

    /**
     * A record as it was read.
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
     * The other cluster is the primary now.
     *
     * @param revision of that cluster at which its contents are those of the former primary at the end marker
     * @param endMarker zero if that is not certain
     */
    public record Move(Side side, ClusterId cluster, Revision revision, Revision endMarker) {}

    /** Whether the primary is open to clients. */
    public enum Writes {
        OPEN,
        /** It is being closed: the role may be about to move. */
        CLOSING,
        /** It has the role, and is being opened. */
        OPENING
    }

    private Side side = Side.SOURCE;
    private long epoch = -1;
    private Writes writes = Writes.OPEN;

    /** The cluster to serve. */
    public Side side() {
        return side;
    }

    public Writes writes() {
        return writes;
    }

    /** Takes a record into account. Returns null unless the primary has moved. */
    public @Nullable Move seen(Seen seen) {
        PrimaryRecord record = seen.record();
        boolean moves = seen.side() != side;
        if (!seen.isPrimary() || record.epoch() < epoch || (moves && record.epoch() == epoch)) {
            return null;
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
