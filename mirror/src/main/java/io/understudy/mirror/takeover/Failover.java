package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.call.CallFailedException;
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
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Moves the primary role of a mirrored range without the primary, which is lost; makes that cluster a copy when it is
 * back; and opens a closed cluster by hand. One thread.
 */
public final class Failover {

    static final Duration ANSWER = Duration.ofSeconds(3);
    private static final int ATTEMPTS = 5;
    /** Kind of the operation. */
    static final String FAILOVER = "failover";
    /** Of a primary that the operator chose. */
    private static final String REJOINED = "rejoin";

    static final String REJOIN = "\"understudy mirror rejoin\"";

    private final Direction direction;
    private final TakeOverOptions options;
    private final TakeOver.Steps steps;
    private final Lock lock;
    private final Records from;
    private final Records to;

    Failover(Direction direction, TakeOverOptions options, TakeOver.Steps steps) {
        this.direction = direction;
        this.options = options;
        this.lock = direction.lock();
        this.steps = steps;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
    }

    /** What {@link #run} does, in order. */
    public List<String> plan() {
        String target = direction.to().shown();
        Found found = to.read();
        if (isCutShort(found)) {
            return undo().plan();
        }
        if (isUndone(found)) {
            return List.of(
                    "report: " + target + " is the primary already, after a forced undo; reports the loss again");
        }
        return List.of(
                "check: requires that " + target + " is a whole copy or lacks only later writes, and that "
                        + direction.from().shown() + " does not respond" + (options.force() ? ", unless forced" : ""),
                "move: makes " + target
                        + " the primary, in one transaction; what "
                        + direction.from().shown()
                        + " wrote after the checkpoint is lost",
                "open: leaves mirrored leases to their owners, and opens " + target,
                "later: " + returning(direction.from().shown(), options.way()));
    }

    static String returning(String lost, Way way) {
        return way == Way.NONE
                ? "the mirror leaves " + lost + " open when it returns"
                : "the mirror closes " + lost + " when it returns (" + way.word() + ")";
    }

    /**
     * Reads what {@link #run} depends on.
     *
     * @throws TakeOverException it would be refused
     */
    public void check() {
        Found found = to.read();
        if (isCutShort(found)) {
            requireLost();
            undo().check();
        } else if (!isDone(found) && !isUndone(found)) {
            requireMovable(found);
        }
    }

    /** By a switchover or failback to the other cluster, which the role may have reached. */
    private static boolean isCutShort(Found found) {
        return found.isPrimary() && found.move().phase() == Phase.CLOSING && !found.isLast(FAILOVER);
    }

    /** By a run before this one, or by a forced undo. */
    private static boolean isUndone(Found found) {
        return found.isPrimary() && found.move().phase() == Phase.STEADY && found.isLast(Switchover.FORCED_UNDO);
    }

    private void requireLost() {
        if (responds(from)) {
            throw new TakeOverException(
                    "a switchover or failback from " + direction.to().shown()
                            + " was cut short, and " + direction.from().shown()
                            + " responds: run that command again, or with --undo");
        }
    }

    private Undo undo() {
        return new Undo(direction.reversed(), options.forced(), operation(FAILOVER));
    }

    /** Not of a former primary, which the mirror has closed by an operation of the same kind. */
    private static boolean isDone(Found found) {
        return found.isPrimary() && found.isLast(FAILOVER) && found.move().phase() != Phase.CLOSING;
    }

    /**
     * Moves the role, or completes a move that was cut short.
     *
     * @throws TakeOverException the role has not moved, unless the message states otherwise
     */
    public TakeOverReport run() {
        Found found = to.read();
        if (isCutShort(found)) {
            requireLost();
            return undo().run();
        }
        if (isUndone(found)) {
            return undo().repeated();
        }
        boolean isRepeated = isDone(found);
        if (isRepeated && found.move().phase() == Phase.STEADY) {
            TakeOverReport again = report(found, expired(found, 0).repeated(), 0);
            // A run that was killed may not have done so.
            turn().releaseLeases();
            return again;
        }
        if (!isRepeated) {
            requireMovable(found);
        }
        lock.take(to, "move");
        try {
            steps.begin("move");
            if (!isRepeated) {
                moved(found);
            }
            steps.begin("open");
            Found primary = to.read();
            // Later writers are fenced.
            long marker = unwrittenSince(found, primary.checkpoint());
            Expired each = expired(primary, marker);
            Expired expired = isRepeated ? each.repeated() : each;
            Closed closed = primary.required().move().closed();
            if (closed != null) {
                direction.closingTo().open(closed);
            }
            Move done = primary.required().move().in(Phase.STEADY).closed(null);
            long written =
                    to.write(primary.required().with(done), primary.recordRevision(), List.of(), List.of(unfrozen()));
            if (written == 0) {
                throw new TakeOverException("the primary role is at "
                        + direction.to().shown() + " now, but its record was written meanwhile; run the command again");
            }
            turn().releaseLeases();
            return report(primary, expired, marker);
        } finally {
            lock.release();
        }
    }

    private void moved(Found found) {
        Operation operation = operation(FAILOVER);
        raise(
                found,
                found.epoch() + 1,
                operation,
                new Move(Phase.MOVED, operation, 0, 0, found.required().move().closed(), options.way()),
                !options.force());
    }

    /**
     * Makes it the primary under a higher epoch, which fences a mirror that writes there.
     *
     * @param isWhole whether it has to be a whole copy at that moment
     */
    private void raise(Found found, long epoch, Operation operation, Move move, boolean isWhole) {
        Home moved = found.required()
                .movedTo(found.cluster(), epoch, operation.startedAt())
                .turned()
                .with(move);
        List<Compare> copied =
                // Each snapshot begins with that key, and leaves no whole state until it ends.
                isWhole ? List.of(Records.isAt(ReservedKeys.of(direction.mirror(), "lane/0"), 0)) : List.of();
        Found now = found;
        for (int attempt = 0; attempt < ATTEMPTS && now.recordRevision() == found.recordRevision(); attempt++) {
            if (isWhole) {
                // Before its state is read: the mirror may leave a part of a commit.
                boolean isFenced = isFenced(now, operation);
                now = to.read();
                if (!isFenced) {
                    continue;
                }
                requireWhole(now);
            }
            long written = written(
                    moved,
                    now.recordRevision(),
                    Stream.concat(copied.stream(), Stream.of(isWriter(now))).toList(),
                    fence(operation));
            if (written > 0) {
                return;
            }
            // A mirror process has started.
            now = to.read();
        }
        throw new TakeOverException("the mirror or another command changed mirror " + direction.mirror() + " at "
                + direction.to().shown() + " meanwhile; run the command again");
    }

    private boolean isFenced(Found found, Operation operation) {
        TxnRequest fence = TxnRequest.newBuilder()
                .addCompare(isWriter(found))
                .addAllSuccess(fence(operation))
                .build();
        return to.cluster().txn("the epoch", fence).getSucceeded();
    }

    private Compare isWriter(Found found) {
        return Records.isAt(ReservedKeys.epoch(direction.mirror()), found.epochRevision());
    }

    private List<RequestOp> fence(Operation operation) {
        return List.of(
                Records.put(ReservedKeys.epoch(direction.mirror()), ByteString.copyFromUtf8(operation.id())),
                // The active process finds it deleted, begins again, and turns the mirror round.
                Records.delete(ReservedKeys.active(direction.mirror())));
    }

    private long written(Home moved, long before, List<Compare> compares, List<RequestOp> more) {
        try {
            return to.write(moved, before, compares, more);
        } catch (TakeOverException e) {
            boolean isRefused = e.getCause() instanceof CallFailedException failed && failed.isRefused();
            throw isRefused
                    ? e
                    : new TakeOverException(
                            e.getMessage() + ". Whether the primary role has moved to "
                                    + direction.to().shown()
                                    + " is unknown: keep clients away from both clusters, and run the command again",
                            e);
        }
    }

    /**
     * The end marker of the planned move that made this cluster a copy, if the mirror has written nothing to it since: it
     * has all writes up to there. The first write that the mirror adds has another time.
     *
     * @param found before this failover
     * @param now since then
     * @return 0 if not, or not known
     */
    private static long unwrittenSince(Found found, @Nullable Checkpoint now) {
        Operation move = found.move().operation();
        return move != null
                        && now != null
                        && !found.isPrimary()
                        && found.isLast(Switchover.SWITCHOVER)
                        && now.source().equals(found.required().cluster())
                        && now.at().equals(move.startedAt().truncatedTo(ChronoUnit.MILLIS))
                ? found.move().endMarker()
                : 0;
    }

    /** @param marker see {@link #unwrittenSince} */
    private TakeOverReport report(Found primary, Expired expired, long marker) {
        Checkpoint reached = primary.checkpoint();
        Map<String, String> facts = new LinkedHashMap<>();
        Checkpoint whole =
                marker > 0 || (reached != null && reached.state() == CheckpointState.SYNCED) ? reached : null;
        facts.put(
                "data up to",
                marker > 0
                        ? "the last planned move: every write acknowledged before it (end marker: revision " + marker
                                + ")"
                        : whole != null
                                ? "revision " + whole.revision() + " of cluster " + whole.source() + ", as of "
                                        + whole.at()
                                : "no consistent state: the checkpoint is "
                                        + (reached == null
                                                ? "missing"
                                                : reached.state().word()));
        if (!expired.leases().isEmpty()) {
            facts.put("leases expired before the failover", String.join(", ", expired.leases()));
        }
        if (!expired.isNone()) {
            facts.put("keys lost with expired leases", expired.shown());
        }
        return new TakeOverReport(
                "The primary of mirror " + direction.mirror() + " is now "
                        + direction.to().shown() + " (cluster " + primary.cluster() + ")",
                whole != null
                        ? (expired.isNone() ? "" : "keys of expired leases: " + expired.shown() + "; ")
                                + "possible: all writes after revision " + whole.revision()
                                + (marker > 0 ? " of " + direction.from().shown() + ", since " + whole.at() : "")
                        : "of unknown extent",
                LostKeys.of(expired.keys()),
                facts,
                List.of(
                        "point clients at " + direction.to().shown(),
                        returning(direction.from().shown(), options.way())
                                + "; keep clients away from it and run: understudy mirror rejoin"));
    }

    /**
     * Leases that the mirror kept alive and the target no longer has.
     *
     * @param keys that the target lost since it reached the reported revision
     * @param unknown why there may be others; null if there are none
     */
    private record Expired(
            List<String> leases,
            List<ByteString> keys,
            @Nullable String unknown) {
        /** A run before this one may have found more: the record of since when leases count is replaced. */
        Expired repeated() {
            return new Expired(
                    leases, keys, unknown == null ? "an earlier run of this command moved the primary role" : unknown);
        }

        boolean isNone() {
            return leases.isEmpty() && keys.isEmpty() && unknown == null;
        }

        String shown() {
            return unknown == null ? String.valueOf(keys.size()) : "not known: " + unknown;
        }
    }

    /** @param marker since which leases expired that the mirror has not kept; 0 if it has kept all */
    private Expired expired(Found found, long marker) {
        List<Long> registered = to.leases();
        Set<Long> alive = new HashSet<>(direction.to().keepAlive(registered));
        List<String> leases = registered.stream()
                .filter(lease -> !alive.contains(lease))
                .map(Long::toHexString)
                .toList();
        if (leases.isEmpty() && marker == 0) {
            return new Expired(List.of(), List.of(), null);
        }
        try {
            return new Expired(
                    leases, direction.comparer().missingSince(marker > 0 ? marker : to.reachedAt(found)), null);
        } catch (TakeOverException e) {
            return new Expired(leases, List.of(), e.getMessage());
        }
    }

    private void requireMovable(Found found) {
        if (found.isPrimary()) {
            throw new TakeOverException(direction.to().shown() + " is the primary of mirror " + direction.mirror()
                    + " already"
                    + (found.move().phase() == Phase.CLOSING ? ", and closed: " + closedForFailover() : ""));
        }
        if (found.checkpoint() == null) {
            throw new TakeOverException(direction.to().shown() + " has no checkpoint of mirror " + direction.mirror());
        }
        if (!options.force()) {
            requireWhole(found);
        }
        if (options.way() == Way.CORRUPT_ALARM || options.way() == Way.AUTH_ENABLE) {
            var unused = direction.closingFrom().requireLogin();
        }
        if (!options.force() && responds(from)) {
            throw new TakeOverException(direction.from().shown()
                    + " responds: a switchover loses nothing, a failover may. --force fails over nevertheless");
        }
    }

    private void requireWhole(Found found) {
        Checkpoint checkpoint = found.checkpoint();
        if (checkpoint == null
                || (checkpoint.state() != CheckpointState.SYNCED && unwrittenSince(found, checkpoint) == 0)) {
            throw new TakeOverException("the checkpoint is "
                    + (checkpoint == null ? "missing" : checkpoint.state().word()) + ": "
                    + direction.to().shown() + " holds no state that "
                    + direction.from().shown() + " had. --force accepts it");
        }
    }

    private static String closedForFailover() {
        return "was the primary before a failover: run " + REJOIN
                + ", or the switchover or failback from it with --undo --force to make it the primary again";
    }

    private static boolean responds(Records records) {
        try {
            var unused = records.cluster().with(ANSWER).get(ReservedKeys.home(records.mirror()));
            return true;
        } catch (TakeOverException e) {
            // A refusal is an answer: clients may write there.
            return e.getCause() instanceof CallFailedException failed
                    && (failed.error() == EtcdError.PERMISSION_DENIED || failed.error() == EtcdError.LOGIN_FAILED);
        }
    }

    /**
     * Closes a former primary that returned with the role, and makes it the mirror's target. The mirror then overwrites
     * what clients wrote there, which the report names. If neither record replaced the other, the epoch of the primary
     * is raised first, so that a command that is killed leaves them in order.
     *
     * @throws TakeOverException there is nothing to do, or it is not possible
     */
    public TakeOverReport rejoin() {
        lock.take(to, "rejoin");
        try {
            steps.begin("close");
            Claims closed = closed(this::prepared);
            Found primary = closed.primary();
            Found former = closed.former();
            boolean isChosen = primary.isLast(REJOINED);
            steps.begin("compare");
            // The checkpoint may be of another history.
            Lost since = isChosen ? new Lost(List.of(), "the operator chose the primary") : lost(primary, former);
            LostKeys lost = new LostKeys();
            if (since.unknown() == null) {
                since.keys().forEach(lost::add);
            } else {
                direction.comparer().differing(lost::add);
            }
            lost.requireStored();
            steps.begin("turn");
            if (!turn().former(primary, former, false)) {
                throw changedMeanwhile();
            }
            return rejoined(lost, since.unknown());
        } finally {
            lock.release();
        }
    }

    /** What {@link #rejoin} does, in order; throws where it would be refused. */
    public List<String> rejoinPlan() {
        Found stored = from.read();
        Found primary = to.read();
        requireStale(primary, stored);
        Claims claims = new Claims(primary, stored);
        String epoch = claims.areUnordered()
                ? " under epoch " + claims.nextEpoch() + " of " + direction.to().shown()
                : "";
        Way way = prepared(stored).way();
        String former = direction.from().shown();
        return List.of(
                "close: closes " + former + " (" + way.word() + "); undone by understudy mirror release",
                "compare: lists what clients wrote at " + former + " and "
                        + direction.to().shown() + " does not have",
                "turn: makes " + former + " a copy" + epoch + ", which overwrites these writes; cannot be undone");
    }

    /** Returns how it is closed: as a killed process began, or as the mirror did. */
    private Closed prepared(Found former) {
        Closed begun = begun(former);
        if (begun == null) {
            return direction.closingFrom().prepare(options.way());
        }
        if (begun.way() == Way.ROLES) {
            direction.closingFrom().requireExempt();
        }
        return begun;
    }

    private static @Nullable Closed begun(Found former) {
        Closed begun = former.move().closed();
        return former.move().phase() == Phase.CLOSING && begun != null && begun.way() != Way.NONE ? begun : null;
    }

    /**
     * Closes a stale former primary. If neither record replaced the other, the epoch of the primary is raised first.
     *
     * @param how given its record
     * @return the records as they are then
     */
    private Claims closed(Function<Found, Closed> how) {
        Found primary = to.read();
        Found former = from.read();
        requireStale(primary, former);
        Closed closed = how.apply(former);
        Claims claims = new Claims(primary, former);
        if (claims.areUnordered()) {
            Operation chosen = operation(REJOINED);
            raise(
                    primary,
                    claims.nextEpoch(),
                    chosen,
                    primary.required().move().in(Phase.STEADY).by(chosen),
                    false);
            primary = to.read();
        }
        long written = former.recordRevision();
        // An alarm that was raised refuses a write of the record.
        if (begun(former) == null) {
            Move closing = new Move(Phase.CLOSING, operation(FAILOVER), 0, 0, closed);
            written = from.write(
                    former.required().with(closing),
                    former.recordRevision(),
                    List.of(),
                    from.frozen(closed, lock.process()));
            if (written == 0) {
                throw changedMeanwhile();
            }
        }
        direction.closingFrom().close(closed);
        Found now = from.read();
        if (now.recordRevision() != written) {
            // A forced undo that did not reach the other cluster, and has lost how to open this one.
            if (now.isPrimary() && now.move().closed() == null) {
                direction.closingFrom().open(closed);
            }
            throw changedMeanwhile();
        }
        return new Claims(primary, now);
    }

    private TakeOverException changedMeanwhile() {
        return new TakeOverException("another command changed the record at "
                + direction.from().shown() + " meanwhile; run the command again");
    }

    /**
     * A former primary as the mirror closed it.
     *
     * @param revision up to which the primary has its writes
     * @param lost what only the former primary has; nothing if it was left open
     * @param recordRevision of its record, which a command that opens it changes; 0 if it was left open
     */
    record Former(Way way, long revision, Lost lost, long recordRevision) {}

    /** Both records: the one of the higher epoch is right, unless they are unordered. */
    record Claims(Found primary, Found former) {

        String shown(String mirror, String primaryName, String formerName) {
            return "both clusters hold the primary role of mirror " + mirror + ": " + primaryName + " with epoch "
                    + primary.epoch() + ", " + formerName + " with epoch " + former.epoch();
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
                                    && lower.isLast(FAILOVER)
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

        /** Whether the former primary does not know that it is one; not after a switchover that was cut short. */
        boolean isStale() {
            return areBoth()
                    && !areUnordered()
                    && former.epoch() < primary.epoch()
                    && (primary.move().phase() == Phase.STEADY || isDone(primary));
        }

        /** The command that resolves it. */
        String remedy() {
            return areUnordered()
                    ? "\"understudy mirror rejoin\" with --primary source or --primary target"
                    : higher().move().phase() == Phase.MOVED && !isDone(higher())
                            ? "the switchover or failback again that was cut short"
                            : REJOIN;
        }
    }

    Claims claims() {
        Found primary = to.read();
        return new Claims(primary, from.read());
    }

    /** Whether no command wrote one of both records since; one request. */
    boolean isUnchanged(Claims before, boolean ofPrimary) {
        return ofPrimary
                ? to.read().recordRevision() == before.primary().recordRevision()
                : from.read().recordRevision() == before.former().recordRevision();
    }

    /** The command at work, in words. */
    Optional<String> command() {
        return Lock.holder(to)
                .or(() -> Lock.holder(from))
                .map(holder -> "a command moves mirror " + direction.mirror() + ": " + holder);
    }

    /**
     * Closes a stale former primary ({@link Claims#isStale}) as the operator chose. Finds what it alone has.
     *
     * @throws TakeOverException it is not permitted, or another command is at work
     */
    Former closeFormer() {
        Found primary = to.read();
        Way chosen = primary.required().move().former();
        Way way = chosen == null ? Way.ROLES : chosen;
        long reached = reached(primary);
        if (way == Way.NONE) {
            return new Former(way, reached, Lost.NOTHING, 0);
        }
        lock.take(to, "close");
        try {
            Claims closed = closed(former -> {
                Closed begun = begun(former);
                return begun == null ? direction.closingFrom().prepare(way) : begun;
            });
            Found former = closed.former();
            Closed how = former.required().move().closed();
            return new Former(
                    how == null ? way : how.way(), reached, lost(closed.primary(), former), former.recordRevision());
        } finally {
            lock.release();
        }
    }

    /** If neither replaced the other, the operator has to choose the primary. */
    private void requireStale(Found primary, Found former) {
        Claims claims = new Claims(primary, former);
        if (!claims.areBoth()) {
            throw new TakeOverException("there is nothing to rejoin: mirror " + direction.mirror()
                    + " has no former primary that did not store the failover");
        }
        if (claims.areUnordered() ? !options.force() : former.epoch() > primary.epoch()) {
            throw new TakeOverException(claims.shown(
                            direction.mirror(),
                            direction.to().shown(),
                            direction.from().shown())
                    + "; run " + claims.remedy());
        }
    }

    private static long reached(Found primary) {
        Checkpoint reached = primary.checkpoint();
        return reached == null ? 0 : reached.revision().value();
    }

    private Lost lost(Found primary, Found former) {
        Checkpoint reached = primary.checkpoint();
        if (reached == null || !reached.source().equals(former.cluster())) {
            return new Lost(
                    List.of(),
                    direction.to().shown() + " has no checkpoint of cluster " + former.cluster()
                            + "; compare both with \"understudy mirror verify\"");
        }
        try {
            return direction.comparer().lostAfter(reached);
        } catch (TakeOverException e) {
            return new Lost(List.of(), e.getMessage());
        }
    }

    /** @param unknown why all keys were compared, also those that only the primary changed; null if they were not */
    private TakeOverReport rejoined(LostKeys lost, @Nullable String unknown) {
        List<String> next = new ArrayList<>();
        next.add("wait until the mirror is synced");
        next.add("to move the primary role back: understudy mirror failback");
        return new TakeOverReport(
                direction.from().shown() + " is closed and becomes a copy of "
                        + direction.to().shown(),
                lost.shown(),
                lost,
                unknown == null ? Map.of() : Map.of("keys that only the primary changed are listed too", unknown),
                next);
    }

    /**
     * Opens a cluster that gave up the primary role, although it is not the primary.
     *
     * @throws TakeOverException it is not closed, or another command opens it
     */
    public String release() {
        Found found = releasable();
        Closed closed = found.required().move().closed();
        if (closed != null) {
            direction.closingFrom().open(closed);
        }
        long written = from.write(
                found.required().with(found.required().move().closed(null)),
                found.recordRevision(),
                List.of(),
                List.of(unfrozen()));
        if (written == 0) {
            throw changedMeanwhile();
        }
        return direction.from().shown()
                + " is open. Writes there are overwritten by the mirror; they are not at the primary";
    }

    /**
     * Finds out whether {@link #release} would be refused. Changes nothing.
     *
     * @throws TakeOverException it would
     */
    public void checkRelease() {
        var unused = releasable();
    }

    private Found releasable() {
        Found found = from.read();
        Closed closed = found.move().closed();
        String shown = direction.from().shown();
        if (closed == null || closed.way() == Way.NONE) {
            throw new TakeOverException(shown + " is not closed");
        }
        boolean isClosing = found.move().phase() == Phase.CLOSING;
        if (found.isPrimary()) {
            throw new TakeOverException(
                    isClosing && found.isLast(FAILOVER)
                            ? shown + " " + closedForFailover()
                            : shown
                                    + " is the primary, and a move of the role is unfinished: run the same command again"
                                    + (isClosing ? ", or with --undo" : ""));
        }
        Lock.requireFree(from);
        if (responds(to)) {
            Lock.requireFree(to);
        } else if (!options.force()) {
            throw new TakeOverException(direction.to().shown() + " does not respond: to make " + shown
                    + " the primary, run \"understudy mirror failover\" with --to source or --to target; --force opens it"
                    + " as a copy");
        }
        return found;
    }

    private RequestOp unfrozen() {
        return Records.delete(ReservedKeys.freeze(direction.mirror()));
    }

    private Turn turn() {
        return new Turn(direction, operation(Switchover.SWITCHOVER));
    }

    private Operation operation(String kind) {
        return new Operation(UUID.randomUUID().toString(), kind, lock.process(), Instant.now());
    }
}
