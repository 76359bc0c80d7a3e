package io.understudy.bench.cluster;

import java.util.List;
import java.util.Locale;

/** What is measured. */
public enum ClusterWork {
    SCALE(
            "scaling from three to five voting members and back, with puts at a steady rate",
            List.of(new Aim(ClusterFigure.STALL_MILLIS, 3_000), new Aim(ClusterFigure.LOST, 0))),
    JOIN(
            "a learner joins a cluster with data: p99 of puts at a steady rate during the join",
            List.of(new Aim(ClusterFigure.RATIO, 2), new Aim(ClusterFigure.LOST, 0))),
    FAILOVER(
            "a supervisor replaces a killed voting member with the standby, with puts at a steady rate",
            List.of(new Aim(ClusterFigure.FAILOVER_SECONDS, 5), new Aim(ClusterFigure.LOST, 0)));

    /** A figure with an upper limit. */
    record Aim(ClusterFigure figure, double atMost) {}

    private final String description;

    @SuppressWarnings("ImmutableEnumChecker") // an immutable list of records of plain values is
    private final List<Aim> aims;

    ClusterWork(String description, List<Aim> aims) {
        this.description = description;
        this.aims = aims;
    }

    String description() {
        return description;
    }

    List<Aim> aims() {
        return aims;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
