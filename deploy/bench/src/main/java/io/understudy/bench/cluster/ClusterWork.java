package io.understudy.bench.cluster;

import io.understudy.bench.Figure;
import io.understudy.bench.Goal;
import java.util.List;
import java.util.Locale;

/** What is measured. */
public enum ClusterWork {
    SCALE(
            "scaling from three to five voting members and back, with puts at a steady rate",
            List.of(Goal.atMost(Figure.STALL_MILLIS, 3_000), Goal.atMost(Figure.LOST, 0))),
    JOIN(
            "a learner joins a cluster with data: p99 of puts at a steady rate during the join",
            List.of(Goal.atMost(Figure.RATIO, 2), Goal.atMost(Figure.LOST, 0))),
    FAILOVER(
            "a supervisor replaces a killed voting member with the standby, with puts at a steady rate",
            List.of(Goal.atMost(Figure.FAILOVER_SECONDS, 5), Goal.atMost(Figure.LOST, 0)));

    private final String description;

    @SuppressWarnings("ImmutableEnumChecker") // an immutable list of records of plain values is
    private final List<Goal> goals;

    ClusterWork(String description, List<Goal> goals) {
        this.description = description;
        this.goals = goals;
    }

    String description() {
        return description;
    }

    List<Goal> goals() {
        return goals;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
