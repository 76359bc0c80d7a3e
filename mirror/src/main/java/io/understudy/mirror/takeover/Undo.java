package io.understudy.mirror.takeover;

import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.takeover.Direction.Comparer.Lost;
import io.understudy.mirror.takeover.Records.Found;
import io.understudy.mirror.takeover.Rejoin.Claims;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Undoes what a switchover has begun. The former primary is opened again unless the role has moved. If the lock expired
 * meanwhile, it is taken again first, and the records show what is left to undo. One thread.
 */
final class Undo {

    private static final int ATTEMPTS = 5;
    private static final int SHOWN = 20;
    /** Beyond that of a move of unknown outcome. */
    private static final int FORCED_EPOCHS = 2;

    /** The role may be at the other cluster: this one may not be opened. */
    static final class StaysClosed extends TakeOverException {
        StaysClosed(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    private final Direction direction;
    private final TakeOverOptions options;
    private final Operation operation;
    private final Records from;
    private final Records to;
    /** Whether a moving transaction may be on its way, of this command or of another. */
    private boolean mayMove;
    /** The command that is resumed or undone; null for none. */
    private @Nullable Operation resumed;
    /** How the former primary is closed since; null if it is not. */
    private @Nullable Closed closed;
    /** What keeps the former primary closed nevertheless. */
    private Optional<String> kept = Optional.empty();

    Undo(Direction direction, TakeOverOptions options, Operation operation) {
        this.direction = direction;
        this.options = options;
        this.operation = operation;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
    }

    /** @param killed began what this command resumes or undoes; null for none */
    void resume(@Nullable Operation killed) {
        resumed = killed;
    }

    /** The former primary is about to be closed. */
    void closes(Closed how) {
        closed = how;
    }

    /** The moving transaction is about to be sent, or may be on its way. */
    void moves() {
        mayMove = true;
    }

    /** Of which the records have the ID. */
    Operation begun() {
        return resumed == null ? operation : resumed;
    }

    private boolean isBegun(Found primary) {
        Operation last = primary.move().operation();
        return primary.move().phase() == Phase.CLOSING
                && last != null
                && last.id().equals(begun().id());
    }

    /** Whether this command, or the one that it resumes, moved the role there. */
    boolean isOwn(Found moved) {
        Operation last = moved.move().operation();
        String id = last == null ? "" : last.id();
        return moved.isPrimary()
                && (id.equals(operation.id())
                        || (resumed == null ? last == null && !mayMove : id.equals(resumed.id())));
    }

    /** Another command may have opened the primary. */
    void requireClosing() {
        if (!isBegun(from.read())) {
            throw writtenMeanwhile();
        }
    }

    TakeOverException writtenMeanwhile() {
        return new TakeOverException("another command moves mirror " + direction.mirror()
                + " at the same time; see \"understudy mirror status\"");
    }

    /** Does it once more if the lock expires meanwhile, and no other command has it. */
    <T> T again(Supplier<T> work) {
        try {
            return work.get();
        } catch (Lock.Expired e) {
            if (direction.lock().again()) {
                mayMove = true;
                // That of a move in the other direction.
                var unused = isPresent(from);
            }
            return work.get();
        }
    }

    /** Likewise, also after Ctrl-C. */
    private <T> T uninterrupted(Supplier<T> work) {
        boolean interrupted = Thread.interrupted();
        try {
            return again(work);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Undoes what this command has begun; returns what to report.
     *
     * @param begun as a killed command closed it; null for none, or if it was killed before
     */
    TakeOverException after(RuntimeException why, @Nullable Found begun) {
        String what = why.getMessage() == null ? why.toString() : why.getMessage();
        try {
            Lost expired = uninterrupted(
                    () -> begun == null ? direction.lostByOpening(from.read()) : direction.lostByOpening(begun, false));
            boolean isOpen = uninterrupted(this::undone);
            String lost = expired.shown(LostKeys.of(expired.keys()));
            return new TakeOverException(
                    (isOpen
                                    ? what + ". The primary role has not moved, and "
                                            + kept.orElse(from.shown() + " is open again")
                                    : what)
                            + (lost.equals(TakeOverReport.NONE)
                                    ? ""
                                    : ". Lost with leases that expired while it was closed: " + lost + " "
                                            + expired.keys().stream()
                                                    .limit(SHOWN)
                                                    .map(TakeOverReport::shown)
                                                    .collect(Collectors.joining(", "))),
                    why);
        } catch (StaysClosed e) {
            return new TakeOverException(what + ". " + e.getMessage(), why);
        } catch (RuntimeException e) {
            why.addSuppressed(e);
            return new TakeOverException(
                    what + ". " + from.shown() + " may still be closed: " + e.getMessage()
                            + ". Run the command again, or with --undo",
                    why);
        }
    }

    /** As {@link #fenced}, after a move that was not answered. */
    Optional<Found> fencedFor(TakeOverException why, long epoch) {
        try {
            return uninterrupted(() -> fenced(epoch));
        } catch (TakeOverException e) {
            why.addSuppressed(e);
            throw new StaysClosed(
                    why.getMessage() + ". Whether the primary role has moved is unknown, so " + from.shown()
                            + " stays closed. Run the command again once " + to.shown()
                            + " responds, or with --undo --force if it is lost",
                    why);
        }
    }

    /**
     * Writes the record there again. No moving transaction that is on its way succeeds then.
     *
     * @param epoch of the primary that is being closed; a primary there with a lower one was restored to an earlier time
     * @return what is stored there if the role has moved; empty if it has not
     */
    private Optional<Found> fenced(long epoch) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Found now = to.read();
            if (now.isPrimary() && now.epoch() >= epoch) {
                return Optional.of(now);
            }
            if (now.record() == null && resumed == null) {
                // A moving transaction requires the record that was there.
                return Optional.empty();
            }
            Home same = now.required();
            Home again = same.movedTo(same.cluster(), same.moves(), operation.startedAt())
                    .with(now.move().by(direction.operation("undo")));
            if (to.write(again, now.recordRevision(), List.of(), List.of()) > 0) {
                return Optional.empty();
            }
        }
        throw new TakeOverException("the record of mirror " + direction.mirror() + " at " + to.shown()
                + " is being written by another command");
    }

    List<String> plan() {
        if (!options.force()) {
            return List.of("open: opens " + from.shown() + ", unless the role has moved");
        }
        String open = "open: opens " + from.shown() + " as the primary, under an epoch above that of a move; what "
                + to.shown() + " acknowledged as the primary is lost";
        return options.way() == Way.NONE || !isChosen(from.read())
                ? List.of(open)
                : List.of("close: closes " + to.shown() + " if it responds and is the primary", open);
    }

    /**
     * Finds out whether {@link #run} would be refused. Changes nothing.
     */
    void check() {
        Found primary = unfinished();
        boolean isPresent = !options.force() || isPresent(to);
        if (!isPresent || isChosen(primary)) {
            direction.reversed().requireOpenable(primary);
        }
        if (!isPresent) {
            return;
        }
        Lock.requireFree(to);
        Found other = to.read();
        if (isChosen(primary)) {
            var unused = prepared(other);
        } else if (other.isPrimary() && other.epoch() >= primary.epoch()) {
            throw new TakeOverException(
                    "the primary role of mirror " + direction.mirror() + " has moved to " + to.shown());
        }
    }

    /** Returns how the other cluster is closed before this one opens; null if it is no primary, or is to be left open. */
    private @Nullable Closed prepared(Found other) {
        return other.isPrimary() && options.way() != Way.NONE ? reversed().prepared(other) : null;
    }

    private Rejoin reversed() {
        // Under an alarm the lock, which is there, could not end.
        Way way = options.way() == Way.CORRUPT_ALARM ? Way.AUTH_ENABLE : options.way();
        return new Rejoin(direction.reversed(), options.with(way), step -> {});
    }

    /** After a failover that is known here, the operator chooses this cluster. */
    private boolean isChosen(Found primary) {
        return options.force() && primary.isLast(Failover.FAILOVER);
    }

    private Found unfinished() {
        Found primary = from.read();
        if (primary.move().phase() != Phase.CLOSING) {
            throw new TakeOverException("there is nothing to undo: no switchover of mirror " + direction.mirror()
                    + " from " + from.shown() + " is unfinished");
        }
        Lock.requireFree(from);
        requireOwnAuth(primary);
        return primary;
    }

    /** Until the command has stored its end marker, an operator may have enabled authentication instead. */
    private void requireOwnAuth(Found primary) {
        Closed how = primary.move().closed();
        if (how != null && primary.isLast(Switchover.SWITCHOVER)) {
            direction.closingFrom().requireNoUsersToOpen(how.way());
        }
    }

    /** The command of an operator. */
    TakeOverReport run() {
        Found primary = unfinished();
        resumed = primary.move().operation();
        closed = primary.move().closed();
        mayMove = true;
        if (options.force() && !isPresent(to)) {
            var unused = reopened(FORCED_EPOCHS);
            return report(primary, null);
        }
        direction.lock().take(to, "undo");
        try {
            return again(() -> undone(primary));
        } finally {
            direction.lock().release();
        }
    }

    private TakeOverReport undone(Found primary) {
        Found other = to.read();
        if (isChosen(primary)) {
            return chosen(primary, other);
        }
        // It was rebuilt: whether it had the role is unknown.
        boolean isRebuilt = other.record() == null;
        // Clients delete keys once it is open.
        Lost expired = direction.lostByOpening(primary);
        var unused = isRebuilt ? reopened(FORCED_EPOCHS) : undone();
        if (isRebuilt) {
            return report(primary, null);
        }
        LostKeys lost = LostKeys.of(expired.keys());
        return new TakeOverReport(summary(), expired.shown(lost), lost, Map.of(), List.of());
    }

    /** In the order of a planned move: at every instant at most one cluster acknowledges client writes. */
    private TakeOverReport chosen(Found primary, Found other) {
        direction.reversed().requireOpenable(primary);
        Closed how = prepared(other);
        try {
            Found present = how == null ? other : reversed().close(other, how);
            var unused = reopened(new Claims(present, primary).nextEpoch() - primary.epoch());
        } catch (TakeOverException e) {
            String closed = from.shown() + (how == null ? "" : " and " + to.shown());
            throw new TakeOverException(e.getMessage() + ". " + closed + " may be closed; run the command again", e);
        }
        return report(primary, how);
    }

    /** Returns the report of a forced undo that an earlier command has completed. */
    TakeOverReport repeated() {
        return report(null, null);
    }

    private String summary() {
        return kept.map(why -> from.shown() + " remains the primary. " + why)
                .orElse(from.shown() + " is open again and remains the primary");
    }

    /**
     * Reports a forced undo: the role may have moved to the other cluster, or has.
     *
     * @param undone before; null if that is not known any more
     * @param how the other cluster is closed; null if it may be open
     */
    private TakeOverReport report(@Nullable Found undone, @Nullable Closed how) {
        String other = to.shown();
        Operation last = undone == null || undone.isLast(Failover.FAILOVER)
                ? null
                : undone.move().operation();
        return new TakeOverReport(
                summary(),
                "possible: all writes that " + other
                        + (last == null
                                ? how == null
                                        ? " acknowledges as the primary until it is closed"
                                        : " acknowledged as the primary"
                                : " acknowledged since " + last.startedAt()
                                        + ", if the role had moved; whether it had is unknown"),
                new LostKeys(),
                Map.of(
                        "data up to",
                        "the last write that " + from.shown()
                                + " acknowledged; keys of leases that expired while it was closed are missing"),
                List.of(
                        "point clients at " + from.shown(),
                        (how == null
                                        ? Failover.returning(other, options.way())
                                        : other + " is closed (" + how.way().word() + ")")
                                + "; keep clients away from it and run: understudy mirror rejoin"));
    }

    /** @throws TakeOverException another command holds the lock there, or the cluster refuses the user */
    private static boolean isPresent(Records cluster) {
        Records there = cluster.promptly();
        Optional<String> holder;
        try {
            holder = Lock.holder(there);
        } catch (TakeOverException e) {
            if (Records.refusesUser(e)) {
                throw e;
            }
            return false;
        }
        if (holder.isPresent()) {
            Lock.requireFree(there);
        }
        return true;
    }

    /** As {@link #reopened}; while the lock is held, only this command's own move, or one before it, may be on its way. */
    private boolean undone() {
        if (mayMove) {
            fenced(from.read().epoch()).ifPresent(moved -> {
                throw stillClosed(moved);
            });
        }
        return reopened(0);
    }

    /** Closes again as recorded: a request may have been on its way. */
    StaysClosed stillClosed(Found moved) {
        Found former = from.read();
        Closed how = former.move().closed();
        Closed begun = closed;
        String state = from.shown() + " stays closed: ";
        if (how == null) {
            state = "";
        } else {
            try {
                direction.closingFrom().close(how);
                direction.closingFrom().refuseKeepAlives(how);
                if (begun != null && begun.way() != how.way()) {
                    var unused = direction.closingFrom().settle(begun);
                }
            } catch (Lock.Expired e) {
                throw e;
            } catch (TakeOverException e) {
                state = from.shown() + " may accept client writes, which will be lost (" + e.getMessage() + "): ";
            }
        }
        String remedy = former.isPrimary() ? "; run " + new Claims(moved, former).remedy() : "";
        return new StaysClosed(
                state + "the primary role of mirror " + direction.mirror() + " has moved to " + to.shown() + remedy,
                null);
    }

    /** Whether there was something to open; then it is open. */
    private boolean reopened(long epochs) {
        Found primary = from.read();
        Closed how = isBegun(primary) ? primary.move().closed() : closed;
        if (how == null) {
            return false;
        }
        if (!isBegun(primary)
                && (!primary.isPrimary()
                        || primary.move().phase() != Phase.STEADY
                        || primary.move().closed() != null)) {
            throw writtenMeanwhile();
        }
        if (!isBegun(primary)) {
            // Another command has opened it, and this one has closed more since.
            kept = direction.closingFrom().open(how);
            return true;
        }
        requireOwnAuth(primary);
        Home record = primary.required();
        Operation undo =
                new Operation(begun().id(), Switchover.FORCED_UNDO, operation.process(), operation.startedAt());
        // Where the mirror closed a former primary, the failover is known.
        Move none = epochs == 0
                ? Move.NONE
                : Move.NONE.former(options.way()).by(primary.isLast(Failover.FAILOVER) ? null : undo);
        Home open = record.movedTo(record.cluster(), record.moves() + epochs, operation.startedAt())
                .with(none);
        kept = direction.closingFrom().open(how, () -> {
            if (from.write(open, primary.recordRevision(), List.of(), List.of(from.unfrozen())) == 0) {
                throw writtenMeanwhile();
            }
        });
        return true;
    }
}
