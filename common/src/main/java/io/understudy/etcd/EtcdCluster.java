package io.understudy.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import io.etcd.jetcd.api.KVGrpc;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.Channels.NetworkThread;
import io.understudy.etcd.EndpointChoice.Setbacks;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import io.understudy.vocabulary.KeyRange;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One etcd cluster: its members, connections to them, and the endpoints for each duty.
 *
 * <p>Thread-safe; only {@link #close} waits for the network.
 */
public final class EtcdCluster implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdCluster.class);

    /** A restart of the only member, or a busy machine, may take as long. */
    private static final Duration SHORT_OUTAGE = Duration.ofSeconds(2);

    private static final int SHOWN_FAILURES = 3;

    /** A member that exceeds this deadline has failed. One that exceeds a shorter deadline may only be busy. */
    private static final Duration FAIR_DEADLINE = Duration.ofMillis(200);

    /** A member that is silent for this time comes after the others, although its answer still counts. */
    private static final Duration SILENCE = Duration.ofSeconds(1);

    private final EtcdSettings settings;
    private final Clock clock = Clock.systemUTC();
    private final EndpointChoice choice =
            new EndpointChoice(ThreadLocalRandom.current().nextInt());
    private final ViewLog changes;
    private final TlsContext tls;
    private final NetworkThread network;
    private final Channels channels;
    /** Channels with a certificate without common name; the same where no certificate is sent. */
    private final Channels nameless;
    /** Likewise, for calls that must not share a connection with others: those of clients, or of an election. */
    private final Channels forwarded;

    private final @Nullable TlsContext namelessTls;
    private final @Nullable Login login;
    private final KeptConnections<Integer> pages;
    private final KeptConnections<byte[]> ranges;
    private final EtcdMetrics metrics;
    private final ClusterProbe probe;
    private final ReadIndexAttempts attempts;
    private final ReadIndexQueue readIndexes = new ReadIndexQueue(this::readIndexRound);
    /** Replaced under this object's lock. */
    private volatile Setbacks setbacks = Setbacks.NONE;

    private volatile ClusterView view;
    private volatile @Nullable LeaderLoss leaderLoss;

    /** Null while an endpoint responds. */
    private volatile @Nullable Outage outage;

    private volatile @Nullable ReadIndex lastReadIndex;

    private final Set<Consumer<Member>> onUnreachable = ConcurrentHashMap.newKeySet();

    private record Outage(Instant since, String why) {}

    private EtcdCluster(
            EtcdSettings settings,
            KeyRange readable,
            @Nullable ByteString key,
            @Nullable TlsFiles forOthers,
            MeterRegistry meters) {
        this.settings = settings;
        this.view = ClusterView.initial(settings.seeds());
        this.changes = new ViewLog(settings.name());
        boolean shown = forOthers != null && forOthers.certificate() != null;
        this.namelessTls = shown ? TlsContext.nameless(settings.name() + "-clients", forOthers, meters) : null;
        this.tls = TlsContext.of(settings.name(), settings.tls(), meters);
        this.network = NetworkThread.start(settings.name());
        this.channels = new Channels(network, settings.requestTimeout(), tls);
        this.nameless = namelessTls == null ? channels : new Channels(network, settings.requestTimeout(), namelessTls);
        this.forwarded = new Channels(network, settings.requestTimeout(), namelessTls == null ? tls : namelessTls);
        this.pages = new KeptConnections<>(network, new HttpStatuses(tls), settings.requestTimeout());
        this.ranges = new KeptConnections<>(
                network, new UnaryCalls(tls, KVGrpc.getRangeMethod().getFullMethodName()), settings.requestTimeout());
        this.metrics = new EtcdMetrics(meters, settings.name(), this::view);
        this.login = Login.of(settings, () -> endpointsFor(Duty.WRITE), channels::get, metrics::login);
        this.attempts = new ReadIndexAttempts(
                this::channel,
                pages,
                login == null ? ranges : null,
                key == null ? readable : KeyRange.single(key),
                key != null,
                this::view);
        this.probe = new ClusterProbe(
                settings,
                channels,
                this::channel,
                new MemberLook(this::channel, new HttpPages(tls, settings.requestTimeout()), readable),
                metrics,
                this::publish,
                this::recovered);
    }

    /**
     * Starts connecting and returns at once. {@link #view} shows which members respond.
     *
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public static EtcdCluster connect(EtcdSettings settings, MeterRegistry meters) {
        return connect(settings, KeyRange.all(), meters);
    }

    /**
     * As {@link #connect(EtcdSettings, MeterRegistry)}, for a login with limited permissions.
     *
     * @param readable keys that the {@linkplain EtcdSettings#login login} may read: a read index reads the first
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public static EtcdCluster connect(EtcdSettings settings, KeyRange readable, MeterRegistry meters) {
        return started(new EtcdCluster(settings, readable, null, null, meters));
    }

    /**
     * Likewise, for a process that also forwards calls of its clients.
     *
     * @param forOthers of the {@linkplain #forwardedChannel connections} for such calls
     * @throws io.understudy.tls.TlsFileException also if their certificate has a common name
     */
    public static EtcdCluster connectForOthers(
            EtcdSettings settings, KeyRange readable, @Nullable TlsFiles forOthers, MeterRegistry meters) {
        return started(new EtcdCluster(settings, readable, null, forOthers, meters));
    }

    /**
     * Likewise, with a key that each read index reads in the same call.
     *
     * @param key with a small value, which the login may read
     */
    public static EtcdCluster connectReading(
            EtcdSettings settings,
            KeyRange readable,
            ByteString key,
            @Nullable TlsFiles forOthers,
            MeterRegistry meters) {
        return started(new EtcdCluster(settings, readable, key, forOthers, meters));
    }

    private static EtcdCluster started(EtcdCluster cluster) {
        cluster.probe.start();
        return cluster;
    }

    public EtcdSettings settings() {
        return settings;
    }

    /** TLS of other connections to its members; closed with this object. */
    public TlsContext tls() {
        return tls;
    }

    /** The current view. */
    public ClusterView view() {
        return view;
    }

    /**
     * Registers a listener of members that stop responding to probes. It must not block.
     *
     * @return removes it
     */
    public Runnable whenUnreachable(Consumer<Member> listener) {
        onUnreachable.add(listener);
        return () -> onUnreachable.remove(listener);
    }

    /** Returns which endpoints fail and why, if none has responded for two seconds; null otherwise. */
    public @Nullable String unreachable() {
        Outage present = outage;
        return present == null || clock.instant().isBefore(present.since().plus(SHORT_OUTAGE)) ? null : present.why();
    }

    /**
     * The endpoints for {@code duty}, best first: those with the least cost to voters. Endpoints that failed recently,
     * or don't respond, come last. Those that can't serve the duty are left out.
     *
     * @return empty only when no endpoint at all may be used, see {@link ClusterView#foreign}
     */
    public List<Endpoint> endpointsFor(Duty duty) {
        return choice.order(view, duty, setbacks, clock.instant());
    }

    /** Whether the leader was lost so recently that followers may still follow it. */
    public boolean isLeaderLost() {
        return lostLeader().isPresent();
    }

    /**
     * Endpoints for a write that no member has received, best first. While {@linkplain #isLeaderLost the leader is
     * lost}, these are its own endpoints only, and none if it does not respond to probes.
     */
    public List<Endpoint> endpointsForUnsentWrite() {
        List<Endpoint> all = endpointsFor(Duty.WRITE);
        return lostLeader()
                .map(lost -> all.stream()
                        .filter(endpoint -> lost.health() != Health.UNREACHABLE
                                && lost.endpoints().contains(endpoint))
                        .toList())
                .orElse(all);
    }

    private Optional<Member> lostLeader() {
        LeaderLoss loss = leaderLoss;
        return loss == null ? Optional.empty() : loss.in(view, clock.instant());
    }

    /** Records the loss of a leader once. If only this process cannot reach it, writes wait once. */
    private void lost(Member leader) {
        LeaderLoss loss = leaderLoss;
        if (loss == null || !loss.leader().equals(leader.id())) {
            leaderLoss = new LeaderLoss(leader.id(), clock.instant());
            probe.hurry();
        }
    }

    /** Why no member can be watched, regardless of recoveries; empty if one may. */
    public Optional<String> watchProblem() {
        ClusterView now = view;
        boolean any = now.members().isEmpty() || !now.unidentified().isEmpty();
        return any || !endpointsFor(Duty.WATCH).isEmpty()
                ? Optional.empty()
                : Optional.of(settings.name() + ".endpoints lead to learners only, which serve no watches: "
                        + settings.endpoints() + "; add the client URL of a voting member");
    }

    /**
     * The shared connection to an endpoint, with the {@linkplain EtcdSettings#login user} of the settings. Calls
     * require a deadline or timely cancellation. After the endpoint has left the cluster, it is closed and calls fail
     * as unavailable.
     */
    public Channel channel(Endpoint endpoint) {
        return withLogin(channels.get(endpoint));
    }

    /**
     * As {@link #channel}, but another connection, so that calls do not queue behind copied data. Not for a process that
     * also forwards calls of its clients: its other connections present another certificate.
     */
    public Channel separateChannel(Endpoint endpoint) {
        return withLogin(forwarded.get(endpoint));
    }

    private Channel withLogin(Channel channel) {
        return login == null ? channel : ClientInterceptors.intercept(channel, login);
    }

    /**
     * As {@link #channel}, but without a user, for calls with a client's token. With a client certificate this requires
     * {@link #connectForOthers}.
     */
    public Channel bareChannel(Endpoint endpoint) {
        return nameless.get(endpoint);
    }

    /** As {@link #bareChannel}, but another connection, for calls of clients. The first call establishes it. */
    public Channel forwardedChannel(Endpoint endpoint) {
        return forwarded.get(endpoint);
    }

    /** Clears the earlier failures of the endpoint at the duty. */
    public void reportSuccess(Endpoint endpoint, Duty duty) {
        if (duty == Duty.WRITE && leaderLoss != null && leads(endpoint)) {
            leaderLoss = null;
        }
        update(before -> before.succeeded(endpoint, duty));
        metrics.request(duty, EtcdMetrics.OK);
    }

    /**
     * Moves the endpoint to the end for a while, longer after each further failure. Failures that are not its fault do
     * not count.
     *
     * @return the classified failure
     */
    public EtcdFailure reportFailure(Endpoint endpoint, Duty duty, Throwable failure) {
        EtcdFailure understood = EtcdErrors.classify(duty, failure);
        report(endpoint, duty, understood);
        return understood;
    }

    /**
     * Records a failure without a gRPC status, such as a stalled stream.
     *
     * @param reason for the log
     */
    public void reportFailure(Endpoint endpoint, Duty duty, String reason) {
        report(endpoint, duty, new EtcdFailure(EtcdError.OTHER, Remedy.ELSEWHERE, Status.Code.UNAVAILABLE, reason));
    }

    private void report(Endpoint endpoint, Duty duty, EtcdFailure understood) {
        if (understood.remedy() == Remedy.ELSEWHERE || understood.remedy() == Remedy.OUTCOME_UNKNOWN) {
            setBack(endpoint, duty);
        }
        metrics.request(duty, EtcdMetrics.spelled(understood.remedy()));
        LOG.atDebug()
                .addKeyValue("cluster", settings.name())
                .addKeyValue("endpoint", endpoint)
                .addKeyValue("duty", duty)
                .addKeyValue("remedy", understood.remedy())
                .addKeyValue("cause", understood)
                .log("request failed");
    }

    /**
     * A revision confirmed by a quorum after this call, at the least cost. Callers that arrive during a round share the
     * next one.
     *
     * @param deadline for everything together
     * @return fails with an {@link EtcdUnavailableException} if no member confirmed one in time; completed on a thread
     *     of this cluster, which must not be blocked
     */
    public CompletableFuture<ReadIndex> readIndex(Duration deadline) {
        return readIndexes.submit(deadline);
    }

    /**
     * Sends a separate round at once, for a caller that batches requests itself. Otherwise as {@link #readIndex}.
     *
     * @param deadline of the round; a short one is not counted against members that miss it
     */
    public CompletableFuture<ReadIndex> readIndexRound(Duration deadline) {
        return ReadIndexRound.run(
                () -> endpointsFor(Duty.READ_INDEX),
                (endpoint, left) -> readIndexAttempt(endpoint, left, true),
                deadline,
                network.loop());
    }

    /**
     * Sends a separate round for a single urgent request. A learner comes after the healthy others, since it requires
     * two new connections. Otherwise as {@link #readIndexRound}.
     */
    public CompletableFuture<ReadIndex> readIndexSoonest(Duration deadline) {
        return ReadIndexRound.run(
                this::thoseAtHandFirst,
                (endpoint, left) -> readIndexAttempt(endpoint, left, false),
                deadline,
                network.loop());
    }

    private List<Endpoint> thoseAtHandFirst() {
        ClusterView now = view;
        return endpointsFor(Duty.READ_INDEX).stream()
                .sorted(Comparator.comparing(endpoint -> !isAtHand(now, endpoint)))
                .toList();
    }

    private static boolean isAtHand(ClusterView view, Endpoint endpoint) {
        return view.memberAt(endpoint)
                .filter(member -> member.role() != Role.LEARNER && member.health() == Health.HEALTHY)
                .isPresent();
    }

    /**
     * Small calls of one method to any endpoint, made by the waiting thread. The caller must close it before this
     * object.
     *
     * @return empty with a {@linkplain EtcdSettings#login login}
     */
    public <Q extends MessageLite, A> Optional<DirectCalls<Q, A>> directCalls(MethodDescriptor<Q, A> method) {
        return login == null ? Optional.of(new DirectCalls<>(tls, method)) : Optional.empty();
    }

    /** The last confirmed revision and its member; empty before the first. A partitioned member confirms none. */
    public Optional<ReadIndex> lastReadIndex() {
        return Optional.ofNullable(lastReadIndex);
    }

    /**
     * The thread that receives this cluster's responses, for timers that wake no other thread. Must not be blocked;
     * rejects work once the cluster is closed.
     */
    public ScheduledExecutorService thread() {
        return network.loop();
    }

    private CompletableFuture<ReadIndex> readIndexAttempt(Endpoint endpoint, Duration deadline, boolean moreFollow) {
        Role role = view.memberAt(endpoint).map(Member::role).orElse(Role.VOTER);
        long began = System.nanoTime();
        CompletableFuture<ReadIndex> attempt = attempts.at(endpoint, deadline, moreFollow);
        Future<?> silence = network.loop()
                .schedule(
                        () -> reportFailure(endpoint, Duty.READ_INDEX, "no response for " + SILENCE.toSeconds() + " s"),
                        SILENCE.toMillis(),
                        TimeUnit.MILLISECONDS);
        Calls.whenDone(attempt, (index, failure) -> {
            boolean unused = silence.cancel(false);
            Duration took = Duration.ofNanos(System.nanoTime() - began);
            // Otherwise it was reported as failed, and stays behind the others.
            boolean inTime = took.compareTo(SILENCE) < 0;
            if (failure == null) {
                lastReadIndex = index;
                if (inTime) {
                    reportSuccess(endpoint, Duty.READ_INDEX);
                }
                metrics.readIndex(role, took, EtcdMetrics.OK);
            } else if (failure instanceof ReadIndexAttempts.UnidentifiedException
                    || (deadline.compareTo(FAIR_DEADLINE) < 0 && took.compareTo(deadline) >= 0)) {
                // Not the member's fault, or the deadline was too short to judge.
                metrics.readIndex(role, took, EtcdMetrics.FAILED);
            } else {
                if (inTime) {
                    reportFailure(endpoint, Duty.READ_INDEX, FailureText.of(failure));
                }
                metrics.readIndex(role, took, EtcdMetrics.FAILED);
            }
        });
        return attempt;
    }

    private synchronized void update(UnaryOperator<Setbacks> change) {
        setbacks = change.apply(setbacks);
    }

    private boolean leads(Endpoint endpoint) {
        return view.leader()
                .filter(leader -> leader.endpoints().contains(endpoint))
                .isPresent();
    }

    private void setBack(Endpoint endpoint, Duty duty) {
        if (duty == Duty.WRITE && leads(endpoint)) {
            view.leader().ifPresent(this::lost);
        }
        update(before -> before.failed(endpoint, duty, clock.instant()));
    }

    private void publish(ClusterView next, Function<Endpoint, @Nullable String> why) {
        ClusterView before = view;
        view = next;
        changes.changed(before, next, why);
        LeaderLoss loss = leaderLoss;
        if (loss != null && loss.isOver(next, clock.instant())) {
            leaderLoss = null;
        }
        next.leader().filter(leader -> leader.health() == Health.UNREACHABLE).ifPresent(this::lost);
        next.members().stream()
                .filter(member -> member.health() == Health.UNREACHABLE)
                .filter(member -> before.member(member.id())
                        .filter(same -> same.health() != Health.UNREACHABLE)
                        .isPresent())
                .forEach(member -> onUnreachable.forEach(listener -> listener.accept(member)));
        Outage former = outage;
        String failures = failures(next, why);
        outage = failures == null ? null : new Outage(former == null ? clock.instant() : former.since(), failures);
        // The probe sees to the others.
        Set<Endpoint> known = new HashSet<>(next.unidentified());
        next.members().forEach(member -> known.addAll(member.endpoints()));
        for (Channels each : namelessTls == null ? List.of(forwarded) : List.of(nameless, forwarded)) {
            each.retain(known);
            known.forEach(each::reconnect);
        }
    }

    /** Null if an endpoint responds, or none was probed. */
    private static @Nullable String failures(ClusterView view, Function<Endpoint, @Nullable String> why) {
        boolean responds = view.members().stream()
                .map(Member::health)
                .anyMatch(health -> health == Health.HEALTHY || health == Health.LEADERLESS);
        List<String> failures = responds
                ? List.of()
                : Stream.concat(
                                view.members().stream().flatMap(member -> member.endpoints().stream()),
                                view.unidentified().stream())
                        .filter(endpoint -> why.apply(endpoint) != null)
                        .map(endpoint -> endpoint + ": " + why.apply(endpoint))
                        .distinct()
                        .limit(SHOWN_FAILURES)
                        .toList();
        return failures.isEmpty() ? null : "no endpoint reachable; " + String.join("; ", failures);
    }

    private void recovered(Endpoint endpoint) {
        update(before -> before.forgive(endpoint));
    }

    /** Ends every call and connection; waits a few seconds at most. Idempotent. */
    @Override
    public void close() {
        probe.close();
        metrics.close();
        channels.close();
        nameless.close();
        forwarded.close();
        if (namelessTls != null) {
            namelessTls.close();
        }
        pages.close();
        ranges.close();
        network.close();
        tls.close();
    }
}
