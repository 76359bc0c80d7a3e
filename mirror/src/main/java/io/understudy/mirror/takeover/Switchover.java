package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.takeover.Direction.Comparer.Equal;
import io.understudy.mirror.takeover.Direction.Comparer.Lost;
import io.understudy.mirror.takeover.Failover.Claims;
import io.understudy.mirror.takeover.Records.Found;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the primary role of a mirrored range as planned: compares both clusters while clients write, closes the primary,
 * waits until the other has everything up to the end marker, and moves the role in one transaction there. Then it opens the
 * new primary and turns the mirror round. One thread.
 *
 * <p>The former primary stores how it was closed before it is: so it can be opened again although the other cluster is gone.
 * Until the role moves, a failure opens it. A command that was killed is resumed or undone by the next one.
 *
 * <p>Invariant M37: at every instant and in every crash state at most one side acknowledges client writes; a write that was
 * acknowledged is at the primary afterwards, or named.
 */
public final class Switchover {

    private static final Logger LOG = LoggerFactory.getLogger(Switchover.class);
    private static final Duration PAUSE = Duration.ofMillis(20);
    private static final int PAGE_KEYS = 1_000;
    private static final int ATTEMPTS = 5;
    /** Beyond that of a move of unknown outcome. */
    private static final int FORCED_EPOCHS = 2;
    /** Kinds of the operation that a record has. */
    static final String FORCED_UNDO = "forced undo";

    private static final String SWITCHOVER = "switchover";

    /** The role may be at the other cluster: this one may not be opened. */
    private static final class StaysClosed extends TakeOverException {
        private static final long serialVersionUID = 1L;

        StaysClosed(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    private final Direction direction;
    private final TakeOverOptions options;
    private final Operation operation;
    private final TakeOver.Steps steps;
    private final Map<String, String> facts = new LinkedHashMap<>();
    private final Records from;
    private final Records to;
    private final LongFunction<Runnable> keeper;
    /** Of the range's keys, as the mirror keeps them at both sides. */
    private final Set<Long> leases = new LinkedHashSet<>();

    private long lock;
    private String shownStep = "";
    private Runnable kept = () -> {};
    /** Whether a moving transaction may be on its way, of this command or of one that was killed. */
    private boolean mayMove;
    /** The command that is resumed or undone; null for none. */
    private @Nullable Operation resumed;

    /**
     * @param process host and process ID
     * @param keeper keeps the lock's lease alive until closed
     */
    Switchover(
            Direction direction,
            TakeOverOptions options,
            String process,
            LongFunction<Runnable> keeper,
            TakeOver.Steps steps) {
        this.keeper = keeper;
        this.direction = direction;
        this.options = options;
        this.steps = steps;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
        this.operation = new Operation(UUID.randomUUID().toString(), SWITCHOVER, process, Instant.now());
    }

    /** What {@link #run} does, in order. */
    public List<String> plan() {
        String source = direction.from().shown();
        String target = direction.to().shown();
        return List.of(
                "compare: compares " + source + " with " + target + " while clients write; changes nothing",
                "close: " + closes() + "; undone by --undo",
                "drain: waits up to " + options.drainDeadline().toSeconds() + " s until " + target
                        + " has everything up to the end marker, and compares what changed",
                "move: makes " + target
                        + " the primary, in one transaction; cannot be undone, a failback moves it back",
                "open: opens " + target + " and turns the mirror round; " + source + " stays closed to clients");
    }

    private String closes() {
        String where = direction.from().shown();
        String keys = direction.scope().shown();
        return switch (options.way()) {
            case ROLES -> "revokes write access to " + keys + " at " + where + " from all roles but the mirror's";
            case CORRUPT_ALARM ->
                "raises a CORRUPT alarm at " + where + ": no write of any tenant is accepted, and health checks fail,"
                        + " until the role has moved; then enables authentication there, for the mirror alone";
            case AUTH_ENABLE ->
                "enables authentication at " + where + ", for the mirror alone: no tenant can read or write there";
            case NONE -> "nothing: clients can write at " + where + ", and what they write last is lost";
        };
    }

    /**
     * Finds out whether {@link #run} would be refused. Changes nothing.
     *
     * @throws TakeOverException it would
     */
    public void check() {
        Found primary = from.read();
        Found other = to.read();
        if (isMovedTo(other, primary)) {
            return;
        }
        requireMovable(primary, other);
        requireFree();
        var unused = prepared(primary);
    }

    /** How the primary is closed: as a command that was killed began to, or as the options select. */
    private Closed prepared(Found primary) {
        Closed begun = primary.move().phase() == Phase.CLOSING ? primary.move().closed() : null;
        if (begun == null) {
            if (options.way() != Way.NONE) {
                direction.closingFrom().requireSpace();
            }
            return direction.closingFrom().prepare(options.way());
        }
        if (begun.way() == Way.NONE && options.way() != Way.NONE) {
            throw new TakeOverException(
                    "a switchover that leaves " + direction.from().shown()
                            + " open was cut short: undo it with --undo before one that closes it, or complete it with"
                            + " --allow-loss");
        }
        return begun;
    }

    private void requireFree() {
        to.holder().or(from::holder).ifPresent(holder -> {
            throw new TakeOverException("another command is moving mirror " + direction.mirror() + ": " + holder
                    + ". Wait until it has ended");
        });
    }

    /**
     * Moves the role, or completes a move that was cut short.
     *
     * @throws TakeOverException the role has not moved; the former primary is open again unless the message states otherwise
     */
    public TakeOverReport run() {
        Found primary = from.read();
        Found other = to.read();
        if (isMovedTo(other, primary)) {
            if (other.move().phase() == Phase.STEADY && !isStale(primary, other)) {
                throw new TakeOverException(
                        direction.to().shown() + " is the primary of mirror " + direction.mirror() + " already");
            }
            resumed = other.move().operation();
            locked("open");
            try {
                return finished(null);
            } finally {
                unlock();
            }
        }
        requireFree();
        locked("compare");
        try {
            return moved(primary, other);
        } finally {
            unlock();
        }
    }

    private TakeOverReport moved(Found primary, Found other) {
        requireMovable(primary, other);
        Closed closed = prepared(primary);
        begin("compare");
        Equal equal = direction.comparer().all();
        facts.put("keys compared", String.valueOf(equal.keys()));
        // Revisions at which the rest is compared later come closer to the present one.
        equal = direction.comparer().changed(equal);
        leases.addAll(to.leases());
        mayMove = primary.move().phase() == Phase.CLOSING;
        resumed = mayMove ? primary.move().operation() : null;
        try {
            long marker = closed(primary, closed, equal);
            drained(marker, closed.way());
            if (closed.way() != Way.NONE) {
                equal = direction.comparer().changed(equal);
            }
            requireClosing();
            direction.closingFrom().refuseKeepAlives(closed);
            // A client that the former primary answered last must not outlive its lease here.
            keepAlive(direction.to());
            moveTo(primary, other, marker, equal);
        } catch (StaysClosed e) {
            throw e;
        } catch (RuntimeException e) {
            throw undone(e);
        }
        return finished(closed);
    }

    /** An undo of another command may have opened the primary. */
    private void requireClosing() {
        Found now = from.read();
        Operation last = now.move().operation();
        String ours = (resumed == null ? operation : resumed).id();
        if (now.move().phase() != Phase.CLOSING || last == null || !last.id().equals(ours)) {
            throw writtenMeanwhile();
        }
    }

    private TakeOverException undone(RuntimeException why) {
        String what = why.getMessage() == null ? why.toString() : why.getMessage();
        boolean interrupted = Thread.interrupted();
        try {
            undoNow();
            return new TakeOverException(
                    what + ". The primary role has not moved, and "
                            + direction.from().shown() + " is open again",
                    why);
        } catch (StaysClosed e) {
            return new TakeOverException(what + ". " + e.getMessage(), why);
        } catch (RuntimeException e) {
            why.addSuppressed(e);
            return new TakeOverException(
                    what + ". " + direction.from().shown() + " may still be closed: " + e.getMessage()
                            + ". Run the command again, or with --undo",
                    why);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** @return the end marker */
    private long closed(Found primary, Closed closed, Equal equal) {
        begin("close");
        Home record = primary.required();
        Move closing = new Move(Phase.CLOSING, operation, equal.from(), 0, closed);
        long written = primary.recordRevision();
        if (mayMove) {
            // Of a command that was killed; an alarm that it raised refuses writes.
            closing = primary.move();
        } else {
            written = from.write(record.with(closing), written, List.of(), frozen(closed, true));
            if (written == 0) {
                throw writtenMeanwhile();
            }
        }
        keepAliveFrom(closed.way());
        direction.closingFrom().close(closed);
        if (closed.way() == Way.CORRUPT_ALARM) {
            return from.read().revision();
        }
        // The end of the history that clients wrote: what is refused comes later.
        Operation last = resumed == null ? operation : resumed;
        Operation marked = new Operation(last.id(), "end marker", operation.process(), operation.startedAt());
        long marker = from.write(record.with(closing.by(marked)), written, List.of(), List.of());
        if (marker == 0) {
            throw writtenMeanwhile();
        }
        return marker;
    }

    /** A mark, so that the roles are not copied meanwhile. */
    private List<RequestOp> frozen(Closed closed, boolean frozen) {
        ByteString key = ReservedKeys.freeze(direction.mirror());
        return closed.way() != Way.ROLES
                ? List.of()
                : List.of(
                        frozen ? Records.put(key, ByteString.copyFromUtf8(operation.process())) : Records.delete(key));
    }

    private void drained(long marker, Way way) {
        begin("drain");
        facts.put("end marker", "revision " + marker + " of " + direction.from().shown());
        long end = System.nanoTime() + options.drainDeadline().toNanos();
        long keptAlive = System.nanoTime();
        long first = -1;
        while (true) {
            Checkpoint found = to.read().checkpoint();
            if (found != null) {
                first = first < 0 ? found.revision().value() : first;
                steps.progress(Math.max(0, found.revision().value() - first), marker - first);
            }
            if (found != null
                    && found.state() == CheckpointState.SYNCED
                    && found.revision().value() >= marker) {
                return;
            }
            if (System.nanoTime() - end > 0) {
                throw new TakeOverException(direction.to().shown() + " did not reach revision " + marker + " within "
                        + options.drainDeadline().toSeconds() + " s; its checkpoint is "
                        + (found == null ? "missing" : found.state().word() + " at " + found.revision())
                        + ". Check that the mirror is running");
            }
            if (System.nanoTime() - keptAlive > Duration.ofSeconds(1).toNanos()) {
                keptAlive = System.nanoTime();
                keepAliveFrom(way);
            }
            PatientCalls.pause(PAUSE);
        }
    }

    /** The owners' keep-alives are rejected where they may not write. */
    private void keepAlive(TakeOverCalls cluster) {
        if (!leases.isEmpty()) {
            var unused = cluster.keepAlive(List.copyOf(leases));
        }
    }

    /** Under an alarm no lease expires, and a keep-alive of one that should have expired is not answered. */
    private void keepAliveFrom(Way way) {
        boolean isAlarmed = way == Way.CORRUPT_ALARM;
        try {
            keepAlive(isAlarmed ? direction.from().with(Duration.ZERO) : direction.from());
        } catch (TakeOverException e) {
            if (!isAlarmed) {
                throw e;
            }
        }
    }

    private void moveTo(Found primary, Found other, long marker, Equal equal) {
        begin("move");
        mayMove = true;
        long epoch = Math.max(primary.epoch(), other.epoch()) + 1;
        try {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                Found now = to.read();
                if (now.recordRevision() != other.recordRevision()) {
                    throw writtenMeanwhile();
                }
                requireReached(now, marker);
                if (moved(now, epoch, marker, equal)) {
                    return;
                }
                // A mirror process has taken over: it may be the same one again.
            }
        } catch (TakeOverException e) {
            Found moved = fencedFor(e);
            if (moved == null) {
                throw e;
            }
            if (!isOwn(moved)) {
                throw new StaysClosed(e.getMessage() + ". " + stillClosed(moved).getMessage(), e);
            }
            return;
        }
        throw new TakeOverException("the epoch of mirror " + direction.mirror() + " at "
                + direction.to().shown() + " changed " + ATTEMPTS + " times during the move");
    }

    private void requireReached(Found now, long marker) {
        Checkpoint reached = now.checkpoint();
        if (reached == null
                || reached.state() != CheckpointState.SYNCED
                || reached.revision().value() < marker) {
            throw new TakeOverException("the checkpoint at " + direction.to().shown() + " went back");
        }
    }

    private boolean moved(Found now, long epoch, long marker, Equal equal) {
        Home record = now.required()
                .movedTo(now.cluster(), epoch, operation.startedAt())
                .turned();
        Closed closedThere = now.move().closed();
        Move moving = new Move(Phase.MOVED, operation, equal.from(), marker, closedThere);
        ByteString key = ReservedKeys.epoch(direction.mirror());
        return to.write(
                        record.with(moving),
                        now.recordRevision(),
                        List.of(Records.isAt(key, now.epochRevision())),
                        List.of(Records.put(key, ByteString.copyFromUtf8(operation.id()))))
                > 0;
    }

    /** As {@link #fenced}, after a move that was not answered. */
    private @Nullable Found fencedFor(TakeOverException why) {
        boolean interrupted = Thread.interrupted();
        try {
            return fenced(to);
        } catch (TakeOverException e) {
            why.addSuppressed(e);
            throw new StaysClosed(
                    why.getMessage() + ". Whether the primary role has moved is unknown, so "
                            + direction.from().shown() + " stays closed. Run the command again once "
                            + direction.to().shown() + " responds, or with --undo --force if it is lost",
                    why);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Writes the record there again, so that no moving transaction that is on its way succeeds.
     *
     * @return what is stored there if the role has moved; null if it has not
     */
    private @Nullable Found fenced(Records there) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Found now = there.read();
            if (now.isPrimary()) {
                return now;
            }
            Home same = now.required();
            Home again = same.movedTo(same.cluster(), same.moves(), operation.startedAt())
                    .with(now.move()
                            .by(new Operation(
                                    UUID.randomUUID().toString(), "undo", operation.process(), operation.startedAt())));
            if (there.write(again, now.recordRevision(), List.of(), List.of()) > 0) {
                return null;
            }
        }
        throw new TakeOverException("the record of mirror " + direction.mirror() + " at "
                + direction.to().shown() + " is being written by another command");
    }

    /** Whether the role is there by the move of this command, or of the one that it resumes. */
    private boolean isOwn(Found moved) {
        Operation last = moved.move().operation();
        String id = last == null ? "" : last.id();
        return moved.isPrimary()
                && (id.equals(operation.id())
                        || (resumed == null ? last == null && !mayMove : id.equals(resumed.id())));
    }

    /** What is left to do once the role has moved. */
    private TakeOverReport finished(@Nullable Closed formerly) {
        begin("open");
        Found primary = to.read();
        if (!isOwn(primary)) {
            throw new TakeOverException("another command has moved mirror " + direction.mirror()
                    + " since; see \"understudy mirror status\"");
        }
        leases.addAll(to.leases());
        releaseLeases();
        Closed closedHere = primary.move().closed();
        if (closedHere != null) {
            direction.closingTo().open(closedHere);
        }
        List<String> next = new ArrayList<>();
        next.add("point clients at " + direction.to().shown());
        Lost found = lost(primary, formerly);
        String unturned = turned(primary);
        if (unturned == null) {
            Home steady =
                    primary.required().with(primary.move().in(Phase.STEADY).closed(null));
            long written = to.write(
                    steady,
                    primary.recordRevision(),
                    List.of(),
                    closedHere == null ? List.of() : frozen(closedHere, false));
            if (written == 0) {
                throw writtenMeanwhile();
            }
        } else {
            next.add("run the command again once " + direction.from().shown() + " responds: " + unturned);
        }
        next.add("to move back: understudy mirror failback");
        LOG.atInfo()
                .addKeyValue("mirror", direction.mirror())
                .addKeyValue("from", direction.from().shown())
                .addKeyValue("to", direction.to().shown())
                .addKeyValue("end_marker", primary.move().endMarker())
                .log("primary role moved");
        LostKeys lost = LostKeys.of(found.keys());
        return new TakeOverReport(
                "The primary of mirror " + direction.mirror() + " is now "
                        + direction.to().shown() + " (cluster " + primary.cluster() + ")",
                found.unknown() == null ? lost.shown() : "not known: " + found.unknown(),
                lost,
                facts,
                next);
    }

    /** Writes that passed because the former primary was not closed, or was opened meanwhile. */
    private Lost lost(Found primary, @Nullable Closed formerly) {
        try {
            Closed closed = formerly == null ? from.read().move().closed() : formerly;
            return closed != null && direction.closingFrom().isClosed(closed)
                    ? Lost.NOTHING
                    : direction.comparer().lostAfter(primary.move().endMarker());
        } catch (TakeOverException e) {
            return new Lost(List.of(), e.getMessage());
        }
    }

    /**
     * Has the former primary store that it is one, and makes it the mirror's target.
     *
     * @return why that is not possible now; null if it is done
     */
    private @Nullable String turned(Found primary) {
        try {
            Found former = from.read();
            if (former.isPrimary() && former.epoch() > primary.epoch()) {
                Claims claims = new Claims(primary, former);
                throw new StaysClosed(
                        claims.shown(
                                        direction.mirror(),
                                        direction.to().shown(),
                                        direction.from().shown()) + "; run " + claims.remedy(),
                        null);
            }
            // One that the mirror closed was open after the move, or was restored, as one that had turned before.
            boolean isPlanned = primary.move().phase() == Phase.MOVED
                    && primary.isLast(SWITCHOVER)
                    && !former.isLast(Failover.FAILOVER);
            boolean isTurned = former.epoch() >= primary.epoch() || turn(primary, former, isPlanned);
            // Until the mirror back does it; an alarm is disarmed by now.
            keepAlive(direction.from());
            return isTurned ? null : "its record was written meanwhile";
        } catch (StaysClosed e) {
            throw e;
        } catch (TakeOverException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /**
     * Stores at the former primary that it is one, with the checkpoint that the mirror begins with. A snapshot that a mirror
     * into it left unfinished is not continued: clients wrote there since.
     *
     * @param planned whether it is as the new primary was at the move
     */
    boolean turn(Found primary, Found former, boolean planned) {
        Closed closed = former.move().closed();
        Closed settled = closed == null || closed.way() == Way.NONE
                ? null
                : direction.closingFrom().settle(closed);
        Home record = primary.required();
        Checkpoint before = former.checkpoint();
        Checkpoint reversed = new Checkpoint(
                primary.cluster(),
                record.scope(),
                new Revision(movedAt(primary)),
                null,
                before == null ? 1 : before.epoch() + 1,
                operation.process() + " " + operation.id(),
                List.of(primary.cluster()),
                operation.startedAt(),
                planned && settled != null && direction.keepsLeases()
                        ? CheckpointState.SYNCED
                        : CheckpointState.SYNCING);
        return from.write(
                        record.with(new Move(
                                Phase.STEADY,
                                operation,
                                primary.move().verifiedAt(),
                                primary.move().endMarker(),
                                settled)),
                        former.recordRevision(),
                        List.of(),
                        List.of(
                                Records.put(
                                        ReservedKeys.checkpoint(direction.mirror()), CheckpointCodec.encode(reversed)),
                                Records.put(
                                        ReservedKeys.epoch(direction.mirror()),
                                        ByteString.copyFromUtf8(operation.id())),
                                Records.delete(ReservedKeys.lanes(direction.mirror()))))
                > 0;
    }

    /** Until the move is complete, the record at the new primary is that of the moving transaction. */
    private long movedAt(Found primary) {
        return primary.recordRevision();
    }

    /** Leaves the leases that the mirror kept alive to their owners, with all of their TTL. */
    void releaseLeases() {
        KeyRange registers = ReservedKeys.all(direction.mirror(), "lease/");
        // First, and without registers too: a later mirror into this cluster has to find leases that clients granted.
        delete(KeyRange.single(ReservedKeys.wholeLeases(direction.mirror())));
        List<Long> registered = to.leases();
        for (int from = 0; from < registered.size(); from += PAGE_KEYS) {
            var unused =
                    direction.to().keepAlive(registered.subList(from, Math.min(registered.size(), from + PAGE_KEYS)));
        }
        if (!registered.isEmpty()) {
            delete(registers);
        }
    }

    private void delete(KeyRange range) {
        var unused = direction
                .to()
                .txn(
                        "the lease register",
                        TxnRequest.newBuilder()
                                .addSuccess(Records.delete(range))
                                .build());
    }

    /**
     * Opens the primary again after a move that was cut short.
     *
     * @return what was done, in words
     * @throws TakeOverException the role has moved, or there is nothing to undo
     */
    public String undo() {
        Found primary = from.read();
        if (primary.move().phase() != Phase.CLOSING) {
            throw new TakeOverException("there is nothing to undo: no switchover of mirror " + direction.mirror()
                    + " from " + direction.from().shown() + " is unfinished");
        }
        from.holder().ifPresent(holder -> {
            throw new TakeOverException("another command is moving mirror " + direction.mirror() + ": " + holder);
        });
        resumed = primary.move().operation();
        mayMove = true;
        // After a failover that is known here, the operator chooses this cluster.
        boolean isForced = options.force() && (primary.isLast(Failover.FAILOVER) || !isTargetPresent());
        if (isForced) {
            reopen(FORCED_EPOCHS);
        } else {
            locked("undo");
            try {
                undoNow();
            } finally {
                unlock();
            }
        }
        return direction.from().shown() + " is open again and remains the primary";
    }

    /** @throws TakeOverException another command holds the lock there */
    private boolean isTargetPresent() {
        Records there = new Records(direction.to().with(Failover.ANSWER), direction.mirror());
        Optional<String> holder;
        try {
            holder = there.holder();
        } catch (TakeOverException e) {
            return false;
        }
        holder.ifPresent(other -> {
            throw new TakeOverException("another command is moving mirror " + direction.mirror() + ": " + other);
        });
        return true;
    }

    private void undoNow() {
        Found moved = null;
        try {
            moved = fenced(mayMove ? to : new Records(direction.to().with(Failover.ANSWER), direction.mirror()));
        } catch (TakeOverException e) {
            if (mayMove) {
                throw e;
            }
            // It is lost, and this command has not moved the role.
        }
        if (moved != null) {
            throw stillClosed(moved);
        }
        reopen(0);
    }

    private StaysClosed stillClosed(Found moved) {
        Found former = from.read();
        String remedy = former.isPrimary() ? "; run " + new Claims(moved, former).remedy() : "";
        return new StaysClosed(
                direction.from().shown() + " stays closed: the primary role of mirror " + direction.mirror()
                        + " has moved to " + direction.to().shown() + remedy,
                null);
    }

    private void reopen(long epochs) {
        Found primary = from.read();
        Closed closed = primary.move().phase() == Phase.CLOSING ? primary.move().closed() : null;
        String ours = (resumed == null ? operation : resumed).id();
        Operation last = primary.move().operation();
        if (closed == null || last == null || !last.id().equals(ours)) {
            return;
        }
        direction.closingFrom().open(closed);
        Home record = primary.required();
        Operation undo = new Operation(ours, FORCED_UNDO, operation.process(), operation.startedAt());
        // Where the mirror closed a former primary, the failover is known.
        Move none = epochs == 0
                ? Move.NONE
                : Move.NONE.former(options.way()).by(primary.isLast(Failover.FAILOVER) ? null : undo);
        Home open = record.movedTo(record.cluster(), record.moves() + epochs, operation.startedAt())
                .with(none);
        if (from.write(open, primary.recordRevision(), List.of(), frozen(closed, false)) == 0) {
            throw writtenMeanwhile();
        }
    }

    private void requireMovable(Found primary, Found other) {
        if (!primary.required().cluster().equals(primary.cluster())) {
            throw new TakeOverException(direction.from().shown() + " is not the primary of mirror " + direction.mirror()
                    + "; its record names cluster " + primary.required().cluster());
        }
        if (other.isPrimary()) {
            Claims claims = new Claims(primary, other);
            throw new TakeOverException(claims.shown(
                            direction.mirror(),
                            direction.from().shown(),
                            direction.to().shown())
                    + "; run " + claims.remedy() + " first");
        }
        Checkpoint checkpoint = other.checkpoint();
        if (checkpoint == null) {
            throw new TakeOverException(direction.to().shown() + " has no checkpoint of mirror " + direction.mirror()
                    + ": it was never mirrored to. Check the name of the mirror, and that it runs");
        }
        if (!checkpoint.scope().equals(direction.scope())) {
            throw new TakeOverException("the checkpoint at " + direction.to().shown() + " has "
                    + checkpoint.scope().shown() + "; configured: "
                    + direction.scope().shown());
        }
        if (!checkpoint.source().equals(primary.cluster())) {
            throw new TakeOverException("the checkpoint has source cluster " + checkpoint.source() + ", but "
                    + direction.from().shown() + " is cluster " + primary.cluster());
        }
        if (checkpoint.state() != CheckpointState.SYNCED) {
            throw new TakeOverException(
                    "the checkpoint is " + checkpoint.state().word() + ": wait until the mirror is synced");
        }
        long lag = primary.revision() - checkpoint.revision().value();
        if (lag > options.maxLag()) {
            throw new TakeOverException(direction.to().shown() + " is " + lag + " revisions behind, more than "
                    + options.maxLag() + ": wait until the mirror has caught up, or set --max-lag");
        }
        if (other.revision() < primary.revision() && !options.acceptSilentWatchers()) {
            throw new TakeOverException(direction.to().shown() + " is at revision " + other.revision() + ", below "
                    + primary.revision() + " of " + direction.from().shown()
                    + ": a watcher that resumes there would miss changes without an error. Seed the target with"
                    + " init-target, or use --accept-silent-watchers if all clients list again");
        }
    }

    private static boolean isMovedTo(Found other, Found primary) {
        return other.isPrimary()
                && (!primary.isPrimary() || (other.epoch() > primary.epoch() && other.isLast(SWITCHOVER)));
    }

    private static boolean isStale(Found former, Found primary) {
        return former.epoch() < primary.epoch();
    }

    private TakeOverException writtenMeanwhile() {
        return new TakeOverException("another command moves mirror " + direction.mirror() + " at the same time");
    }

    private void begin(String step) {
        steps.begin(step);
        to.step(lock, operation.process(), shownStep, step);
        shownStep = step;
    }

    private void locked(String step) {
        lock = to.lock(operation.process(), step);
        shownStep = step;
        kept = keeper.apply(lock);
    }

    private void unlock() {
        kept.run();
        to.unlock(lock);
    }
}
