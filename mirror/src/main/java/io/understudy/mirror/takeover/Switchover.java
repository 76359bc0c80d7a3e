package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.Checkpoint;
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
import io.understudy.mirror.takeover.Records.Found;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the primary role of a mirrored range as planned. Compares both clusters while clients write, closes the primary,
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
    private static final int ATTEMPTS = 5;
    private static final int CATCH_UPS = 2;
    private static final Duration CATCH_UP = Duration.ofSeconds(5);
    /** Kinds of the operation that a record has. */
    static final String FORCED_UNDO = "forced undo";

    static final String SWITCHOVER = "switchover";

    private final Direction direction;
    private final TakeOverOptions options;
    private final Operation operation;
    private final TakeOver.Steps steps;
    private final Map<String, String> facts = new LinkedHashMap<>();
    private final Records from;
    private final Records to;
    private final Lock lock;
    private final MoveChecks checks;
    private final Undo undo;
    private final MovedLeases leases;
    private final Turn turn;
    /** While a killed command kept no leases alive. */
    private Lost expired = Lost.NOTHING;
    /** Whether a killed command moved the role. */
    private boolean isResumed;

    Switchover(Direction direction, TakeOverOptions options, TakeOver.Steps steps) {
        this.direction = direction;
        this.options = options;
        this.steps = steps;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
        this.lock = direction.lock();
        this.operation = direction.operation(SWITCHOVER);
        this.checks = new MoveChecks(direction, options);
        this.undo = new Undo(direction, options, operation);
        this.leases = new MovedLeases(direction);
        this.turn = new Turn(direction, operation, leases);
    }

    /** What {@link #run} does, in order. */
    public List<String> plan() {
        String source = from.shown();
        String target = to.shown();
        return List.of(
                "compare: compares " + source + " with " + target + " while clients write; changes nothing",
                "close: " + options.closing(from.shown(), direction.scope().shown()) + "; undone by --undo",
                "drain: waits up to " + options.drainDeadline().toSeconds() + " s until " + target
                        + " has everything up to the end marker, and compares what changed",
                "move: makes " + target
                        + " the primary, in one transaction; cannot be undone, a failback moves it back",
                "open: opens " + target + " and turns the mirror round; " + source
                        + (options.way() == Way.NONE
                                ? " is not closed, and the mirror overwrites what clients write there"
                                : " stays closed to clients"));
    }

    /**
     * Finds out whether {@link #run} would be refused. Changes nothing.
     *
     * @throws TakeOverException it would
     */
    public void check() {
        checks.run();
    }

    /**
     * Moves the role, or completes a move that was cut short.
     *
     * @throws TakeOverException the role has not moved; the former primary is open again unless the message states otherwise
     */
    public TakeOverReport run() {
        // Under an alarm there, no lock could be taken.
        checks.requireSameDirection(to.read());
        lock.take(to, "compare");
        try {
            // That of a move in the other direction.
            Lock.requireFree(from);
            Found primary = from.read();
            Found other = to.read();
            if (!MoveChecks.isMovedTo(other, primary)) {
                return moved(primary, other);
            }
            checks.requireUnfinished(primary, other);
            undo.resume(other.move().operation());
            isResumed = true;
            return finished();
        } finally {
            leases.end();
            lock.release();
            direction.comparer().close();
        }
    }

    private TakeOverReport moved(Found primary, Found other) {
        boolean isBegun = primary.move().phase() == Phase.CLOSING;
        Closed begun = isBegun ? primary.move().closed() : null;
        Found killed = isBegun ? primary : null;
        // What the mirror closed after a failover stays closed.
        boolean mayBeClosed = isBegun && !primary.isLast(Failover.FAILOVER);
        if (isBegun) {
            checks.requireSameWay(primary);
            undo.resume(primary.move().operation());
            undo.moves();
        }
        try {
            if (begun != null) {
                // The killed command keeps none alive.
                leases.find();
                leases.keepAlive(begun.way());
            }
            checks.requireMovable(primary, other);
            var unused = checks.prepared(primary);
            begin("compare");
            Equal equal = direction.comparer().all();
            facts.put("keys compared", String.valueOf(equal.keys()));
            // Nothing has changed until now.
            if (lock.again() && from.read().recordRevision() != primary.recordRevision()) {
                throw undo.writtenMeanwhile();
            }
            // What the mirror has copied by the closing, clients do not wait for. It may be too slow to get closer.
            for (int time = 0; !isBegun && time < CATCH_UPS; time++) {
                var unusedFound = awaitReached(from.read().revision(), CATCH_UP);
            }
            // Revisions at which the rest is compared later come closer to the present one.
            equal = direction.comparer().changed(equal);
            leases.find();
            // What was revoked during the comparison is not granted again later.
            Closed closed = checks.prepared(primary);
            if (isBegun && direction.isOpen(primary)) {
                killed = null;
            }
            mayBeClosed = true;
            long marker = closed(primary, closed, equal, isBegun);
            if (killed != null) {
                // From now on they are kept alive.
                expired = direction.expiredSince(killed, false);
            }
            drained(marker, closed.way());
            if (closed.way() != Way.NONE) {
                equal = direction.comparer().changed(equal);
            }
            turn.verified(equal);
            undo.requireClosing();
            direction.closingFrom().refuseKeepAlives(closed);
            leases.restart();
            moveTo(primary, other, marker, equal);
        } catch (Undo.StaysClosed e) {
            throw e;
        } catch (RuntimeException e) {
            throw mayBeClosed ? undo.after(e, killed) : e;
        }
        return finished();
    }

    /** Waits until the mirror has copied everything up to a revision; returns what was found last. */
    private Found awaitReached(long revision, Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        long first = -1;
        while (true) {
            Found now = to.read();
            Checkpoint found = now.checkpoint();
            if (found != null) {
                first = first < 0 ? found.revision().value() : first;
                steps.progress(Math.max(0, found.revision().value() - first), Math.max(0, revision - first));
            }
            if (hasReached(now, revision) || System.nanoTime() - end > 0) {
                return now;
            }
            PatientCalls.pause(PAUSE);
        }
    }

    /**
     * @param isBegun by a command that was killed
     * @return the end marker
     */
    private long closed(Found primary, Closed closed, Equal equal, boolean isBegun) {
        begin("close");
        Home record = primary.required();
        Move closing = new Move(Phase.CLOSING, operation, equal.from(), 0, closed);
        long written = primary.recordRevision();
        if (isBegun) {
            // An alarm that it raised refuses writes.
            closing = primary.move();
        } else {
            written = from.write(record.with(closing), written, List.of(), from.frozen(closed, operation.process()));
            if (written == 0) {
                throw undo.writtenMeanwhile();
            }
        }
        undo.closes(closed);
        long began = System.nanoTime();
        long recorded = written;
        leases.keepAlive(closed.way());
        direction.closingFrom().close(closed);
        if (closed.way() == Way.CORRUPT_ALARM) {
            return from.read().revision();
        }
        // The end of the history that clients wrote: what is refused comes later.
        Operation marked = new Operation(undo.begun().id(), "end marker", operation.process(), operation.startedAt());
        long marker = from.write(record.with(closing.by(marked)), written, List.of(), List.of());
        if (marker == 0) {
            throw undo.writtenMeanwhile();
        }
        if (System.nanoTime() - began > MovedLeases.ALIVE.toNanos()) {
            // Leases may have expired before the marker. Clients still deleted keys for a part of that time.
            turn.closedSince(recorded);
        }
        return marker;
    }

    private void drained(long marker, Way way) {
        begin("drain");
        facts.put("end marker", "revision " + marker + " of " + from.shown());
        if (way != Way.CORRUPT_ALARM) {
            // While the mirror drains. Those that it grants from now on have a full TTL.
            leases.restart();
        }
        Found now = awaitReached(marker, options.drainDeadline());
        if (!hasReached(now, marker)) {
            Checkpoint found = now.checkpoint();
            throw new TakeOverException(to.shown() + " did not reach revision " + marker + " within "
                    + options.drainDeadline().toSeconds() + " s; its checkpoint is "
                    + (found == null ? "missing" : found.state().word() + " at " + found.revision())
                    + ". Check that the mirror is running");
        }
    }

    private void moveTo(Found primary, Found other, long marker, Equal equal) {
        begin("move");
        undo.moves();
        long epoch = Math.max(primary.epoch(), other.epoch()) + 1;
        try {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                Found now = to.read();
                if (now.recordRevision() != other.recordRevision()) {
                    throw undo.writtenMeanwhile();
                }
                if (!hasReached(now, marker)) {
                    throw new TakeOverException("the checkpoint at " + to.shown() + " went back");
                }
                if (moved(now, epoch, marker, equal)) {
                    return;
                }
                // A mirror process has taken over: it may be the same one again.
            }
        } catch (TakeOverException e) {
            Found moved = undo.fencedFor(e, primary.epoch()).orElseThrow(() -> e);
            if (!undo.isOwn(moved)) {
                throw new Undo.StaysClosed(
                        e.getMessage() + ". " + undo.stillClosed(moved).getMessage(), e);
            }
            return;
        }
        throw new TakeOverException("the epoch of mirror " + direction.mirror() + " at " + to.shown() + " changed "
                + ATTEMPTS + " times during the move");
    }

    private static boolean hasReached(Found now, long revision) {
        Checkpoint reached = now.checkpoint();
        return reached != null
                && reached.state() == CheckpointState.SYNCED
                && reached.revision().value() >= revision;
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

    private TakeOverReport finished() {
        return direction.afterMove(() -> undo.again(this::opened));
    }

    /** What is left to do once the role has moved. */
    private TakeOverReport opened() {
        begin("open");
        Found primary = to.read();
        if (!undo.isOwn(primary)) {
            throw new Undo.StaysClosed(
                    "another command has moved mirror " + direction.mirror()
                            + " since; see \"understudy mirror status\"",
                    null);
        }
        if (isResumed) {
            // Its clients could keep no leases alive.
            expired = expired.and(direction.reversed().expiredSince(primary));
        }
        // First, since clients wait for it.
        Optional<String> kept = direction.closingTo().open(primary.move().closed());
        leases.add(direction.releaseLeases());
        List<String> next = new ArrayList<>(List.of("point clients at " + to.shown()));
        Turn.Turned turned = turn.run(primary, isResumed);
        Lost found = turned.lost().and(expired);
        LostKeys lost = LostKeys.of(found.keys());
        // Stored first: no other command finds them once the move is complete.
        String loss = found.shown(lost);
        if (turned.again() == null) {
            Home steady =
                    primary.required().with(primary.move().in(Phase.STEADY).closed(null));
            if (to.write(steady, primary.recordRevision(), List.of(), List.of(to.unfrozen())) == 0) {
                throw undo.writtenMeanwhile();
            }
            if (kept.isPresent()) {
                // Another mirror may have opened it at the same time.
                kept = direction.closingTo().open(primary.move().closed());
            }
        } else {
            next.add("run the command again once " + from.shown() + " responds: " + turned.again());
        }
        kept.ifPresent(why -> next.add(0, why));
        next.add("to move back: understudy mirror failback");
        LOG.atInfo()
                .addKeyValue("mirror", direction.mirror())
                .addKeyValue("from", from.shown())
                .addKeyValue("to", to.shown())
                .addKeyValue("end_marker", primary.move().endMarker())
                .log("primary role moved");
        return new TakeOverReport(direction.moved(primary), loss, lost, facts, next);
    }

    /** What {@link #undo} does. */
    public List<String> undoPlan() {
        return undo.plan();
    }

    /**
     * Finds out whether {@link #undo} would be refused. Changes nothing.
     *
     * @throws TakeOverException it would
     */
    public void checkUndo() {
        undo.check();
    }

    /**
     * Opens the primary again after a move that was cut short.
     *
     * @throws TakeOverException the role has moved, or there is nothing to undo
     */
    public TakeOverReport undo() {
        return undo.run();
    }

    private void begin(String step) {
        steps.begin(step);
        lock.show(step);
    }
}
