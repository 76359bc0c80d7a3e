package io.understudy.cluster.observe;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
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
    private volatile @Nullable Found found;

    /** @param connections stay the caller's to close */
    public EtcdObserver(EtcdSettings settings, EtcdConnections connections, MeterRegistry meters) {
        this.connections = connections;
        this.seeds = settings.seeds();
        this.meters = meters;
    }

    @Override
    public ClusterFacts observe(Duration patience) throws InterruptedException {
        Instant at = Instant.now();
        Timer.Sample began = Timer.start(meters);
        String outcome = "failed";
        try {
            Found before = found;
            Sight sight = new Sight(seeds, new Look(connections, seeds, before, patience).take(), before);
            found = sight.found();
            outcome = "ok";
            return sight.facts(at);
        } finally {
            began.stop(Timer.builder("understudy.cluster.looks")
                    .description("Looks at all members of the cluster")
                    .tag("outcome", outcome)
                    .register(meters));
        }
    }

    /** Where the member answered in the last look; empty if it did not. */
    public Optional<Endpoint> endpointOf(MemberId member) {
        return Optional.ofNullable(found).map(last -> last.answering().get(member));
    }
}
