package io.understudy.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import io.etcd.jetcd.api.KVGrpc;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.MethodDescriptor;
import io.micrometer.core.instrument.MeterRegistry;
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
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One etcd cluster: its members, connections to them, and which of them to ask for what.
 *
 * <p>All methods may be called from any thread; none waits for the network except {@link #close}.
 */
public final class EtcdCluster implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdCluster.class);

    /** A restart of the only member, or a busy machine, may take as long. */
    private static final Duration SHORT_OUTAGE = Duration.ofSeconds(2);

    private static final int SHOWN_FAILURES = 3;

    /** Who does not answer within it is in trouble, rather than asked for too much. */
    private static final Duration FAIR_DEADLINE = Duration.ofMillis(200);

    private final EtcdSettings settings;
    private final Clock clock = Clock.systemUTC();
    private final EndpointChoice choice =
            new EndpointChoice(ThreadLocalRandom.current().nextInt());
    private final ViewLog changes;
    private final TlsContext tls;
    private final NetworkThread network;
    private final Channels channels;
    /** Without a name in their certificate; the same where no certificate is shown. */
    private final Channels nameless;

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
    /** Null while an endpoint responds. */
    private volatile @Nullable Outage outage;

    private volatile @Nullable ReadIndex lastReadIndex;

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
     * Begins to connect; returns at once. Whether anyone answers shows in {@link #view}.
     *
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public static EtcdCluster connect(EtcdSettings settings, MeterRegistry meters) {
        return connect(settings, KeyRange.all(), meters);
    }

    /**
     * Begins to connect; returns at once. Whether anyone answers shows in {@link #view}.
     *
     * @param readable what the {@linkplain EtcdSettings#login login} may read at least, or a part of it: a read index is
     *     asked for by the name of its first key
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public static EtcdCluster connect(EtcdSettings settings, KeyRange readable, MeterRegistry meters) {
        return started(new EtcdCluster(settings, readable, null, null, meters));
    }

    /**
     * Likewise, for who also passes calls on for others.
     *
     * @param forOthers of the {@linkplain #bareChannel connections} for such calls
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

    /** For connections to its members beside those of this object, which closes it. */
    public TlsContext tls() {
        return tls;
    }

    /** What is known now. */
    public ClusterView view() {
        return view;
    }

    /** Returns which endpoints fail and why, if none has responded for two seconds; null otherwise. */
    public @Nullable String unreachable() {
        Outage present = outage;
        return present == null || clock.instant().isBefore(present.since().plus(SHORT_OUTAGE)) ? null : present.why();
    }

    /**
     * Whom to ask for {@code duty}, best first: those that serve it at the least cost to the voters, then the others;
     * endpoints that failed recently, or don't answer, come last. Endpoints that can't serve the duty are left out.
     *
     * @return empty only when no endpoint at all may be used, see {@link ClusterView#foreign}
     */
    public List<Endpoint> endpointsFor(Duty duty) {
        return choice.order(view, duty, setbacks, clock.instant());
    }

    /** Why no member can be watched, whatever member recovers; empty if one may. */
    public Optional<String> watchProblem() {
        ClusterView now = view;
        boolean any = now.members().isEmpty() || !now.unidentified().isEmpty();
        return any || !endpointsFor(Duty.WATCH).isEmpty()
                ? Optional.empty()
                : Optional.of(settings.name() + ".endpoints lead to learners only, which serve no watches: "
                        + settings.endpoints() + "; add the client URL of a voting member");
    }

    /**
     * The connection to an endpoint, shared by all callers; calls on it need deadlines, or callers who give up in time, and
     * are made as the {@linkplain EtcdSettings#login user} of the settings. Closed some time after the endpoint left the
     * cluster: calls then fail as unavailable.
     */
    public Channel channel(Endpoint endpoint) {
        Channel channel = channels.get(endpoint);
        return login == null ? channel : ClientInterceptors.intercept(channel, login);
    }

    /**
     * As {@link #channel}, but calls are made in nobody's name: for those that are passed on for somebody else, and carry his
     * token or none. Where a certificate is shown that needs {@link #connectForOthers}.
     */
    public Channel bareChannel(Endpoint endpoint) {
        return nameless.get(endpoint);
    }

    /** The endpoint did what it was asked for: whatever it failed at before is forgiven. */
    public void reportSuccess(Endpoint endpoint, Duty duty) {
        update(before -> before.succeeded(endpoint, duty));
        metrics.request(duty, EtcdMetrics.OK);
    }

    /**
     * The endpoint failed at the duty; it moves to the end for a while, longer with each failure in a row, unless the
     * failure says nothing against it.
     *
     * @return what the failure means
     */
    public EtcdFailure reportFailure(Endpoint endpoint, Duty duty, Throwable failure) {
        EtcdFailure understood = EtcdErrors.classify(duty, failure);
        boolean againstEndpoint =
                understood.remedy() == Remedy.ELSEWHERE || understood.remedy() == Remedy.OUTCOME_UNKNOWN;
        if (againstEndpoint) {
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
        return understood;
    }

    /**
     * The endpoint failed at the duty in a way that no status tells, such as a stream that fell silent.
     *
     * @param reason for the log
     */
    public void reportFailure(Endpoint endpoint, Duty duty, String reason) {
        setBack(endpoint, duty);
        metrics.request(duty, EtcdMetrics.spelled(Remedy.ELSEWHERE));
        LOG.atDebug()
                .addKeyValue("cluster", settings.name())
                .addKeyValue("endpoint", endpoint)
                .addKeyValue("duty", duty)
                .addKeyValue("cause", reason)
                .log("request failed");
    }

    /**
     * A revision confirmed by a quorum after this call, by the cheapest way there is. Callers that come while a round is
     * under way share the next one.
     *
     * @param deadline for everything together
     * @return fails with an {@link EtcdUnavailableException} if nobody could confirm one in time; completed on a thread
     *     of this cluster, which must not be held up
     */
    public CompletableFuture<ReadIndex> readIndex(Duration deadline) {
        return readIndexes.submit(deadline);
    }

    /**
     * A round of its own, sent at once, for who gathers those that share it. Otherwise as {@link #readIndex}.
     *
     * @param deadline of the round; a short one is not held against those who don't keep it
     */
    public CompletableFuture<ReadIndex> readIndexRound(Duration deadline) {
        return ReadIndexRound.run(
                () -> endpointsFor(Duty.READ_INDEX), this::readIndexAttempt, deadline, network.loop());
    }

    /**
     * A round of its own, for who asks once and soon: a learner is asked after the healthy others, who answer over the
     * connection that is there, since it would need two made first. Otherwise as {@link #readIndexRound}.
     */
    public CompletableFuture<ReadIndex> readIndexSoonest(Duration deadline) {
        return ReadIndexRound.run(this::thoseAtHandFirst, this::readIndexAttempt, deadline, network.loop());
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
     * Small calls of one method to any endpoint, made by the thread that waits for them. The caller's to close, before
     * this object.
     *
     * @return empty where calls are made in a {@linkplain EtcdSettings#login user's} name
     */
    public <Q extends MessageLite, A> Optional<DirectCalls<Q, A>> directCalls(MethodDescriptor<Q, A> method) {
        return login == null ? Optional.of(new DirectCalls<>(tls, method)) : Optional.empty();
    }

    /** What was confirmed last, and by whom; empty before the first. Whoever can't reach the others has no part in it. */
    public Optional<ReadIndex> lastReadIndex() {
        return Optional.ofNullable(lastReadIndex);
    }

    /**
     * The thread on which the answers of this cluster come, for timers around them: what such a timer sends wakes no other
     * thread. Must not be held up; refuses work once the cluster is closed.
     */
    public ScheduledExecutorService thread() {
        return network.loop();
    }

    private CompletableFuture<ReadIndex> readIndexAttempt(Endpoint endpoint, Duration deadline) {
        Role role = view.memberAt(endpoint).map(Member::role).orElse(Role.VOTER);
        long began = System.nanoTime();
        CompletableFuture<ReadIndex> attempt = attempts.at(endpoint, deadline);
        Calls.whenDone(attempt, (index, failure) -> {
            Duration took = Duration.ofNanos(System.nanoTime() - began);
            if (failure == null) {
                lastReadIndex = index;
                reportSuccess(endpoint, Duty.READ_INDEX);
                metrics.readIndex(role, took, EtcdMetrics.OK);
            } else if (failure instanceof ReadIndexAttempts.UnidentifiedException
                    || (deadline.compareTo(FAIR_DEADLINE) < 0 && took.compareTo(deadline) >= 0)) {
                // That is no fault of it; or it was not given the time that would tell anything of it.
                metrics.readIndex(role, took, EtcdMetrics.FAILED);
            } else {
                reportFailure(endpoint, Duty.READ_INDEX, FailureText.of(failure));
                metrics.readIndex(role, took, EtcdMetrics.FAILED);
            }
        });
        return attempt;
    }

    private synchronized void update(UnaryOperator<Setbacks> change) {
        setbacks = change.apply(setbacks);
    }

    private void setBack(Endpoint endpoint, Duty duty) {
        update(before -> before.failed(endpoint, duty, clock.instant()));
    }

    private void publish(ClusterView next, Function<Endpoint, @Nullable String> why) {
        ClusterView before = view;
        view = next;
        changes.changed(before, next, why);
        next.leader()
                .filter(leader -> leader.health() == Health.UNREACHABLE)
                .filter(leader -> before.leader()
                        .filter(former -> former.id().equals(leader.id()) && former.health() != Health.UNREACHABLE)
                        .isPresent())
                .ifPresent(lost -> lost.endpoints().forEach(endpoint -> setBack(endpoint, Duty.WRITE)));
        Outage former = outage;
        String failures = failures(next, why);
        outage = failures == null ? null : new Outage(former == null ? clock.instant() : former.since(), failures);
        if (namelessTls != null) {
            // The probe sees to the others.
            Set<Endpoint> known = new HashSet<>(next.unidentified());
            next.members().forEach(member -> known.addAll(member.endpoints()));
            nameless.retain(known);
            known.forEach(nameless::reconnect);
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
        if (namelessTls != null) {
            namelessTls.close();
        }
        pages.close();
        ranges.close();
        network.close();
        tls.close();
    }
}
