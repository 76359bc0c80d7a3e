package io.understudy.cluster.observe;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.cluster.metrics.ClusterMeter;
import io.understudy.cluster.observe.ClusterFactsBuilder.Found;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Observes a cluster through the client ports of given and listed members.
 *
 * <p>Without a quorum there, as after a replacement of members, it uses {@link FallbackEndpoints}. Any thread.
 *
 * <p>{@code understudy.cluster.looks} (timer; {@code outcome}: ok or failed): looks at the cluster.
 *
 * <p>Invariant DP27: an observation is what each member reports at that time, and a silent member delays it by its
 * timeout at most.
 */
public final class EtcdObserver implements ClusterObserver {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdObserver.class);

    /** Time for which metrics pages alone suffice. */
    private static final Duration BETWEEN_OBSERVATIONS = Duration.ofSeconds(30);

    /** Time for which the metrics page of the leader suffices: a page takes a member some milliseconds. */
    private static final Duration BETWEEN_PAGES = Duration.ofSeconds(5);

    private final EtcdConnections connections;
    private final List<Endpoint> seeds;
    private final FallbackEndpoints fallback;
    private final MeterRegistry meters;
    private final Growth growth = new Growth();
    private volatile @Nullable Seen seen;
    /** Whether the last observation found its quorum at fallback endpoints. */
    private volatile boolean isElsewhere;

    /** Creates an observer of the given endpoints only. */
    public EtcdObserver(EtcdSettings settings, EtcdConnections connections, MeterRegistry meters) {
        this(settings, FallbackEndpoints.NOWHERE, connections, meters);
    }

    /**
     * Creates an observer with fallback endpoints, which may extend an observation by half its timeout.
     *
     * @param fallback used if the given endpoints have no quorum
     * @param connections closed by the caller
     */
    public EtcdObserver(
            EtcdSettings settings, FallbackEndpoints fallback, EtcdConnections connections, MeterRegistry meters) {
        this.connections = connections;
        this.seeds = settings.seeds();
        this.fallback = fallback;
        this.meters = meters;
    }

    /**
     * Times are by {@link System#nanoTime}.
     *
     * @param nanos when the observation began
     * @param ended when it ended; a silent member prolongs it
     * @param paged when the metrics pages of all members were requested last
     */
    private record Seen(ClusterFacts facts, Found found, long nanos, long ended, long paged) {

        /** Whether it is recent, with every member healthy and reachable. */
        boolean isGlanceEnough() {
            return System.nanoTime() - nanos < BETWEEN_OBSERVATIONS.toNanos()
                    && facts.isConfirmed()
                    && facts.divergence().isNone()
                    && facts.leader().isPresent()
                    && facts.members().stream()
                            .allMatch(member ->
                                    member.isHealthy() && found.answering().containsKey(member.id()));
        }
    }

    @Override
    public ClusterFacts observe(Duration patience) throws InterruptedException {
        Instant at = Instant.now();
        long nanos = System.nanoTime();
        Timer.Sample began = Timer.start(meters);
        String outcome = "failed";
        try {
            Seen last = seen;
            @Nullable Found before = last == null ? null : last.found();
            ClusterFactsBuilder builder = builder(before, patience);
            ClusterFacts facts = growth.measured(builder.facts(at), builder.pages());
            // Unconfirmed facts from fallback endpoints are not kept.
            if (builder.isConfirmed() || builder.isOf(seeds)) {
                seen = new Seen(facts, builder.found(), nanos, System.nanoTime(), nanos);
            }
            outcome = "ok";
            return facts;
        } finally {
            began.stop(ClusterMeter.LOOKS.timer().tag("outcome", outcome).register(meters));
        }
    }

    /**
     * Makes no unary calls, to keep an idle cluster idle. Alarms and roles are those of the last full observation, and
     * indexes those of the last metrics pages of all members.
     */
    @Override
    public Optional<ClusterFacts> glance(Duration patience) throws InterruptedException {
        Seen last = seen;
        if (last == null || !last.isGlanceEnough()) {
            return Optional.empty();
        }
        MemberId leader = last.facts().leader().orElseThrow().id();
        long nanos = System.nanoTime();
        boolean isWhole = nanos - last.paged() >= BETWEEN_PAGES.toNanos();
        Map<MemberId, CompletableFuture<ProbeReply.Page>> requests = new HashMap<>();
        List<CompletableFuture<Boolean>> followers = new ArrayList<>();
        last.found().answering().forEach((member, endpoint) -> {
            if (isWhole || member.equals(leader)) {
                requests.put(member, Probe.page(connections, endpoint, patience));
            } else {
                followers.add(Probe.follows(connections, endpoint, member, leader, patience));
            }
        });
        Map<MemberId, ProbeReply.Page> pages = new HashMap<>();
        for (Map.Entry<MemberId, CompletableFuture<ProbeReply.Page>> request : requests.entrySet()) {
            pages.put(request.getKey(), Look.within(request.getValue(), patience, ProbeReply.Page.NONE));
        }
        boolean isFollowed = true;
        for (CompletableFuture<Boolean> follower : followers) {
            isFollowed &= Look.within(follower, patience, false);
        }
        Instant now = Instant.now();
        ClusterFacts facts = growth.measured(last.facts(), pages);
        if (!isFollowed
                || !facts.members().stream().allMatch(member -> isUnchanged(facts, member, pages.get(member.id())))) {
            return Optional.empty();
        }
        ClusterFacts updated = isWhole ? updated(facts, pages) : facts;
        seen = new Seen(updated, last.found(), last.nanos(), last.ended(), isWhole ? nanos : last.paged());
        return Optional.of(updated.at(now));
    }

    /** Returns the facts with the indexes of the pages. Those of one member alone would show the others behind. */
    private static ClusterFacts updated(ClusterFacts facts, Map<MemberId, ProbeReply.Page> pages) {
        return facts.withMembers(facts.members().stream()
                .map(member -> member.withAnswer(Objects.requireNonNull(pages.get(member.id()))
                        .metrics()
                        .update(member.answer().orElseThrow())))
                .toList());
    }

    /** @param page null if it was not requested */
    private static boolean isUnchanged(ClusterFacts facts, MemberFacts member, ProbeReply.@Nullable Page page) {
        MemberFacts leader = facts.leader().orElseThrow();
        boolean leads = leader.id().equals(member.id());
        Set<MemberId> peers = facts.members().stream()
                .map(MemberFacts::id)
                .filter(id -> !id.equals(member.id()))
                .collect(Collectors.toUnmodifiableSet());
        return (page == null
                        || (page.metrics().startedAt().equals(member.process().startedAt())
                                && page.metrics().isOf(member.id(), leads, peers)))
                && (leads || leader.measurements().hears(member.id()));
    }

    private ClusterFactsBuilder builder(@Nullable Found before, Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        @Nullable ClusterFactsBuilder near = null;
        @Nullable UnobservableException unseen = null;
        try {
            near = look(seeds, before, patience);
        } catch (UnobservableException e) {
            unseen = e;
        }
        if ((near == null || !near.isConfirmed()) && fallback.isKnown()) {
            Duration left = Duration.ofNanos(Math.max(end - System.nanoTime(), patience.toNanos() / 2));
            Optional<ClusterFactsBuilder> far = elsewhere(left, near == null ? before : near.found(), unseen);
            if (far.isPresent() && far.get().isConfirmed()) {
                LOG.atLevel(isElsewhere ? Level.DEBUG : Level.INFO)
                        .addKeyValue("given", seeds)
                        .addKeyValue("others", fallback)
                        .log("configured endpoints have no quorum; using client URLs of the machines");
                isElsewhere = true;
                return far.get();
            }
            if (far.isPresent() && near == null) {
                return far.get();
            }
        }
        if (near == null) {
            throw unseen;
        }
        isElsewhere = false;
        return near;
    }

    /**
     * Returns the facts from fallback endpoints, if they are certainly of the same cluster.
     *
     * @param known earlier findings of the cluster, if any
     * @param unseen failure of the given endpoints, if any
     * @throws UnobservableException the given endpoints are silent, and others contradict each other
     */
    private Optional<ClusterFactsBuilder> elsewhere(
            Duration patience, @Nullable Found known, @Nullable UnobservableException unseen)
            throws InterruptedException {
        List<Endpoint> all = Stream.of(seeds, fallback.endpoints())
                .flatMap(List::stream)
                .distinct()
                .toList();
        try {
            // Every configured endpoint counts here, even one that only reports its cluster id.
            ClusterFactsBuilder builder = look(all, null, patience);
            boolean isMeant = known == null
                    || known.listing()
                            .cluster()
                            .equals(builder.found().listing().cluster());
            // Without a quorum nothing is changed, and the report on what is left needs every response.
            return Optional.of(builder).filter(each -> isMeant && (fallback.has(each) || !each.isConfirmed()));
        } catch (UnobservableException e) {
            if (unseen != null && unseen.isSilence() && !e.isSilence()) {
                throw e;
            }
            LOG.atDebug().addKeyValue("cause", e.getMessage()).log("client URLs of the machines do not respond");
            return Optional.empty();
        }
    }

    private ClusterFactsBuilder look(List<Endpoint> given, @Nullable Found before, Duration patience)
            throws InterruptedException {
        Seen last = seen;
        boolean isSuspicious = last != null && !last.facts().members().stream().allMatch(MemberFacts::isHealthy);
        return new ClusterFactsBuilder(
                given, new Look(connections, given, before, isSuspicious, patience).take(), before);
    }

    /**
     * Returns the last observation, or a new one if that is too old. For choosing endpoints only.
     *
     * @param patience of a new one
     */
    public ClusterFacts recent(Duration oldest, Duration patience) throws InterruptedException {
        Seen last = seen;
        return last != null && System.nanoTime() - last.ended() <= oldest.toNanos() ? last.facts() : observe(patience);
    }

    /** Returns the endpoints of the voters that were healthy when last observed. If there were none: all endpoints. */
    public List<Endpoint> votingEndpoints() {
        Seen last = seen;
        List<Endpoint> healthy = last == null
                ? List.of()
                : last.facts().healthyVoters().stream()
                        .flatMap(voter ->
                                Optional.ofNullable(last.found().answering().get(voter.id())).stream())
                        .toList();
        return healthy.isEmpty() ? allEndpoints(last) : healthy;
    }

    private List<Endpoint> allEndpoints(@Nullable Seen last) {
        Stream<Endpoint> found = last == null ? Stream.of() : last.found().endpoints().stream();
        return Stream.concat(seeds.stream(), found).distinct().toList();
    }

    /** Returns the endpoint at which the member responded in the last observation, else its first listed one. */
    public Optional<Endpoint> endpointOf(MemberId member) {
        return Optional.ofNullable(seen)
                .flatMap(last -> last.found().endpointOf(member, seeds.get(0).tls()));
    }

    /**
     * Further endpoints, for members that the configured endpoints do not lead to.
     *
     * <p>Only the configuration assigns them to the cluster, and another one may have been started there. So they count
     * only if enough voters of one cluster respond there.
     *
     * @param voters that have to be healthy there and to confirm the member list
     */
    public record FallbackEndpoints(List<Endpoint> endpoints, int voters) {

        /** A single voter may be another cluster. */
        private static final int LEAST_VOTERS = 2;

        public static final FallbackEndpoints NOWHERE = new FallbackEndpoints(List.of(), LEAST_VOTERS);

        public FallbackEndpoints {
            endpoints = List.copyOf(endpoints);
        }

        /** Accepts a single voter, all that a recovery leaves; its operator confirms each step. */
        public FallbackEndpoints acceptingOneVoter() {
            return new FallbackEndpoints(endpoints, 1);
        }

        /** Returns endpoints of which a majority of that many voters must respond. */
        public static FallbackEndpoints ofMost(List<Endpoint> endpoints, int voters) {
            return new FallbackEndpoints(endpoints, Math.max(voters / 2 + 1, LEAST_VOTERS));
        }

        boolean isKnown() {
            return !endpoints.isEmpty();
        }

        boolean has(ClusterFactsBuilder facts) {
            return facts.isConfirmed() && facts.healthyVotersAt(endpoints) >= voters;
        }

        @Override
        public String toString() {
            return endpoints.toString();
        }
    }
}
