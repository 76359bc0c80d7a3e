package io.understudy.mirror.takeover;

import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.pipeline.Conflict;
import io.understudy.mirror.takeover.Direction.Comparer.Lost;
import io.understudy.mirror.takeover.Records.Found;
import io.understudy.mirror.takeover.Rejoin.Claims;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a mirror's target that returned after a failover and still holds the primary role. Names the writes that the
 * target alone has. One thread; {@link #warnings} any.
 */
public final class FormerPrimary {

    private static final Logger LOG = LoggerFactory.getLogger(FormerPrimary.class);
    private static final int SHOWN = 20;
    /** Number of checks until the next that looks for clients' writes: closes a cluster that rejected it, or was opened. */
    private static final int LOOKS = 10;

    private final String primary;
    private final String cluster;
    private final Direction direction;
    private final Records from;
    private final Records to;
    private final Rejoin rejoin;
    /** As last logged; null for no such cluster. */
    private volatile @Nullable String warning;
    /** What the mirror waits for once the cluster is closed; null before. */
    private @Nullable String closed;
    /** Revision of its record then. */
    private long closedAt;
    /** As last found, of these claims; null if it has to be found again. */
    private @Nullable Conflict found;

    private @Nullable Claims seen;
    private int looks;
    private boolean isLeftOpen;
    private boolean isToRepeat;

    FormerPrimary(String primary, String cluster, Direction direction) {
        this.primary = primary;
        this.cluster = cluster;
        this.direction = direction;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
        this.rejoin = new Rejoin(direction, TakeOverOptions.DEFAULTS, step -> {});
    }

    /**
     * Compares both records, and closes the target if it is a former primary and open. Blocks. A conflict that was found
     * before costs one request at alternate clusters while both records are unchanged, and at each tenth check some more:
     * permissions, alarms and authentication are in no record.
     *
     * @return empty unless both are the primary; also empty if the target has the higher epoch
     * @throws TakeOverException a cluster does not respond, or its record is not readable
     */
    public Optional<Conflict> close() {
        looks++;
        Claims before = seen;
        Conflict last = found;
        if (before != null
                && last != null
                && !(isLeftOpen && looks % LOOKS == 0)
                && isUnchanged(before, looks % 2 == 0)
                && !(closed != null && looks % LOOKS == 0 && isOpened(before.former()))) {
            return Optional.of(last);
        }
        found = null;
        isLeftOpen = false;
        isToRepeat = false;
        Claims claims = claims();
        if (!claims.areBoth() || claims.former().epoch() > claims.primary().epoch()) {
            warning = null;
            closed = null;
            return Optional.empty();
        }
        String both = claims.shown(primary, cluster) + "; ";
        Optional<String> command = command();
        if (command.isPresent() || !claims.isUnchangedIn(claims())) {
            return Optional.of(new Conflict(both + command.orElse("a command has changed that"), true));
        }
        String remedy = "run " + claims.remedy();
        Conflict conflict = new Conflict(both + (claims.isStale() ? stale(claims, remedy) : remedy), false);
        seen = claims;
        found = isToRepeat ? null : conflict;
        return Optional.of(conflict);
    }

    private Claims claims() {
        Found present = to.read();
        return new Claims(present, from.read());
    }

    /** Whether no command wrote one of both records since; one request. */
    private boolean isUnchanged(Claims before, boolean ofPrimary) {
        return ofPrimary
                ? to.read().recordRevision() == before.primary().recordRevision()
                : from.read().recordRevision() == before.former().recordRevision();
    }

    /** Whether it accepts writes again although no command wrote its record. It is closed again then. */
    private boolean isOpened(Found former) {
        Closed how = former.move().closed();
        try {
            if (how == null || direction.closingFrom().refusesWrites(how)) {
                return false;
            }
            LOG.atWarn()
                    .addKeyValue("mirror", direction.mirror())
                    .addKeyValue("cluster", cluster)
                    .log("former primary no longer closed; closing it again");
        } catch (TakeOverException e) {
            // The next attempt at closing it finds out why.
        }
        closed = null;
        return true;
    }

    /** The command at work, in words. */
    private Optional<String> command() {
        return Lock.holder(to)
                .or(() -> Lock.holder(from))
                .map(holder -> "a command moves mirror " + direction.mirror() + ": " + holder);
    }

    private String stale(Claims claims, String remedy) {
        if (closed != null && claims.former().recordRevision() == closedAt) {
            return closed;
        }
        try {
            Former found = closeFormer();
            if (found.way() == Way.NONE) {
                return open("it is left open (--allow-loss); " + remedy);
            }
            String summary = "former primary " + cluster + " is closed ("
                    + found.way().word() + "). " + beyond(found) + "; " + remedy;
            warn(summary + keys(found.lost()));
            closed = summary;
            closedAt = found.recordRevision();
            return summary;
        } catch (TakeOverException e) {
            isLeftOpen = true;
            isToRepeat = e.getCause() instanceof CallFailedException failed && !failed.isFinal();
            return open(e.getMessage() + "; " + remedy + " with --close and users with the role root");
        }
    }

    /**
     * The former primary as closed.
     *
     * @param revision up to which the primary has its writes
     * @param lost what only the former primary has; nothing if it was left open
     * @param recordRevision of its record, which a command that opens it changes; 0 if it was left open
     */
    private record Former(Way way, long revision, Lost lost, long recordRevision) {}

    /**
     * Closes it as the operator chose. Finds what it alone has.
     *
     * @throws TakeOverException it is not permitted, or another command is at work
     */
    private Former closeFormer() {
        Found present = to.read();
        Way chosen = present.required().move().former();
        Way way = chosen == null ? Way.ROLES : chosen;
        Checkpoint checkpoint = present.checkpoint();
        long reached = checkpoint == null ? 0 : checkpoint.revision().value();
        if (way == Way.NONE) {
            return new Former(way, reached, Lost.NOTHING, 0);
        }
        direction.lock().take(to, "close");
        try {
            Claims both = rejoin.closed(former -> {
                Closed begun = Rejoin.begun(former);
                return begun == null
                        ? direction.closingFrom().prepare(way)
                        : direction.closingFrom().extended(begun);
            });
            Closed how = both.former().move().closed();
            Lost lost = rejoin.lost(both.primary(), both.former());
            return new Former(
                    how == null ? way : how.way(), reached, lost, both.former().recordRevision());
        } finally {
            direction.lock().release();
        }
    }

    /** What an operator should know. */
    public List<String> warnings() {
        String present = warning;
        return present == null ? List.of() : List.of(present);
    }

    private String open(String why) {
        String all = "former primary " + cluster + " accepts client writes, which will be lost: " + why;
        warn(all);
        return all;
    }

    private void warn(String next) {
        if (!next.equals(warning)) {
            LOG.atWarn()
                    .addKeyValue("mirror", direction.mirror())
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("reason", next)
                    .log("former primary returned");
        }
        warning = next;
    }

    private static String beyond(Former found) {
        Lost lost = found.lost();
        return lost.unknown() != null
                ? "Writes after revision " + found.revision() + " are not known: " + lost.unknown()
                : "After revision " + found.revision() + ", clients wrote "
                        + lost.keys().size() + " keys that the primary lacks";
    }

    private static String keys(Lost lost) {
        return lost.keys().isEmpty()
                ? ""
                : "; the first: "
                        + lost.keys().stream()
                                .limit(SHOWN)
                                .map(TakeOverReport::shown)
                                .collect(Collectors.joining(", "));
    }
}
