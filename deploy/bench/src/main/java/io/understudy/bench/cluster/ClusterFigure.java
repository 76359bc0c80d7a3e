package io.understudy.bench.cluster;

import io.understudy.bench.Figure;

/** What can be measured. */
enum ClusterFigure implements Figure {
    GROW_SECONDS("s to grow", "growSeconds", "%.1f"),
    SHRINK_SECONDS("s to shrink", "shrinkSeconds", "%.1f"),
    STALL_MILLIS("longest stall ms", "longestStallMillis", "%.0f"),
    LOST("lost puts", "lostPuts", "%.0f"),
    UNDISTURBED_P99_MILLIS("p99 ms baseline", "undisturbedP99Millis", "%.2f"),
    JOIN_SECONDS("s to join", "joinSeconds", "%.1f"),
    JOIN_P99_MILLIS("p99 ms during join", "joinP99Millis", "%.2f"),
    RATIO("ratio", "ratio", "%.2f"),
    FAILOVER_SECONDS("s beyond dead time", "secondsBeyondDeadTime", "%.1f");

    @SuppressWarnings("ImmutableEnumChecker") // a record of plain values is
    private final Form form;

    ClusterFigure(String title, String jsonName, String pattern) {
        form = new Form(title, jsonName, pattern);
    }

    @Override
    public Form form() {
        return form;
    }
}
