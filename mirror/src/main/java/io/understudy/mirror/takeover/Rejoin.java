package io.understudy.mirror.takeover;

import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.takeover.Direction.Comparer.Lost;
import io.understudy.mirror.takeover.Records.Found;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Closes a former primary and makes it a copy, or opens one by hand. One thread. */
public final class Rejoin {

    /** Of a primary that the operator chose. */
    private static final String REJOINED = "rejoin";

    private static final String REJOIN = "\"understudy mirror rejoin\"";
    static final String CLOSED_FOR_FAILOVER = "was the primary before a failover: run " + REJOIN
            + ", or the switchover or failback from it with --undo --force to make it the primary again";

    private final Direction direction;
    private final TakeOverOptions options;
    private final TakeOver.Steps steps;
    private final Records from;
    private final Records to;
    /** What keeps the primary closed. */
    private Optional<String> kept = Optional.empty();

    Rejoin(Direction direction, TakeOverOptions options, TakeOver.Steps steps) {
        this.direction = direction;
        this.options = options;
        this.steps = steps;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
    }

    /**
     * Closes a former primary that returned with the role, and makes it the mirror's target. The mirror then overwrites
     * what clients wrote there, which the report names. If neither record replaced the other, the epoch of the primary
     * is raised first, so that a command that is killed leaves them in order.
     *
     * @throws TakeOverException there is nothing to do, or it is not possible
     */
    public TakeOverReport run() {
        direction.lock().take(to, "rejoin");
        try {
            direction.requireOpenable(to.read());
            steps.begin("close");
            Claims closed = closed(this::prepared);
            Found primary = opened(closed.primary());
            Found former = closed.former();
            // A failover that was killed may not have done so, and is complete from now on.
            direction.releaseLeases();
            steps.begin("compare");
            // The checkpoint may be of another history.
            Lost since = primary.isLast(REJOINED)
                    ? new Lost(List.of(), "the operator chose the primary")
                    : lost(primary, former);
            LostKeys lost = new LostKeys();
            if (since.unknown() == null) {
                since.keys().forEach(lost::add);
            } else {
                direction.comparer().differing(lost::add);
            }
            lost.requireStored();
            steps.begin("turn");
            if (!direction.turn(primary, former, direction.operation(Switchover.SWITCHOVER), false)) {
                throw changedMeanwhile(from);
            }
            return rejoined(lost, since.unknown());
        } finally {
            direction.lock().release();
        }
    }

    /** What {@link #run} does, in order; throws where it would be refused. */
    public List<String> plan() {
        Found stored = from.read();
        Found primary = to.read();
        requireStale(primary, stored);
        direction.requireOpenable(primary);
        Claims claims = new Claims(primary, stored);
        String epoch = claims.areUnordered() ? " under epoch " + claims.nextEpoch() + " of " + to.shown() : "";
        Way way = prepared(stored).way();
        String former = from.shown();
        return List.of(
                "close: closes " + former + " (" + way.word() + "); undone by understudy mirror release",
                "compare: lists what clients wrote at " + former + " and " + to.shown() + " does not have",
                "turn: makes " + former + " a copy" + epoch + ", which overwrites these writes; cannot be undone");
    }

    /** Returns how it is closed: as a killed process began, or as the mirror did. */
    Closed prepared(Found former) {
        Closed begun = begun(former);
        if (begun == null) {
            return direction.closingFrom().prepare(options.way());
        }
        if (begun.way() == Way.ROLES) {
            direction.closingFrom().users().requireExempt();
        }
        return direction.closingFrom().extended(begun);
    }

    /** How it is closed, by a process that was killed or as a copy; null if it is not. */
    static @Nullable Closed begun(Found former) {
        Closed begun = former.move().closed();
        return begun != null && begun.way() != Way.NONE ? begun : null;
    }

    /**
     * Closes a stale former primary. If neither record replaced the other, the epoch of the primary is raised first.
     *
     * @param how given its record
     * @return the records as they are then
     */
    Claims closed(Function<Found, Closed> how) {
        Found primary = to.read();
        Found former = from.read();
        requireStale(primary, former);
        Closed closed = how.apply(former);
        Claims claims = new Claims(primary, former);
        if (claims.areUnordered()) {
            Operation chosen = direction.operation(REJOINED);
            Move steady = primary.move().in(Phase.STEADY).by(chosen);
            direction.raise(primary, claims.nextEpoch(), chosen, steady, null);
            primary = to.read();
        }
        return new Claims(primary, close(former, closed));
    }

    /** Opens the primary, which was a closed copy, if a failover was killed before that. */
    private Found opened(Found primary) {
        Closed closed = primary.move().closed();
        if (closed == null) {
            return primary;
        }
        Home open = primary.required().with(primary.move().in(Phase.STEADY).closed(null));
        kept = direction.closingTo().open(closed, () -> storeOpen(to, open, primary));
        return to.read();
    }

    private static void storeOpen(Records at, Home open, Found before) {
        if (at.write(open, before.recordRevision(), List.of(), List.of(at.unfrozen())) == 0) {
            throw changedMeanwhile(at);
        }
    }

    /** Closes a former primary, and reads its record. */
    Found close(Found former, Closed closed) {
        long written = former.recordRevision();
        boolean isBegun = former.move().phase() == Phase.CLOSING && begun(former) != null;
        // An alarm that was raised refuses a write of the record. Otherwise an undo without a lock finds it changed.
        if (!isBegun || closed.way() != Way.CORRUPT_ALARM) {
            Move closing = isBegun
                    ? former.move().closed(closed)
                    : new Move(Phase.CLOSING, direction.operation(Failover.FAILOVER), 0, 0, closed);
            Home record = former.required().with(closing);
            written = from.write(
                    record,
                    written,
                    List.of(),
                    from.frozen(closed, direction.lock().process()));
            if (written == 0) {
                throw changedMeanwhile(from);
            }
        }
        direction.closingFrom().close(closed);
        direction.closingFrom().refuseKeepAlives(closed);
        Found now = from.read();
        if (now.recordRevision() != written) {
            // A forced undo that did not reach the other cluster, and has lost how to open this one.
            if (now.isPrimary() && now.move().closed() == null) {
                direction.closingFrom().open(closed);
            }
            throw changedMeanwhile(from);
        }
        return now;
    }

    private static TakeOverException changedMeanwhile(Records at) {
        return new TakeOverException(
                "another command changed the record at " + at.shown() + " meanwhile; run the command again");
    }

    /** Both records: the one of the higher epoch is right, unless they are unordered. */
    record Claims(Found primary, Found former) {

        String shown(String primaryName, String formerName) {
            return "both clusters hold the primary role of mirror " + primary.mirror() + ": " + primaryName
                    + " with epoch " + primary.epoch() + ", " + formerName + " with epoch " + former.epoch();
        }

        boolean areBoth() {
            return primary.isPrimary() && former.isPrimary();
        }

        /** Whether no command wrote either record since. */
        boolean isUnchangedIn(Claims later) {
            return primary.recordRevision() == later.primary.recordRevision()
                    && former.recordRevision() == later.former.recordRevision();
        }

        /**
         * Whether neither record was written instead of the other one: the operator has to choose. A forced undo of a
         * switchover outranks that switchover, not a failover that another operator ran meanwhile.
         */
        boolean areUnordered() {
            Found higher = higher();
            Found lower = former.epoch() > primary.epoch() ? primary : former;
            return areBoth()
                    && (higher.epoch() == lower.epoch()
                            || (higher.isLast(Switchover.FORCED_UNDO)
                                    && lower.isLast(Failover.FAILOVER)
                                    // The record with which the mirror closes the lower one, has the same operation.
                                    && lower.move().phase() != Phase.CLOSING));
        }

        private Found higher() {
            return former.epoch() > primary.epoch() ? former : primary;
        }

        /** Beyond both. */
        long nextEpoch() {
            return Math.max(primary.epoch(), former.epoch()) + 1;
        }

        /** Whether the former primary has not stored the move; not after a switchover that was cut short. */
        boolean isStale() {
            return areBoth()
                    && !areUnordered()
                    && former.epoch() < primary.epoch()
                    && (primary.move().phase() == Phase.STEADY || Failover.isDone(primary));
        }

        /** The command that resolves it. */
        String remedy() {
            if (areUnordered()) {
                return REJOIN + " with --primary source or --primary target";
            }
            return switch (higher().move().phase()) {
                case CLOSING ->
                    higher().isLast(Failover.FAILOVER)
                            // A forced undo that was cut short has closed it.
                            ? "the switchover or failback to the cluster of the higher epoch again, with --undo --force"
                            // The other one was restored to a time when it was the primary.
                            : "the switchover or failback that was cut short with --undo, then " + REJOIN;
                case MOVED ->
                    Failover.isDone(higher()) ? REJOIN : "the switchover or failback again that was cut short";
                case STEADY -> REJOIN;
            };
        }
    }

    /** If neither replaced the other, the operator has to choose the primary. */
    private void requireStale(Found primary, Found former) {
        Claims claims = new Claims(primary, former);
        if (!claims.areBoth()) {
            throw new TakeOverException("there is nothing to rejoin: mirror " + direction.mirror()
                    + " has no former primary that did not store the failover");
        }
        if (claims.areUnordered() ? !options.force() : !claims.isStale()) {
            throw new TakeOverException(claims.shown(to.shown(), from.shown()) + "; run " + claims.remedy());
        }
    }

    Lost lost(Found primary, Found former) {
        Checkpoint reached = primary.checkpoint();
        if (reached == null || !reached.source().equals(former.cluster())) {
            String unknown = to.shown() + " has no checkpoint of cluster " + former.cluster();
            return new Lost(List.of(), unknown + "; compare both with \"understudy mirror verify\"");
        }
        try {
            return direction.comparer().lostAfter(reached);
        } catch (TakeOverException e) {
            return new Lost(List.of(), e.getMessage());
        }
    }

    /** @param unknown why all keys were compared, also those that only the primary changed; null if they were not */
    private TakeOverReport rejoined(LostKeys lost, @Nullable String unknown) {
        return new TakeOverReport(
                from.shown() + " is closed and becomes a copy of " + to.shown(),
                lost.shown(),
                lost,
                unknown == null ? Map.of() : Map.of("keys that only the primary changed are listed too", unknown),
                Stream.concat(
                                kept.stream(),
                                Stream.of(
                                        "wait until the mirror is synced",
                                        "to move the primary role back: understudy mirror failback"))
                        .toList());
    }

    /**
     * Opens a cluster that gave up the primary role, although it is not the primary.
     *
     * @throws TakeOverException it is not closed, or another command opens it
     */
    public String release() {
        direction.lock().take(from, "release");
        try {
            return released(releasable());
        } finally {
            direction.lock().release();
        }
    }

    private String released(Found found) {
        Home open = found.required().with(found.move().closed(null));
        return direction
                        .closingFrom()
                        .open(found.move().closed(), () -> storeOpen(from, open, found))
                        .orElse(from.shown() + " is open")
                + ". Writes there are overwritten by the mirror; they are not at the primary";
    }

    /**
     * Finds out whether {@link #release} would be refused. Changes nothing.
     *
     * @throws TakeOverException it would
     */
    public void checkRelease() {
        Lock.requireFree(from);
        var unused = releasable();
    }

    private Found releasable() {
        Found found = from.read();
        Closed closed = found.move().closed();
        String shown = from.shown();
        if (closed == null || closed.way() == Way.NONE) {
            throw new TakeOverException(shown + " is not closed");
        }
        boolean isClosing = found.move().phase() == Phase.CLOSING;
        if (found.isPrimary()) {
            throw new TakeOverException(
                    isClosing && found.isLast(Failover.FAILOVER)
                            ? shown + " " + CLOSED_FOR_FAILOVER
                            : shown
                                    + " is the primary, and a move of the role is unfinished: run the same command again"
                                    + (isClosing ? ", or with --undo" : ""));
        }
        if (to.responds()) {
            Lock.requireFree(to);
        } else if (!options.force()) {
            throw new TakeOverException(to.shown() + " does not respond: to make " + shown
                    + " the primary, run \"understudy mirror failover\" with --to source or --to target; --force opens it"
                    + " as a copy");
        }
        return found;
    }
}
