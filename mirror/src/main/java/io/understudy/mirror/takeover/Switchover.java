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
import io.understudy.mirror.takeover.Rejoin.Claims;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
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
    /** The least TTL that etcd grants by default is twice as long. */
    private static final Duration ALIVE = Duration.ofSeconds(1);

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
    private final Undo undo;
    /** Of the range's keys, as the mirror keeps them at both sides. */
    private final Set<Long> leases = ConcurrentHashMap.newKeySet();
    /** Those that the other side has kept alive since the former primary refuses that. */
    private final Set<Long> restarted = new HashSet<>();

    /** What the new primary did not have at the move, as found before the turn; null if that is not known. */
    private @Nullable Lost lostAtMove;
    /** While a killed command kept no leases alive. */
    private Lost expired = Lost.NOTHING;
    /** Whether the former primary revoked leases since it was closed, or before. */
    private volatile boolean haveExpired;
    /** Revision since which expiries are named; 0 for the end marker. */
    private long closedSince;
    /** Whether a killed command moved the role. */
    private boolean isResumed;

    private Lock.Beats beats = () -> {};
    /** As last compared before the role moved; null if that is not known. */
    private @Nullable Equal verified;

    Switchover(Direction direction, TakeOverOptions options, TakeOver.Steps steps) {
        this.direction = direction;
        this.options = options;
        this.steps = steps;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
        this.lock = direction.lock();
        this.operation = direction.operation(SWITCHOVER);
        this.undo = new Undo(direction, options, operation);
    }

    /** What {@link #run} does, in order. */
    public List<String> plan() {
        String source = from.shown();
        String target = to.shown();
        return List.of(
                "compare: compares " + source + " with " + target + " while clients write; changes nothing",
                "close: " + closes() + "; undone by --undo",
                "drain: waits up to " + options.drainDeadline().toSeconds() + " s until " + target
                        + " has everything up to the end marker, and compares what changed",
                "move: makes " + target
                        + " the primary, in one transaction; cannot be undone, a failback moves it back",
                "open: opens " + target + " and turns the mirror round; " + source
                        + (options.way() == Way.NONE
                                ? " is not closed, and the mirror overwrites what clients write there"
                                : " stays closed to clients"));
    }

    private String closes() {
        String where = from.shown();
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
            requireUnfinished(primary, other);
            return;
        }
        requireMovable(primary, other);
        Lock.requireFree(to);
        Lock.requireFree(from);
        var unused = prepared(primary);
    }

    /** Returns how the primary is closed: as a killed command began, else by the options. */
    private Closed prepared(Found primary) {
        requireSameWay(primary);
        Closed begun = primary.move().phase() == Phase.CLOSING ? primary.move().closed() : null;
        if (begun != null) {
            direction.closingFrom().requireNoWriters(begun.way());
            return begun;
        }
        if (options.way() != Way.NONE) {
            direction.closingFrom().requireSpace();
            direction.closingFrom().others().requireReadable();
        }
        return direction.closingFrom().prepare(options.way());
    }

    private void requireSameWay(Found primary) {
        Closed begun = primary.move().phase() == Phase.CLOSING ? primary.move().closed() : null;
        if (begun != null && begun.way() == Way.NONE && options.way() != Way.NONE) {
            throw new TakeOverException("a switchover that leaves " + from.shown() + " open was cut short: undo it with"
                    + " --undo before one that closes it, or complete it with --allow-loss");
        }
    }

    /**
     * Moves the role, or completes a move that was cut short.
     *
     * @throws TakeOverException the role has not moved; the former primary is open again unless the message states otherwise
     */
    public TakeOverReport run() {
        // Under an alarm there, no lock could be taken.
        requireSameDirection(to.read());
        lock.take(to, "compare");
        try {
            // That of a move in the other direction.
            Lock.requireFree(from);
            Found primary = from.read();
            Found other = to.read();
            if (!isMovedTo(other, primary)) {
                return moved(primary, other);
            }
            requireUnfinished(primary, other);
            undo.resume(other.move().operation());
            isResumed = true;
            return finished();
        } finally {
            beats.end();
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
            requireSameWay(primary);
            undo.resume(primary.move().operation());
            undo.moves();
        }
        try {
            if (begun != null) {
                // The killed command keeps none alive.
                leases.addAll(to.leases());
                keepAlive(begun.way());
            }
            requireMovable(primary, other);
            var unused = prepared(primary);
            begin("compare");
            Equal equal = direction.comparer().all();
            facts.put("keys compared", String.valueOf(equal.keys()));
            // Nothing has changed until now.
            if (lock.again() && from.read().recordRevision() != primary.recordRevision()) {
                throw undo.writtenMeanwhile();
            }
            if (!isBegun) {
                awaitCloseBehind();
            }
            // Revisions at which the rest is compared later come closer to the present one.
            equal = direction.comparer().changed(equal);
            leases.addAll(to.leases());
            // What was revoked during the comparison is not granted again later.
            Closed closed = prepared(primary);
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
            verified = equal;
            undo.requireClosing();
            direction.closingFrom().refuseKeepAlives(closed);
            restart();
            moveTo(primary, other, marker, equal);
        } catch (Undo.StaysClosed e) {
            throw e;
        } catch (RuntimeException e) {
            throw mayBeClosed ? undo.after(e, killed) : e;
        }
        return finished();
    }

    /** What the mirror has copied by the closing, clients do not wait for. It may be too slow to get closer. */
    private void awaitCloseBehind() {
        for (int time = 0; time < CATCH_UPS; time++) {
            var unused = awaitReached(from.read().revision(), CATCH_UP);
        }
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
        keepAlive(closed.way());
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
        if (System.nanoTime() - began > ALIVE.toNanos()) {
            // Leases may have expired before the marker. Clients still deleted keys for a part of that time.
            closedSince = recorded;
        }
        return marker;
    }

    private void drained(long marker, Way way) {
        begin("drain");
        facts.put("end marker", "revision " + marker + " of " + from.shown());
        if (way != Way.CORRUPT_ALARM) {
            // While the mirror drains. Those that it grants from now on have a full TTL.
            restart();
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

    /** A client that the former primary answered last must not outlive its lease at the other side. */
    private void restart() {
        leases.addAll(to.leases());
        List<Long> rest =
                leases.stream().filter(lease -> !restarted.contains(lease)).toList();
        keepAlive(direction.to(), rest);
        restarted.addAll(rest);
    }

    /** The owners' keep-alives are rejected where they may not write. */
    private static void keepAlive(TakeOverCalls cluster, Collection<Long> leases) {
        if (!leases.isEmpty()) {
            var unused = cluster.keepAlive(List.copyOf(leases));
        }
    }

    /**
     * Keeps the leases alive at the former primary, at once; then at both, as long as the command runs. On one thread for
     * each, so that a cluster that does not respond ends no leases at the other one.
     */
    private void keepAlive(Way way) {
        keepAliveFrom(way, direction.from());
        beats.end();
        Lock.Beats atFrom = repeat(() -> keepAliveFrom(way, direction.from().with(ALIVE)));
        Lock.Beats atTo = repeat(() -> {
            // Some were granted right before the closing.
            leases.addAll(to.promptly().leases());
            keepAlive(direction.to().with(ALIVE), leases);
        });
        beats = () -> {
            atFrom.end();
            atTo.end();
        };
    }

    private Lock.Beats repeat(Runnable keepAlive) {
        return lock.repeat(
                () -> {
                    try {
                        keepAlive.run();
                    } catch (RuntimeException e) {
                        // The next attempt comes soon.
                        LOG.atDebug().addKeyValue("cause", e.getMessage()).log("leases not kept alive");
                    }
                },
                ALIVE);
    }

    /** Under an alarm none expires, and etcd does not answer a keep-alive of an overdue one. */
    private void keepAliveFrom(Way way, TakeOverCalls primary) {
        if (leases.isEmpty()) {
            return;
        }
        List<Long> all = List.copyOf(leases);
        boolean isAlarmed = way == Way.CORRUPT_ALARM;
        try {
            List<Long> alive = (isAlarmed ? primary.with(Duration.ZERO) : primary).keepAlive(all);
            if (!isAlarmed && alive.size() < all.size()) {
                haveExpired = true;
            }
        } catch (TakeOverException e) {
            if (!isAlarmed) {
                throw e;
            }
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
        leases.addAll(direction.releaseLeases());
        List<String> next = new ArrayList<>(List.of("point clients at " + to.shown()));
        Turned turned = turned(primary);
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

    /**
     * What became of the former primary.
     *
     * @param lost what clients wrote there after the end marker
     * @param again why the command has to run again; null if it has not
     */
    private record Turned(Lost lost, @Nullable String again) {}

    /** Has the former primary store that it is one, and makes it the mirror's target. */
    private Turned turned(Found primary) {
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
                return new Turned(Lost.unknown(restored(claims)), null);
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
                lost = missed(primary, way, isTurned ? former.recordRevision() : 0);
            } else if (!isWhole) {
                lost = Lost.unknown(from.shown() + " has not the record of the move: it was restored or rebuilt");
            }
            lostAtMove = lost;
            if (!isTurned && !direction.turn(primary, former, operation, isPlanned)) {
                return again(lost, "its record was written meanwhile");
            }
            // Until the mirror back does it; an alarm is disarmed by now.
            keepAlive(direction.from(), leases);
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
    private Lost missed(Found primary, Way way, long turnedAt) {
        keepAliveFrom(way, direction.from());
        List<ByteString> missed = new ArrayList<>();
        try {
            if ((isResumed || haveExpired) && way != Way.CORRUPT_ALARM) {
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
                && primary.isLast(SWITCHOVER)
                && former.move().phase() == Phase.CLOSING
                && !former.isLast(Failover.FAILOVER)
                && ((closed != null && closed.way() == Way.CORRUPT_ALARM)
                        ? former.recordRevision() <= marker && former.revision() >= marker
                        : former.recordRevision() == marker);
    }

    private String restored(Claims claims) {
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

    private void requireMovable(Found primary, Found other) {
        if (!primary.required().cluster().equals(primary.cluster())) {
            throw new TakeOverException(from.shown() + " is not the primary of mirror " + direction.mirror()
                    + "; its record names cluster " + primary.required().cluster());
        }
        // Before the primary is closed for a move that would find none.
        var unused = other.required();
        from.requireRecorded(primary);
        to.requireRecorded(other);
        direction.closingTo().others().requireReadable();
        if (other.isPrimary()) {
            Claims claims = new Claims(primary, other);
            throw new TakeOverException(claims.shown(from.shown(), to.shown()) + "; run " + claims.remedy() + " first");
        }
        Checkpoint checkpoint = other.checkpoint();
        if (checkpoint == null) {
            throw new TakeOverException(to.shown() + " has no checkpoint of mirror " + direction.mirror()
                    + ": it was never mirrored to. Check the name of the mirror, and that it runs");
        }
        if (!checkpoint.scope().equals(direction.scope())) {
            throw new TakeOverException("the checkpoint at " + to.shown() + " has "
                    + checkpoint.scope().shown() + "; configured: "
                    + direction.scope().shown());
        }
        if (!checkpoint.source().equals(primary.cluster())) {
            throw new TakeOverException("the checkpoint has source cluster " + checkpoint.source() + ", but "
                    + from.shown() + " is cluster " + primary.cluster());
        }
        if (checkpoint.state() != CheckpointState.SYNCED) {
            throw new TakeOverException(
                    "the checkpoint is " + checkpoint.state().word() + ": wait until the mirror is synced");
        }
        long lag = primary.revision() - checkpoint.revision().value();
        if (lag > options.maxLag()) {
            throw new TakeOverException(to.shown() + " is " + lag + " revisions behind, more than " + options.maxLag()
                    + ": wait until the mirror has caught up, or set --max-lag");
        }
        if (other.revision() < primary.revision() && !options.acceptSilentWatchers()) {
            throw new TakeOverException(to.shown() + " is at revision " + other.revision() + ", below "
                    + primary.revision() + " of " + from.shown()
                    + ": a watcher that resumes there would miss changes without an error. Seed the target with"
                    + " init-target, or use --accept-silent-watchers if all clients list again");
        }
    }

    private static boolean isMovedTo(Found other, Found primary) {
        return other.isPrimary()
                && (!primary.isPrimary() || (other.epoch() > primary.epoch() && other.isLast(SWITCHOVER)));
    }

    /** Completing one in the other direction, this one would not fence its moving transaction. */
    private void requireSameDirection(Found other) {
        if (other.isPrimary() && other.move().phase() == Phase.CLOSING) {
            throw new TakeOverException(
                    other.isLast(Failover.FAILOVER)
                            ? to.shown() + " " + Rejoin.CLOSED_FOR_FAILOVER
                            : "a move of the primary role of mirror " + direction.mirror() + " from " + to.shown()
                                    + " was cut short: run that command again, or with --undo");
        }
    }

    /** Nothing is left to do for one that was turned. If it was restored since, only a rejoin names its writes. */
    private void requireUnfinished(Found primary, Found other) {
        requireSameDirection(other);
        if (other.move().phase() != Phase.STEADY || (!primary.isPrimary() && primary.epoch() < other.epoch())) {
            return;
        }
        throw new TakeOverException(
                primary.isPrimary()
                        ? restored(new Claims(other, primary))
                        : to.shown() + " is the primary of mirror " + direction.mirror() + " already"
                                + (other.isLast(SWITCHOVER)
                                        ? ". If the command was cut short before its report, its loss is not known;"
                                                + " more than " + LostKeys.HELD
                                                + " lost keys are in understudy-lost-keys-*.txt in the temporary directory"
                                        : ""));
    }

    private void begin(String step) {
        steps.begin(step);
        lock.show(step);
    }
}
