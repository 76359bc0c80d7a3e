package io.understudy.gateway;

import io.understudy.etcd.ClusterView;
import io.understudy.etcd.Health;
import io.understudy.etcd.Role;
import io.understudy.gateway.health.HealthCheck;
import io.understudy.gateway.health.HealthChecks;
import io.understudy.gateway.read.ReadPath;
import io.understudy.gateway.replica.Condition;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaWriter;
import io.understudy.gateway.verify.Verifier;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** What a gateway checks of itself for {@code /livez} and {@code /readyz}. For any thread. */
final class GatewayChecks {

    private final BooleanSupplier closing;
    private final Replica replica;
    private final Verifier verifier;
    private final ReplicaWriter writer;
    private final ReadPath reads;
    private final Supplier<ClusterView> source;
    private final Duration maxSilence;

    /** @param maxSilence how long the feed may tell nothing, and how old the replica may be, before readiness is red */
    GatewayChecks(
            BooleanSupplier closing,
            Replica replica,
            Verifier verifier,
            ReplicaWriter writer,
            ReadPath reads,
            Supplier<ClusterView> source,
            Duration maxSilence) {
        this.closing = closing;
        this.replica = replica;
        this.verifier = verifier;
        this.writer = writer;
        this.reads = reads;
        this.source = source;
        this.maxSilence = maxSilence;
    }

    /** What only a restart, or an operator, can mend. */
    HealthChecks live() {
        return new HealthChecks(new HealthCheck("feed", this::feedEnded));
    }

    /** Whether requests can be served as they should be. */
    HealthChecks ready() {
        return new HealthChecks(
                new HealthCheck("process", () -> closing.getAsBoolean() ? Optional.of("closing") : Optional.empty()),
                new HealthCheck("replica", this::replicaMissing, this::replicaDropped),
                new HealthCheck("verification", verifier::problem, verifier::remark),
                new HealthCheck("feed", () -> feedEnded().or(this::feedSilent)),
                new HealthCheck("read_index", reads::readIndexProblem),
                new HealthCheck("staleness", this::tooStale),
                new HealthCheck("source", Optional::empty, this::standIns));
    }

    private Optional<String> replicaDropped() {
        return replica.condition() instanceof Condition.Dropped dropped
                ? Optional.of("dropped, reads are passed through: " + dropped.reason())
                : Optional.empty();
    }

    /** Not one that was dropped: then reads are passed through. */
    private Optional<String> replicaMissing() {
        return replica.condition() instanceof Condition.Loading
                ? Optional.of("the first snapshot is not complete")
                : Optional.empty();
    }

    private Optional<String> feedEnded() {
        Throwable why = writer.failed();
        return why == null ? Optional.empty() : Optional.of("ended for good: " + why.getMessage());
    }

    private Optional<String> feedSilent() {
        Duration silence = writer.silence();
        return silence.compareTo(maxSilence) <= 0
                ? Optional.empty()
                : Optional.of(
                        "told nothing for " + silence.toSeconds() + " s, allowed are " + maxSilence.toSeconds() + " s");
    }

    private Optional<String> tooStale() {
        if (replica.state() == null) {
            // What is passed through is as young as the source has it.
            return Optional.empty();
        }
        Duration staleness = reads.staleness();
        if (staleness == null) {
            return Optional.of("nobody knows how old it is what is served: no revision up to it was confirmed yet");
        }
        return staleness.compareTo(maxSilence) <= 0
                ? Optional.empty()
                : Optional.of("what is served was current " + staleness.toSeconds() + " s ago, allowed are "
                        + maxSilence.toSeconds() + " s");
    }

    /** Who of the source is missed; the others serve in their place. */
    private Optional<String> standIns() {
        if (replica.state() == null) {
            return Optional.empty();
        }
        boolean gateway = answers(Role.GATEWAY);
        if (!gateway && !answers(Role.VOTER)) {
            return Optional.of("no voter answers, serializable reads go on");
        }
        return gateway || answers(Role.LEARNER)
                ? Optional.empty()
                : Optional.of("no learner answers, voters serve snapshots and read indexes");
    }

    private boolean answers(Role role) {
        return source.get().members(role).stream()
                .anyMatch(member -> member.health() == Health.HEALTHY || member.health() == Health.LEADERLESS);
    }
}
