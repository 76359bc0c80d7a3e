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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at a cluster through every member's own client port: at the endpoints given, and at those that the member list
 * adds. Where none of those given tells who the members are to begin with, as they may have been replaced, it looks where
 * members may be found otherwise. Any thread.
 *
 * <p>{@code understudy.cluster.looks} (timer; {@code outcome}: ok or failed): looks at the cluster.
 */
public final class EtcdObserver implements ClusterObserver {

    private static final Logger log = LoggerFactory.getLogger(EtcdObserver.class);

    private final EtcdConnections connections;
    private final List<Endpoint> seeds;
    private final List<Endpoint> otherwise;
    private final MeterRegistry meters;
    private volatile @Nullable Seen seen;

    /** Looks nowhere else than at the endpoints given. */
    public EtcdObserver(EtcdSettings settings, EtcdConnections connections, MeterRegistry meters) {
        this(settings, List.of(), connections, meters);
    }

    /**
     * A look that turns elsewhere may take half as long again as it has patience.
     *
     * @param otherwise where members may be found if none of the endpoints given leads to them
     * @param connections stay the caller's to close
     */
    public EtcdObserver(
            EtcdSettings settings, List<Endpoint> otherwise, EtcdConnections connections, MeterRegistry meters) {
        this.connections = connections;
        this.seeds = settings.seeds();
        this.otherwise = List.copyOf(otherwise);
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
            Sight sight = before == null ? first(patience) : look(seeds, before, patience);
            ClusterFacts facts = sight.facts(at);
            seen = new Seen(facts, sight.found(), nanos);
            outcome = "ok";
            return facts;
        } finally {
            began.stop(ClusterMeter.LOOKS.timer().tag("outcome", outcome).register(meters));
        }
    }

    private Sight look(List<Endpoint> given, @Nullable Found before, Duration patience) throws InterruptedException {
        return new Sight(given, new Look(connections, given, before, patience).take(), before);
    }

    /** A learner, which a replaced member may have become, lists no members. */
    private Sight first(Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        Look.Answers answers = new Look(connections, seeds, null, patience).take();
        if (otherwise.isEmpty() || answers.listings().stream().anyMatch(Listing::hasVoter)) {
            return new Sight(seeds, answers, null);
        }
        List<Endpoint> all =
                Stream.of(seeds, otherwise).flatMap(List::stream).distinct().toList();
        Sight sight = look(all, null, Duration.ofNanos(Math.max(end - System.nanoTime(), patience.toNanos() / 2)));
        log.info("no endpoint given tells who the members are, others do given={} asked={}", seeds, otherwise);
        return sight;
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
