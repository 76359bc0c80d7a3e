package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.takeover.Records.Found;
import io.understudy.mirror.takeover.Rejoin.Claims;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Moves the primary role of a mirrored range without the primary, which is lost. One thread. */
public final class Failover {

    /** Kind of the operation. */
    static final String FAILOVER = "failover";

    private final Direction direction;
    private final TakeOverOptions options;
    private final TakeOver.Steps steps;
    private final Records from;
    private final Records to;

    Failover(Direction direction, TakeOverOptions options, TakeOver.Steps steps) {
        this.direction = direction;
        this.options = options;
        this.steps = steps;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
    }

    /** What {@link #run} does, in order. */
    public List<String> plan() {
        Found found = to.read();
        if (isCutShort(found)) {
            return undo().plan();
        }
        if (isComplete(found)) {
            String since = found.required().at().toString();
            String report = "report: " + to.shown() + " is the primary already, since " + since
                    + "; reports the loss again unless " + from.shown() + " has become a copy";
            return found.move().former() == options.way()
                    ? List.of(report)
                    : List.of(report, "later: " + returning(from.shown(), options.way()));
        }
        if (isMoved(found)) {
            return List.of("open: opens " + to.shown() + ", which is the primary since "
                    + found.required().at());
        }
        return List.of(
                "check: requires that " + to.shown() + " is a whole copy or lacks only later writes, and that "
                        + from.shown() + " does not respond" + (options.force() ? ", unless forced" : ""),
                "move: makes " + to.shown() + " the primary, in one transaction; what " + from.shown() + " wrote after "
                        + shown(found.checkpoint()) + " is lost",
                "open: leaves mirrored leases to their owners, and opens " + to.shown(),
                "later: " + returning(from.shown(), options.way()));
    }

    private static String shown(@Nullable Checkpoint reached) {
        return reached == null ? "the checkpoint" : "revision " + reached.revision() + ", as of " + reached.at() + ",";
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
        } else {
            requireMovable(found);
        }
    }

    /** By a switchover or failback to the other cluster, which the role may have reached. */
    private static boolean isCutShort(Found found) {
        return found.isPrimary() && found.move().phase() == Phase.CLOSING && !found.isLast(FAILOVER);
    }

    /** By a run before this one, or by a forced undo; its report may not have been seen. */
    private static boolean isComplete(Found found) {
        return found.isPrimary()
                && found.move().phase() == Phase.STEADY
                && (found.isLast(FAILOVER) || found.isLast(Switchover.FORCED_UNDO));
    }

    /** The other cluster shows whether more has happened since. That is not known while it does not respond. */
    private void requireLatest(Found found) {
        Found other;
        try {
            other = from.promptly().read();
        } catch (TakeOverException e) {
            return;
        }
        Claims claims = new Claims(found, other);
        if (claims.areBoth() && !claims.isStale()) {
            throw new TakeOverException(claims.shown(to.shown(), from.shown()) + "; run " + claims.remedy());
        }
        if (!claims.areBoth() && isComplete(found)) {
            throw alreadyPrimary(found);
        }
    }

    private TakeOverException alreadyPrimary(Found found) {
        return new TakeOverException(to.shown() + " is the primary of mirror " + direction.mirror() + " already"
                + (found.move().phase() == Phase.CLOSING ? ", and closed: " + Rejoin.CLOSED_FOR_FAILOVER : ""));
    }

    private void requireLost() {
        if (from.responds()) {
            throw new TakeOverException("a switchover or failback from " + to.shown() + " was cut short, and "
                    + from.shown() + " responds: run that command again, or with --undo");
        }
    }

    private Undo undo() {
        return new Undo(direction.reversed(), options.forced(), direction.operation(FAILOVER));
    }

    /** Not of a former primary, which the mirror has closed by an operation of the same kind. */
    static boolean isDone(Found found) {
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
        requireMovable(found);
        if (isComplete(found)) {
            return direction.afterMove(() -> repeated(found));
        }
        boolean isRepeated = isDone(found) || isMoved(found);
        direction.lock().take(to, "move");
        try {
            steps.begin("move");
            if (!isRepeated) {
                moved(found);
            }
            return direction.afterMove(() -> opened(found, isRepeated));
        } finally {
            direction.lock().release();
        }
    }

    /** @param found before the move */
    private TakeOverReport opened(Found found, boolean isRepeated) {
        steps.begin("open");
        Found primary = to.read();
        // Later writers are fenced.
        long marker = unwrittenSince(found, primary.checkpoint());
        Expired each = expired(primary, marker);
        Expired expired = isRepeated ? each.repeated() : each;
        Home opened = primary.required()
                .with(primary.move().in(Phase.STEADY).closed(null).former(options.way()));
        Optional<String> kept = direction.closingTo().open(primary.move().closed(), () -> {
            if (to.write(opened, primary.recordRevision(), List.of(), List.of(to.unfrozen())) == 0) {
                throw new TakeOverException("its record was written meanwhile");
            }
        });
        direction.releaseLeases();
        return report(primary, expired, marker, kept);
    }

    private TakeOverReport repeated(Found found) {
        select(found);
        if (found.isLast(Switchover.FORCED_UNDO)) {
            return undo().repeated();
        }
        TakeOverReport again = report(found, expired(found, 0).repeated(), 0, Optional.empty());
        // A run that was killed may not have done so.
        direction.releaseLeases();
        return again;
    }

    /** Stores how the mirror closes the former primary, which an earlier run may have selected otherwise. */
    private void select(Found found) {
        if (found.move().former() == options.way()) {
            return;
        }
        direction.lock().take(to, "move");
        try {
            Home selected = found.required().with(found.move().former(options.way()));
            if (to.write(selected, found.recordRevision(), List.of(), List.of()) == 0) {
                throw new TakeOverException("its record was written meanwhile");
            }
        } finally {
            direction.lock().release();
        }
    }

    private void moved(Found found) {
        Operation operation = direction.operation(FAILOVER);
        Move moved = new Move(Phase.MOVED, operation, 0, 0, found.move().closed(), options.way());
        direction.raise(found, found.epoch() + 1, operation, moved, options.force() ? null : this::requireWhole);
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

    /**
     * @param marker see {@link #unwrittenSince}
     * @param kept what keeps the new primary closed
     */
    private TakeOverReport report(Found primary, Expired expired, long marker, Optional<String> kept) {
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
                direction.moved(primary),
                whole != null
                        ? (expired.isNone() ? "" : "keys of expired leases: " + expired.shown() + "; ")
                                + "possible: all writes after revision " + whole.revision()
                                + (marker > 0 ? " of " + from.shown() + ", since " + whole.at() : "")
                        : "of unknown extent",
                LostKeys.of(expired.keys()),
                facts,
                Stream.concat(
                                kept.stream(),
                                Stream.of(
                                        "point clients at " + to.shown(),
                                        returning(from.shown(), options.way())
                                                + "; keep clients away from it and run: understudy mirror rejoin"))
                        .toList());
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
                    leases,
                    direction
                            .comparer()
                            .missingSince(
                                    direction.to(),
                                    marker > 0 ? marker : to.reachedAt(found, Long.MAX_VALUE),
                                    0,
                                    false),
                    null);
        } catch (TakeOverException e) {
            return new Expired(leases, List.of(), e.getMessage());
        }
    }

    /** By a switchover or failback that was cut short after that: the cluster may be closed still. */
    private static boolean isMoved(Found found) {
        return found.isPrimary() && found.move().phase() == Phase.MOVED;
    }

    private void requireMovable(Found found) {
        if (isDone(found) || isComplete(found) || isMoved(found)) {
            requireLatest(found);
            boolean unused = direction.afterMove(() -> {
                direction.requireOpenable(found);
                requireLogin();
                return true;
            });
            return;
        }
        if (found.isPrimary()) {
            throw alreadyPrimary(found);
        }
        to.requireRecorded(found);
        direction.requireOpenable(found);
        if (found.checkpoint() == null) {
            throw new TakeOverException(to.shown() + " has no checkpoint of mirror " + direction.mirror());
        }
        if (!options.force()) {
            requireWhole(found);
        }
        requireLogin();
        if (!options.force() && from.responds()) {
            throw new TakeOverException(from.shown()
                    + " responds: a switchover loses nothing, a failover may. --force fails over nevertheless");
        }
    }

    /** With which the mirror closes the former primary. */
    private void requireLogin() {
        if (options.way() == Way.CORRUPT_ALARM || options.way() == Way.AUTH_ENABLE) {
            var unused = direction.closingFrom().users().requireLogin();
        }
    }

    private void requireWhole(Found found) {
        Checkpoint checkpoint = found.checkpoint();
        if (checkpoint == null
                || (checkpoint.state() != CheckpointState.SYNCED && unwrittenSince(found, checkpoint) == 0)) {
            throw new TakeOverException("the checkpoint is "
                    + (checkpoint == null ? "missing" : checkpoint.state().word()) + ": " + to.shown()
                    + " holds no state that " + from.shown() + " had. --force accepts it");
        }
    }
}
