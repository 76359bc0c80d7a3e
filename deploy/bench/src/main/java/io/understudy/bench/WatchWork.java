package io.understudy.bench;

import io.understudy.bench.Watchers.Spread;
import io.understudy.bench.Watchers.WatchedKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A number of watchers and what they are given to see; and what the gateway is to reach with it. */
public enum WatchWork {
    /** First, since a server keeps the memory that it once had. */
    IDLE(
            "10,000 idle watchers on 20 streams, then 2,000 more with a stream each",
            Demand.NONE,
            new Watchers(10_000, Spread.SHARED, false)),
    SHARED_100("100 watchers on 20 streams", Demand.PACED, new Watchers(100, Spread.SHARED, false)),
    EACH_100("100 watchers, a stream each", Demand.PACED, new Watchers(100, Spread.EACH, false)),
    SHARED_1000(
            "1,000 watchers on 20 streams",
            Demand.PACED,
            new Watchers(1_000, Spread.SHARED, false),
            Goal.atMost(Figure.CPU_PER_EVENT, ServerPath.LEADER, 1 / 2.5),
            Goal.atMost(Figure.CPU_LESS_PUTS, ServerPath.LEADER, 1 / 2.5)),
    EACH_1000(
            "1,000 watchers, a stream each",
            Demand.PACED,
            new Watchers(1_000, Spread.EACH, false),
            Goal.atMost(Figure.CPU_PER_EVENT, ServerPath.LEADER, 1 / 3.0),
            Goal.atMost(Figure.CPU_LESS_PUTS, ServerPath.LEADER, 1 / 3.0)),
    KEYS_10000(
            "10,000 watchers on 20 streams, each on a separate key",
            Demand.PACED,
            new Watchers(WatchedKeys.COUNT, Spread.SHARED, true)),
    FULL_SHARED_1000(
            "1,000 watchers on 20 streams",
            Demand.FULL,
            new Watchers(1_000, Spread.SHARED, false),
            Goal.atLeast(Figure.EVENTS_PER_SECOND, ServerPath.LEADER, 1.5)),
    FULL_EACH_1000(
            "1,000 watchers, a stream each",
            Demand.FULL,
            new Watchers(1_000, Spread.EACH, false),
            Goal.atLeast(Figure.EVENTS_PER_SECOND, ServerPath.LEADER, 1.5));

    /** What the watchers are given to see. */
    enum Demand {
        /** Nothing: what they take up is measured. */
        NONE,
        /** Puts at a steady rate. */
        PACED,
        /** Puts as fast as they are delivered. */
        FULL
    }

    /** What with one watcher is 1 and with many at a gateway may differ by a tenth. */
    private static final double TENTH = 0.1;

    private final String description;
    private final Demand demand;

    @SuppressWarnings("ImmutableEnumChecker") // a record of plain values is
    private final Watchers watchers;

    @SuppressWarnings("ImmutableEnumChecker") // List.of is
    private final List<Goal> aims;

    WatchWork(String description, Demand demand, Watchers watchers, Goal... aims) {
        this.description = description;
        this.demand = demand;
        this.watchers = watchers;
        this.aims = List.of(aims);
    }

    String description() {
        return description;
    }

    Demand demand() {
        return demand;
    }

    Watchers watchers() {
        return watchers;
    }

    /** By which ways it is measured, in turn. */
    List<ServerPath> paths() {
        return List.of(ServerPath.LEADER, ServerPath.GATEWAY, ServerPath.GRPC_PROXY);
    }

    List<Goal> goals() {
        List<Goal> all = new ArrayList<>(aims);
        if (demand == Demand.PACED) {
            all.add(Goal.atMost(Figure.P99_MILLIS, ServerPath.LEADER, 1));
            all.add(Goal.between(Figure.VOTERS_TO_ONE, 1 - TENTH, 1 + TENTH));
            all.add(Goal.between(Figure.BYTES_TO_ONE, 1 - TENTH, 1 + TENTH));
        }
        return all;
    }

    /** Its name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
