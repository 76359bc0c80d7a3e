package io.understudy.bench.mirror;

import static io.understudy.bench.Figure.CPU_PER_KEY;
import static io.understudy.bench.Figure.DRAIN_MILLIS;
import static io.understudy.bench.Figure.KEYS_PER_SECOND;
import static io.understudy.bench.Figure.P50_MILLIS;
import static io.understudy.bench.Figure.P99_MILLIS;

import io.understudy.bench.Goal;
import io.understudy.bench.relay.Relay;
import io.understudy.bench.relay.RelayBench.RelayWork;
import java.util.List;
import java.util.Locale;

/** What is measured. */
public enum MirrorWork implements RelayWork {
    FIRST_SYNC("from the start of the relay with an empty target until the target has all keys"),
    BACKLOG("single-put commits made while the relay was stopped: from its start until the target has the last"),
    LIVE("puts at maximum rate; drained: from the last acknowledgement until the target has the put"),
    PACED("puts at a steady rate: from acknowledgement at the source until visible at the target; no relay: duration"
            + " of a put at the target"),
    VERIFY("'mirror verify' of a synchronised target, while the mirror runs"),
    RESTART("a synchronised mirror, stopped for one put: from its start until the target has the put"),
    RESYNC("a mirror stopped during 1,000 puts and the compaction of their history: from its start until the target"
            + " has a put made after the resynchronisation");

    private final String description;

    MirrorWork(String description) {
        this.description = description;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public List<Relay> relays() {
        return switch (this) {
            case FIRST_SYNC -> List.of(Relay.MIRROR, Relay.MAKE_MIRROR);
            case BACKLOG -> List.of(Relay.MIRROR, Relay.WATCH);
            case VERIFY, RESTART, RESYNC -> List.of(Relay.MIRROR);
            case LIVE, PACED -> List.of(Relay.NONE, Relay.MIRROR, Relay.MAKE_MIRROR);
        };
    }

    @Override
    public List<Goal> goals() {
        return switch (this) {
            case FIRST_SYNC -> List.of(Goal.atLeast(KEYS_PER_SECOND, Relay.MAKE_MIRROR, 20));
            case BACKLOG -> List.of(Goal.atLeast(KEYS_PER_SECOND, Relay.WATCH, 0.8));
            case LIVE -> List.of(Goal.atMost(DRAIN_MILLIS, 1_000), Goal.atMost(CPU_PER_KEY, Relay.MAKE_MIRROR, 0.25));
            case PACED ->
                List.of(
                        Goal.atMost(P99_MILLIS, Relay.MAKE_MIRROR, 1),
                        Goal.within(P50_MILLIS, Relay.NONE, 2),
                        Goal.atMost(CPU_PER_KEY, Relay.MAKE_MIRROR, 0.25));
            case VERIFY, RESTART, RESYNC -> List.of();
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
