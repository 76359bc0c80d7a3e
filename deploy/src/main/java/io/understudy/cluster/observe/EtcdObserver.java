package io.understudy.cluster.observe;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.cluster.metrics.ClusterMeter;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Looks at a cluster through every member's own client port: at the endpoints given, and at those that the member list
 * adds. Any thread.
 *
 * <p>{@code understudy.cluster.looks} (timer; {@code outcome}: ok or failed): looks at the cluster.
 */
public final class EtcdObserver implements ClusterObserver {

    private final EtcdConnections connections;
    private final List<Endpoint> seeds;
    private final MeterRegistry meters;
    private volatile @Nullable Seen seen;

    /** @param connections stay the caller's to close */
    public EtcdObserver(EtcdSettings settings, EtcdConnections connections, MeterRegistry meters) {
        this.connections = connections;
        this.seeds = settings.seeds();
        this.meters = meters;
    }

    /** @param nanos when the look began, by {@link System#nanoTime} */
    private record Seen(ClusterFacts facts, Found found, long nanos) {}

    @Override
    public ClusterFacts observe(Duration patience) throws InterruptedException {
        Instant at = Instant.now();
        long nanos = System.nanoTime();
        Timer.Sample began = Timer.start(meters);
        String outcome = "failed";
        try {
            Seen last = seen;
            @Nullable Found before = last == null ? null : last.found();
            Sight sight = new Sight(seeds, new Look(connections, seeds, before, patience).take(), before);
            ClusterFacts facts = sight.facts(at);
            seen = new Seen(facts, sight.found(), nanos);
            outcome = "ok";
            return facts;
        } finally {
            began.stop(ClusterMeter.LOOKS.timer().tag("outcome", outcome).register(meters));
        }
    }

    /**
     * The last look, or a new one if that is too old. For whom to ask; never for whether to.
     *
     * @param patience of a new one
     */
    public ClusterFacts recent(Duration oldest, Duration patience) throws InterruptedException {
        Seen last = seen;
        return last != null && System.nanoTime() - last.nanos() <= oldest.toNanos() ? last.facts() : observe(patience);
    }

    /** Where those voters answered that were healthy in the last look; the endpoints given if there were none. */
    public List<Endpoint> votersToAsk() {
        Seen last = seen;
        List<Endpoint> healthy = last == null
                ? List.of()
                : last.facts().healthyVoters().stream()
                        .flatMap(voter ->
                                Optional.ofNullable(last.found().answering().get(voter.id())).stream())
                        .toList();
        return healthy.isEmpty() ? seeds : healthy;
    }

    /** Where the member answered in the last look; empty if it did not. */
    public Optional<Endpoint> endpointOf(MemberId member) {
        return Optional.ofNullable(seen).map(last -> last.found().answering().get(member));
    }
}
