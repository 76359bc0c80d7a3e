package io.understudy.mirror.takeover;

import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.takeover.Direction.Comparer.Lost;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a mirror's target that was the primary, was lost, and returned after a failover; names the writes that it alone has.
 * What it could not close, it reports. One thread; {@link #warnings} any.
 */
public final class FormerPrimary {

    private static final Logger LOG = LoggerFactory.getLogger(FormerPrimary.class);
    private static final int SHOWN = 20;
    private static final String REJOIN = "run \"understudy mirror rejoin\"";

    private final String mirror;
    private final String cluster;
    private final Failover failover;
    /** As last logged; null for no such cluster. */
    private volatile @Nullable String warning;
    /** What the mirror waits for once the cluster is closed; null before. */
    private @Nullable String closed;

    FormerPrimary(String mirror, String cluster, Failover failover) {
        this.mirror = mirror;
        this.cluster = cluster;
        this.failover = failover;
    }

    /**
     * Closes the target if it is such a cluster and open. Blocks.
     *
     * @return why the mirror waits for an operator; empty if the target is no such cluster, or that is not known
     */
    public Optional<String> close() {
        try {
            if (!failover.isStale()) {
                warning = null;
                closed = null;
                return Optional.empty();
            }
        } catch (TakeOverException e) {
            return Optional.empty();
        }
        if (closed != null) {
            return Optional.of(closed);
        }
        try {
            Optional<String> command = failover.command();
            if (command.isPresent()) {
                return command;
            }
            Failover.Former found = failover.closeFormer();
            if (found.way() == Way.NONE) {
                return Optional.of(open("it is left open (--allow-loss); " + REJOIN));
            }
            String summary = "former primary " + cluster + " is closed ("
                    + found.way().word() + "). " + beyond(found) + "; " + REJOIN;
            warn(summary + keys(found.lost()));
            closed = summary;
            return Optional.of(summary);
        } catch (TakeOverException e) {
            return Optional.of(open(
                    e.getMessage() + "; run \"understudy mirror rejoin\" with --close and users with the role root"));
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
