package io.understudy.gateway;

import io.understudy.gateway.read.ReadPath;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaState.Condition;
import io.understudy.gateway.replica.ReplicaWriter;
import io.understudy.health.HealthCheck;
import io.understudy.health.HealthChecks;
import io.understudy.health.HealthPages;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * The checks of {@code /livez} and {@code /readyz}. Thread-safe.
 *
 * @param passesThrough whether the source answers reads while there is no replica
 * @param ofSource readiness checks of the source
 * @param maxSilence maximum silence of the feed, and staleness of the replica, before readiness is red
 */
record GatewayChecks(
        BooleanSupplier closing,
        Replica replica,
        ReplicaWriter writer,
        ReadPath reads,
        boolean passesThrough,
        List<HealthCheck> ofSource,
        Duration maxSilence) {

    /** Checks of freshness, which serializable reads don't need. */
    private static final Set<String> FRESHNESS = Set.of("staleness", "read_index", "heartbeats", "source");

    /** Returns the checks of failures that only a restart or an operator can repair. */
    HealthChecks live() {
        return new HealthChecks(new HealthCheck("feed", this::feedEnded));
    }

    /** Returns the checks of readiness. */
    HealthChecks ready() {
        Stream<HealthCheck> always = Stream.of(
                new HealthCheck("process", () -> closing.getAsBoolean() ? Optional.of("closing") : Optional.empty()),
                new HealthCheck("replica", this::replicaMissing, this::replicaDropped),
                new HealthCheck("feed", () -> feedEnded().or(() -> Optional.ofNullable(writer.problem()))),
                new HealthCheck("staleness", () -> feedSilent().or(this::tooStale)));
        return new HealthChecks(Stream.concat(always, ofSource.stream()).toArray(HealthCheck[]::new));
    }

    HealthPages pages() {
        return new HealthPages(live(), ready(), FRESHNESS);
    }

    private Optional<String> replicaDropped() {
        return passesThrough && replica.condition() instanceof Condition.Dropped dropped
                ? Optional.of("dropped; reads are proxied to the source: " + dropped.reason())
                : Optional.empty();
    }

    /** A dropped replica is no problem if reads are forwarded then. */
    private Optional<String> replicaMissing() {
        if (replica.condition() instanceof Condition.Loading) {
            return Optional.of("first snapshot not complete");
        }
        return !passesThrough && replica.condition() instanceof Condition.Dropped dropped
                ? Optional.of("dropped; reads are rejected: " + dropped.reason())
                : Optional.empty();
    }

    private Optional<String> feedEnded() {
        Throwable why = writer.failed();
        return why == null
                ? Optional.empty()
                : Optional.of("stopped permanently: " + (why.getMessage() == null ? why.toString() : why.getMessage()));
    }

    private Optional<String> feedSilent() {
        Duration silence = writer.silence();
        return silence.compareTo(maxSilence) <= 0
                ? Optional.empty()
                : Optional.of("no source progress for " + silence.toSeconds() + " s; allowed: " + maxSilence.toSeconds()
                        + " s (maxSilence)");
    }

    private Optional<String> tooStale() {
        if (replica.state() == null) {
            // Forwarded reads are as fresh as the source.
            return Optional.empty();
        }
        Duration staleness = reads.staleness();
        if (staleness == null) {
            return Optional.of("unknown: revision of the replica not confirmed yet");
        }
        return staleness.compareTo(maxSilence) <= 0
                ? Optional.empty()
                : Optional.of("replica is " + staleness.toSeconds() + " s stale; allowed: " + maxSilence.toSeconds()
                        + " s (maxSilence)");
    }
}
