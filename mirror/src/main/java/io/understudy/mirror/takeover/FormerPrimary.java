package io.understudy.mirror.takeover;

import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.pipeline.Conflict;
import io.understudy.mirror.takeover.Direction.Comparer.Lost;
import io.understudy.mirror.takeover.Failover.Claims;
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
    /** Number of checks before the next attempt at closing a cluster that rejected it. */
    private static final int LOOKS = 10;

    private final String mirror;
    private final String primary;
    private final String cluster;
    private final Failover failover;
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

    FormerPrimary(String mirror, String primary, String cluster, Failover failover) {
        this.mirror = mirror;
        this.primary = primary;
        this.cluster = cluster;
        this.failover = failover;
    }

    /**
     * Compares both records, and closes the target if it is a former primary and open. Blocks. A conflict that was found
     * before costs one request at alternate clusters while both records are unchanged.
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
                && failover.isUnchanged(before, looks % 2 == 0)) {
            return Optional.of(last);
        }
        found = null;
        isLeftOpen = false;
        isToRepeat = false;
        Claims claims = failover.claims();
        if (!claims.areBoth() || claims.former().epoch() > claims.primary().epoch()) {
            warning = null;
            closed = null;
            return Optional.empty();
        }
        String both = claims.shown(mirror, primary, cluster) + "; ";
        Optional<String> command = failover.command();
        if (command.isPresent() || !claims.isUnchangedIn(failover.claims())) {
            return Optional.of(new Conflict(both + command.orElse("a command has changed that"), true));
        }
        String remedy = "run " + claims.remedy();
        Conflict conflict = new Conflict(both + (claims.isStale() ? stale(claims, remedy) : remedy), false);
        seen = claims;
        found = isToRepeat ? null : conflict;
        return Optional.of(conflict);
    }

    private String stale(Claims claims, String remedy) {
        if (closed != null && claims.former().recordRevision() == closedAt) {
            return closed;
        }
        try {
            Failover.Former found = failover.closeFormer();
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
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("reason", next)
                    .log("former primary returned");
        }
        warning = next;
    }

    private static String beyond(Failover.Former found) {
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
