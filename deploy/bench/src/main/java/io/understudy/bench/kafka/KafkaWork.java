package io.understudy.bench.kafka;

import static io.understudy.bench.Figure.CHANGES_PER_SECOND;
import static io.understudy.bench.Figure.P99_MILLIS;

import io.understudy.bench.Goal;
import io.understudy.bench.relay.Relay;
import io.understudy.bench.relay.RelayBench.RelayWork;
import io.understudy.bench.relay.SourceLoad;
import java.util.List;
import java.util.Locale;

/** What is measured. */
public enum KafkaWork implements RelayWork {
    HISTORY("commits of " + SourceLoad.KEYS_PER_TRANSACTION
            + " changes made while the mirror was stopped: from the first" + " consumable change to the last mark"),
    SINGLE("single-change commits made while the mirror was stopped: the same"),
    PACED("puts at a steady rate: from acknowledgement at the source until a consumer reads the record; bare watch:"
            + " until delivery by a follower, in the same run; through to etcd: until a second mirror has copied it"
            + " from the topic to another cluster");

    private final String description;

    KafkaWork(String description) {
        this.description = description;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public List<Relay> relays() {
        return switch (this) {
            case HISTORY -> List.of(Relay.MIRROR, Relay.PRODUCER);
            case SINGLE -> List.of(Relay.MIRROR, Relay.PRODUCER, Relay.WATCH);
            case PACED -> List.of(Relay.MIRROR, Relay.PRODUCER, Relay.WATCH, Relay.CHAIN);
        };
    }

    @Override
    public List<Goal> goals() {
        return switch (this) {
            case HISTORY -> List.of(Goal.atLeast(CHANGES_PER_SECOND, 50_000));
            case SINGLE -> List.of(Goal.atLeast(CHANGES_PER_SECOND, Relay.WATCH, 0.8));
            case PACED -> List.of(Goal.atMost(P99_MILLIS, 60));
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
