package io.understudy.bench.cluster;

import java.util.List;
import java.util.Locale;

/** What is measured. */
public enum ClusterWork {
    SCALE(
            "three voters become five and three again, while a client puts at a steady rate",
            List.of(new Aim(ClusterFigure.STALL_MILLIS, 3_000), new Aim(ClusterFigure.LOST, 0))),
    JOIN(
            "a learner joins a cluster that holds data, while a client puts at a steady rate: p99 of puts meanwhile",
            List.of(new Aim(ClusterFigure.RATIO, 2), new Aim(ClusterFigure.LOST, 0))),
    FAILOVER(
            "a supervisor replaces a voter that was killed by the standby, while a client puts at a steady rate",
            List.of(new Aim(ClusterFigure.FAILOVER_SECONDS, 5), new Aim(ClusterFigure.LOST, 0)));

    /** A figure that is to be that at most. */
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
