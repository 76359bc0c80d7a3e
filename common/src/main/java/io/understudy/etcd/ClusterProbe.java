package io.understudy.etcd;

import io.etcd.jetcd.api.ClusterGrpc;
import io.etcd.jetcd.api.MemberListRequest;
import io.etcd.jetcd.api.MemberListResponse;
import io.grpc.Channel;
import io.understudy.etcd.EndpointChoice.Setbacks;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.DaemonThreads;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Probes every endpoint and the member list periodically, and publishes a view.
 *
 * <p>Each endpoint has at most one probe under way; none waits for another, so a stalled member delays no other. All
 * state belongs to one thread, to which responses are dispatched.
 *
 * <p>Invariant E3: roles, leader and health are tracked through kills, stalls and lost links, and a stalled member
 * delays no other.
 *
 * <p>Invariant E4: changes of the member list are followed, and configured endpoints remain usable for discovery.
 */
final class ClusterProbe implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterProbe.class);

    /** Factor by which failed endpoints are probed more often, for {@link #HURRIED_PROBES} probes. */
    private static final int HURRY = 5;

    private static final int HURRIED_PROBES = 50;

    /** Limit of hurried probes, since each probe rebuilds the view. */
    private static final int MOST_HURRIED = 8;

    private final EtcdSettings settings;
    private final Channels channels;
    private final Function<Endpoint, Channel> calls;
    private final MemberLook look;
    private final EtcdMetrics metrics;
    private final Published published;
    private final Consumer<Endpoint> recovered;
    private final List<Endpoint> seeds;
    private final Duration timeout;
    private final ScheduledExecutorService thread;

    // Of the one thread.
    private final Map<Endpoint, Observation> observations = new LinkedHashMap<>();
    private final Set<Endpoint> underWay = new HashSet<>();
    private final Set<Endpoint> soon = new HashSet<>();
    private @Nullable ClusterId cluster;
    private @Nullable MemberList list;
    private boolean listUnderWay;
    private int listFailures;
    /** Whether the list may be requested again; once per probe interval. */
    private boolean listDue;
    /** Raft index applied at least when the list was requested; -1 if unknown. */
    private long listedAt = -1;

    /** Receives each new view, on the probe's thread. */
    @FunctionalInterface
    interface Published {
        /**
         * Accepts the view.
         *
         * @param why failure of an endpoint's last probe, null if none; valid during the call
         */
        void accept(ClusterView view, Function<Endpoint, @Nullable String> why);
    }

    /**
     * Probes nothing until {@link #start}.
     *
     * @param channels all connections, of which those not needed any more are closed
     * @param calls those on which calls are made
     * @param published receives each new view
     * @param recovered receives endpoints that answer again
     */
    ClusterProbe(
            EtcdSettings settings,
            Channels channels,
            Function<Endpoint, Channel> calls,
            MemberLook look,
            EtcdMetrics metrics,
            Published published,
            Consumer<Endpoint> recovered) {
        this.settings = settings;
        this.channels = channels;
        this.calls = calls;
        this.look = look;
        this.metrics = metrics;
        this.published = published;
        this.recovered = recovered;
        this.seeds = settings.seeds();
        this.timeout = timeout(settings);
        this.thread = Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("etcd-probe-" + settings.name()));
    }

    void start() {
        long pause = settings.probeInterval().toNanos();
        ScheduledFuture<?> unused =
                thread.scheduleWithFixedDelay(guarded(this::probeAll), 0, pause, TimeUnit.NANOSECONDS);
    }

    /** Probes all members now. Any thread. */
    void hurry() {
        try {
            thread.execute(guarded(() -> List.copyOf(observations.keySet()).forEach(this::probe)));
        } catch (RejectedExecutionException e) {
            LOG.atTrace().addKeyValue("cluster", settings.name()).log("probes not hurried: closed");
        }
    }

    /** Two probe intervals, at least a second and at most the request timeout. */
    private static Duration timeout(EtcdSettings settings) {
        Duration wanted = settings.probeInterval().multipliedBy(2);
        Duration least = Duration.ofSeconds(1);
        Duration longest = wanted.compareTo(least) < 0 ? least : wanted;
        return longest.compareTo(settings.requestTimeout()) < 0 ? longest : settings.requestTimeout();
    }

    private void probeAll() {
        Set<Endpoint> wanted = ViewBuilder.endpoints(seeds, settings.discovery(), list);
        observations.keySet().retainAll(wanted);
        channels.retain(wanted);
        look.retain(wanted);
        for (Endpoint endpoint : wanted) {
            observations.putIfAbsent(endpoint, Observation.NONE);
            probe(endpoint);
        }
        listDue = true;
        requestMemberList();
    }

    private void probe(Endpoint endpoint) {
        if (!underWay.add(endpoint)) {
            return;
        }
        long began = System.nanoTime();
        CompletableFuture<Observation.Facts> looked = Calls.attempt(() -> {
            channels.reconnect(endpoint);
            return look.at(endpoint, timeout);
        });
        onThread(looked, (facts, failure) -> {
            underWay.remove(endpoint);
            metrics.probe(
                    Duration.ofNanos(System.nanoTime() - began), failure == null ? EtcdMetrics.OK : EtcdMetrics.FAILED);
            probed(endpoint, facts, failure);
        });
    }

    /** Schedules an early probe, so that waiting callers soon see a member's return. */
    private void probeSoon(Endpoint endpoint) {
        if (soon.size() >= MOST_HURRIED || !soon.add(endpoint)) {
            return;
        }
        Runnable again = guarded(() -> {
            soon.remove(endpoint);
            if (observations.containsKey(endpoint)) {
                probe(endpoint);
            }
        });
        try {
            ScheduledFuture<?> unused =
                    thread.schedule(again, settings.probeInterval().toNanos() / HURRY, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            LOG.atTrace()
                    .addKeyValue("cluster", settings.name())
                    .addKeyValue("endpoint", endpoint)
                    .log("probe not rescheduled: closed");
        }
    }

    private void probed(Endpoint endpoint, Observation.@Nullable Facts facts, @Nullable Throwable failure) {
        Observation before = observations.get(endpoint);
        if (before == null) {
            // Its member left the cluster while the probe was under way.
            return;
        }
        Observation after = facts != null
                ? before.answered(facts)
                : before.failed(failure == null ? "no response" : FailureText.of(failure));
        observations.put(endpoint, after);
        if (before.health() != after.health()) {
            boolean recovers = before.health() == Health.UNREACHABLE;
            LOG.atLevel(after.health() == Health.UNREACHABLE ? Level.WARN : recovers ? Level.INFO : Level.DEBUG)
                    .addKeyValue("cluster", settings.name())
                    .addKeyValue("endpoint", endpoint)
                    .addKeyValue("from", before.health())
                    .addKeyValue("to", after.health())
                    .addKeyValue("cause", after.why() == null ? "responded" : after.why())
                    .log("endpoint health changed");
        }
        if (before.health() == Health.UNREACHABLE && after.answers()) {
            recovered.accept(endpoint);
        }
        if (cluster == null) {
            cluster = ViewBuilder.settle(seeds, observations).orElse(null);
        }
        ClusterView view = publish();
        if (after.health() == Health.UNREACHABLE && after.failures() <= HURRIED_PROBES) {
            // The others report the next leader.
            boolean leads = view.leader()
                    .filter(leader -> leader.endpoints().contains(endpoint))
                    .isPresent();
            probeSoon(endpoint);
            if (leads) {
                List.copyOf(observations.keySet()).forEach(this::probeSoon);
            }
        }
        requestMemberList();
    }

    /**
     * Requests the member list from the leader, else from the voters in turn. A learner rejects it. A gateway would
     * serve it, but a client configured with gateways only must not bypass them. Each change of the list is a Raft
     * entry, so the list is requested again only after another one was applied.
     */
    private void requestMemberList() {
        if (listUnderWay || cluster == null || (list != null && (!listDue || isListCurrent()))) {
            return;
        }
        ClusterView view = view();
        List<Endpoint> voters = new EndpointChoice(0)
                .order(view, Duty.WRITE, Setbacks.NONE, Instant.EPOCH).stream()
                        .filter(endpoint -> view.memberAt(endpoint)
                                .map(Member::role)
                                .filter(Role.GATEWAY::equals)
                                .isEmpty())
                        .filter(endpoint -> observations
                                .getOrDefault(endpoint, Observation.NONE)
                                .answers())
                        .toList();
        if (voters.isEmpty()) {
            return;
        }
        Endpoint voter = voters.get(listFailures % voters.size());
        listUnderWay = true;
        listDue = false;
        long applied = observations.getOrDefault(voter, Observation.NONE).applied();
        CompletableFuture<MemberListResponse> answer = Calls.attempt(() -> Calls.unary(
                calls.apply(voter),
                ClusterGrpc.getMemberListMethod(),
                MemberListRequest.getDefaultInstance(),
                timeout));
        onThread(answer, (members, failure) -> {
            listUnderWay = false;
            listed(voter, applied, members, failure);
        });
    }

    private boolean isListCurrent() {
        return listedAt >= 0
                && observations.values().stream()
                        .filter(Observation::answers)
                        .allMatch(seen -> seen.applied() == listedAt);
    }

    private void listed(
            Endpoint voter, long applied, @Nullable MemberListResponse answer, @Nullable Throwable failure) {
        if (answer == null || answer.getHeader().getClusterId() != cluster().value()) {
            listFailures++;
            listedAt = -1;
            LOG.atDebug()
                    .addKeyValue("cluster", settings.name())
                    .addKeyValue("endpoint", voter)
                    .addKeyValue("cause", String.valueOf(failure))
                    .log("member list failed");
            return;
        }
        listFailures = 0;
        listedAt = applied;
        MemberList now = MemberList.of(answer, seeds.get(0).tls());
        if (!now.equals(list)) {
            list = now;
            // What is new is looked at right away.
            probeAll();
            publish();
        }
    }

    private ClusterId cluster() {
        ClusterId known = cluster;
        if (known == null) {
            throw new IllegalStateException("member list requested before the cluster is identified");
        }
        return known;
    }

    private ClusterView view() {
        return new ViewBuilder(seeds, settings.discovery(), observations, list, cluster).build();
    }

    private ClusterView publish() {
        ClusterView view = view();
        published.accept(view, endpoint -> observations
                .getOrDefault(endpoint, Observation.NONE)
                .why());
        return view;
    }

    private <T> void onThread(CompletableFuture<T> future, BiConsumer<@Nullable T, @Nullable Throwable> then) {
        Calls.whenDone(future, (result, failure) -> {
            try {
                thread.execute(guarded(() -> then.accept(result, failure)));
            } catch (RejectedExecutionException e) {
                LOG.atTrace().addKeyValue("cluster", settings.name()).log("response ignored: closed");
            }
        });
    }

    /** Logs a failure of the task, which would otherwise end the periodic probes silently. */
    private Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException e) {
                LOG.atError()
                        .addKeyValue("cluster", settings.name())
                        .setCause(e)
                        .log("probe failed");
            }
        };
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
