package io.understudy.bench.mirror;

import static io.understudy.bench.relay.RelayFigure.CPU_MICROS;
import static io.understudy.bench.relay.RelayFigure.DRAIN_MILLIS;
import static io.understudy.bench.relay.RelayFigure.KEYS_PER_SECOND;
import static io.understudy.bench.relay.RelayFigure.P50_MILLIS;
import static io.understudy.bench.relay.RelayFigure.P99_MILLIS;

import io.understudy.bench.relay.Relay;
import io.understudy.bench.relay.RelayAim;
import io.understudy.bench.relay.RelayWork;
import java.util.List;
import java.util.Locale;

/** What is measured. */
public enum MirrorWork implements RelayWork {
    FIRST_SYNC("from the start of the relay with an empty target until the target has all keys"),
    BACKLOG("single-put commits made while the relay was stopped: from its start until the target has the last"),
    LIVE("puts at maximum rate; drained: from the last acknowledgement until the target has the put"),
    PACED("puts at a steady rate: from acknowledgement at the source until visible at the target; no relay: duration"
            + " of a put at the target");

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
            case LIVE, PACED -> List.of(Relay.NONE, Relay.MIRROR, Relay.MAKE_MIRROR);
        };
    }

    @Override
    public List<RelayAim> aims() {
        return switch (this) {
            case FIRST_SYNC -> List.of(RelayAim.atLeast(KEYS_PER_SECOND, Relay.MAKE_MIRROR, 20));
            case BACKLOG -> List.of(RelayAim.atLeast(KEYS_PER_SECOND, Relay.WATCH, 0.8));
            case LIVE ->
                List.of(RelayAim.atMost(DRAIN_MILLIS, 1_000), RelayAim.atMost(CPU_MICROS, Relay.MAKE_MIRROR, 0.25));
            case PACED ->
                List.of(
                        RelayAim.atMost(P99_MILLIS, Relay.MAKE_MIRROR, 1),
                        RelayAim.within(P50_MILLIS, Relay.NONE, 2),
                        RelayAim.atMost(CPU_MICROS, Relay.MAKE_MIRROR, 0.25));
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
