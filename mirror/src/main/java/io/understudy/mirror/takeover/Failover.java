package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.takeover.Direction.Comparer.Lost;
import io.understudy.mirror.takeover.Records.Found;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Moves the primary role of a mirrored range without the primary, which is lost; makes that cluster a copy when it is back;
 * and opens a closed cluster by hand. One thread.
 */
public final class Failover {

    private static final Duration ANSWER = Duration.ofSeconds(3);

    private final Direction direction;
    private final TakeOverOptions options;
    private final String process;
    private final LongFunction<Runnable> keeper;
    private final Consumer<String> steps;
    private final Records from;
    private final Records to;

    Failover(
            Direction direction,
            TakeOverOptions options,
            String process,
            LongFunction<Runnable> keeper,
            Consumer<String> steps) {
        this.direction = direction;
        this.options = options;
        this.process = process;
        this.keeper = keeper;
        this.steps = steps;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
    }

    /** What {@link #run} does, in order. */
    public List<String> plan() {
        String target = direction.to().shown();
        return List.of(
                "check: requires a whole copy at " + target + ", and that "
                        + direction.from().shown() + " does not respond" + (options.force() ? ", unless forced" : ""),
                "move: makes " + target
                        + " the primary, in one transaction; what the source wrote after the checkpoint is" + " lost",
                "open: leaves mirrored leases to their owners, and opens " + target);
    }

    /**
     * Reads what {@link #run} depends on.
     *
     * @throws TakeOverException it would be refused
     */
    public void check() {
        Found found = to.read();
        if (!isDone(found)) {
            requireMovable(found);
        }
    }

    private static boolean isDone(Found found) {
        Operation last = operation(found);
        return found.isPrimary() && last != null && last.kind().equals("failover");
    }

    /**
     * Moves the role, or completes a move that was cut short.
     *
     * @throws TakeOverException the role has not moved, unless the message states otherwise
     */
    public TakeOverReport run() {
        Found found = to.read();
        if (isDone(found) && phase(found) == Phase.STEADY) {
            return report(found, List.of());
        }
        if (!isDone(found)) {
            requireMovable(found);
        }
        long lock = to.lock(process, "move");
        Runnable kept = keeper.apply(lock);
        try {
            steps.accept("move");
            if (!isDone(found)) {
                moved(found);
            }
            steps.accept("open");
            Found primary = to.read();
            List<String> expired = expired();
            switchover().releaseLeases();
            Closed closed = record(primary).move().closed();
            if (closed != null) {
                direction.closingTo().open(closed);
            }
            Move done = record(primary).move().in(Phase.STEADY).closed(null);
            long written =
                    to.write(record(primary).with(done), primary.recordRevision(), List.of(), List.of(unfrozen()));
            if (written == 0) {
                throw new TakeOverException("the primary role is at "
                        + direction.to().shown() + " now, but its record was written meanwhile; run the command again");
            }
            return report(primary, expired);
        } finally {
            kept.run();
            to.unlock(lock);
        }
    }

    private void moved(Found found) {
        Operation operation = operation("failover");
        Home record = record(found);
        Home moved = new Home(
                        record.mirror(),
                        found.cluster(),
                        record.source(),
                        record.target(),
                        record.scope(),
                        found.epoch() + 1,
                        operation.startedAt())
                .turned()
                .with(new Move(Phase.MOVED, operation, 0, 0, record.move().closed()));
        ByteString epoch = ReservedKeys.epoch(direction.mirror());
        long written = to.write(
                moved,
                found.recordRevision(),
                List.of(Records.isAt(epoch, found.epochRevision())),
                List.of(Records.put(epoch, ByteString.copyFromUtf8(operation.id()))));
        if (written == 0) {
            throw new TakeOverException("the mirror or another command changed mirror " + direction.mirror() + " at "
                    + direction.to().shown() + " meanwhile; run the command again");
        }
    }

    private TakeOverReport report(Found primary, List<String> expired) {
        Checkpoint reached = primary.checkpoint();
        Map<String, String> facts = new LinkedHashMap<>();
        Checkpoint whole = reached != null && reached.state() == CheckpointState.SYNCED ? reached : null;
        facts.put(
                "data up to",
                whole != null
                        ? "revision " + whole.revision() + " of cluster " + whole.source() + ", as of " + whole.at()
                        : "no consistent state: the checkpoint is "
                                + (reached == null ? "missing" : reached.state().word()));
        if (!expired.isEmpty()) {
            facts.put("leases expired before the failover", String.join(", ", expired));
        }
        return new TakeOverReport(
                "The primary of mirror " + direction.mirror() + " is now "
                        + direction.to().shown() + " (cluster " + primary.cluster() + ")",
                whole != null
                        ? "possible: all writes after revision " + whole.revision()
                        : "certain, of unknown extent",
                List.of(),
                facts,
                List.of(
                        "point clients at " + direction.to().shown(),
                        "when " + direction.from().shown()
                                + " is back, keep clients away from it and run: understudy mirror rejoin"));
    }

    /** Leases that the mirror kept alive and the target no longer has; keys of theirs may be gone with them. */
    private List<String> expired() {
        List<Long> registered = to.leases();
        Set<Long> alive = new HashSet<>(direction.to().keepAlive(registered));
        return registered.stream()
                .filter(lease -> !alive.contains(lease))
                .map(Long::toHexString)
                .toList();
    }

    private void requireMovable(Found found) {
        if (found.isPrimary()) {
            throw new TakeOverException(
                    direction.to().shown() + " is the primary of mirror " + direction.mirror() + " already");
        }
        Checkpoint checkpoint = found.checkpoint();
        if (checkpoint == null) {
            throw new TakeOverException(direction.to().shown() + " has no checkpoint of mirror " + direction.mirror());
        }
        if (checkpoint.state() != CheckpointState.SYNCED && !options.force()) {
            throw new TakeOverException(
                    "the checkpoint is " + checkpoint.state().word() + ": "
                            + direction.to().shown() + " holds no state that the source had. --force accepts it");
        }
        if (!options.force() && responds()) {
            throw new TakeOverException(direction.from().shown()
                    + " responds: a switchover loses nothing, a failover may. --force fails over nevertheless");
        }
    }

    private boolean responds() {
        try {
            var unused = direction.from().with(ANSWER).get(ReservedKeys.home(direction.mirror()));
            return true;
        } catch (TakeOverException e) {
            return false;
        }
    }

    /**
     * Closes the former primary, which has come back and does not know that it is one, and makes it the mirror's target. The
     * mirror then overwrites what clients wrote there, which the report names.
     *
     * @throws TakeOverException there is nothing to do, or it is not possible
     */
    public TakeOverReport rejoin() {
        Found primary = to.read();
        Found former = from.read();
        requireStale(primary, former);
        long lock = to.lock(process, "rejoin");
        Runnable kept = keeper.apply(lock);
        try {
            steps.accept("close");
            Closed begun = record(former).move().closed();
            Closed closed = phase(former) == Phase.CLOSING && begun != null
                    ? begun
                    : direction.closingFrom().prepare(options.way());
            Move closing = new Move(Phase.CLOSING, operation("rejoin"), 0, 0, closed);
            long written = from.write(record(former).with(closing), former.recordRevision(), List.of(), List.of());
            if (written == 0) {
                throw new TakeOverException("another command changed the record at "
                        + direction.from().shown() + " meanwhile; run the command again");
            }
            direction.closingFrom().close(closed);
            steps.accept("compare");
            Lost lost = lost(primary);
            steps.accept("turn");
            if (!switchover().turn(primary, from.read(), false)) {
                throw new TakeOverException(
                        "the record at " + direction.from().shown() + " was written meanwhile; run the command again");
            }
            return rejoined(lost);
        } finally {
            kept.run();
            to.unlock(lock);
        }
    }

    /** What {@link #rejoin} does, in order; throws where it would be refused. */
    public List<String> rejoinPlan() {
        requireStale(to.read(), from.read());
        var unused = direction.closingFrom().prepare(options.way());
        String former = direction.from().shown();
        return List.of(
                "close: closes " + former + " (" + options.way().word() + "); undone by understudy mirror release",
                "compare: lists what clients wrote at " + former + " and "
                        + direction.to().shown() + " does not have",
                "turn: makes " + former + " a copy, which overwrites these writes; cannot be undone");
    }

    private void requireStale(Found primary, Found former) {
        if (!primary.isPrimary() || !former.isPrimary() || former.epoch() >= primary.epoch()) {
            throw new TakeOverException("there is nothing to rejoin: mirror " + direction.mirror()
                    + " has no former primary that did not store the failover");
        }
    }

    private Lost lost(Found primary) {
        Checkpoint reached = primary.checkpoint();
        try {
            return direction
                    .comparer()
                    .lostAfter(reached == null ? 0 : reached.revision().value());
        } catch (TakeOverException e) {
            return new Lost(List.of(), e.getMessage());
        }
    }

    private TakeOverReport rejoined(Lost lost) {
        String loss = lost.unknown() != null
                ? "not known: " + lost.unknown()
                : lost.keys().isEmpty() ? TakeOverReport.NONE : lost.keys().size() + " keys";
        List<String> next = new ArrayList<>();
        next.add("wait until the mirror is synced");
        next.add("to move the primary role back: understudy mirror failback");
        return new TakeOverReport(
                direction.from().shown() + " is closed and becomes a copy of "
                        + direction.to().shown(),
                loss,
                lost.keys().stream().map(TakeOverReport::shown).toList(),
                Map.of(),
                next);
    }

    /**
     * Opens a cluster that gave up the primary role, although it is not the primary.
     *
     * @throws TakeOverException it is not closed
     */
    public String release() {
        Found found = from.read();
        Closed closed = found.record() == null ? null : found.record().move().closed();
        if (closed == null || closed.way() == Way.NONE) {
            throw new TakeOverException(direction.from().shown() + " is not closed");
        }
        if (phase(found) == Phase.CLOSING && found.isPrimary()) {
            throw new TakeOverException(
                    "a switchover is unfinished at " + direction.from().shown() + ": run it again, or with --undo");
        }
        direction.closingFrom().open(closed);
        var unused = from.write(
                record(found).with(record(found).move().closed(null)),
                found.recordRevision(),
                List.of(),
                List.of(unfrozen()));
        return direction.from().shown()
                + " is open. Writes there are overwritten by the mirror; they are not at the primary";
    }

    private RequestOp unfrozen() {
        return Records.delete(ReservedKeys.freeze(direction.mirror()));
    }

    private Switchover switchover() {
        return new Switchover(direction, options, process, keeper, steps);
    }

    private Operation operation(String kind) {
        return new Operation(UUID.randomUUID().toString(), kind, process, Instant.now());
    }

    private static @Nullable Operation operation(Found found) {
        return found.record() == null ? null : found.record().move().operation();
    }

    private static Phase phase(Found found) {
        return found.record() == null ? Phase.STEADY : found.record().move().phase();
    }

    private Home record(Found found) {
        Home record = found.record();
        if (record == null) {
            throw new TakeOverException("no primary record of mirror " + direction.mirror() + " at cluster "
                    + found.cluster() + ": start the mirror and wait until it is synced");
        }
        return record;
    }
}
