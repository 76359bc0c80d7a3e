package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.api.RangeRequests;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.api.TxnRequests;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.read.Answer.Provenance;
import io.understudy.gateway.read.Answer.Provenance.Consistency;
import io.understudy.gateway.read.Answer.Provenance.Origin;
import io.understudy.gateway.read.Confirmations.Heartbeats;
import io.understudy.gateway.read.Operation.RangeOperation;
import io.understudy.gateway.read.Operation.TxnOperation;
import io.understudy.gateway.read.Upstream.NoUpstream;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers reads at the requested consistency.
 *
 * <p>Each consistency determines the minimum revision of the answer. Serializable: what the session had seen when the read arrived. At least:
 * the given one. Bounded: that of the oldest round sent within the bound. Linearizable: that of a round sent after the
 * read arrived. The replica answers once it has that revision. Other keys and older revisions are read from the source.
 *
 * <p>Invariant C1: a linearizable read sees every write acknowledged before it was sent, or fails with etcd's error.
 *
 * <p>Invariant C4: a bound on staleness or revision holds, or the read is rejected within its timeout.
 */
public final class ReadPath implements Reads {

    private static final Logger LOG = LoggerFactory.getLogger(ReadPath.class);

    /** Minimum interval of progress requests, to limit the load on the watched member. */
    private static final long PROGRESS_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    final ReadSettings settings;
    private final Replica replica;
    private final ResponseHeaders headers;
    private final ReadPermissions permissions;
    private final AsOfClock clock;
    final Confirmations confirmations;
    final Waits waits;
    final Upstream source;
    private final Supplier<EtcdVersion> version;
    final ByteBudget heldOfSource;
    /** Of other calls. Separate, since a read must not make a write fail that was executed. */
    private final ByteBudget heldOfCalls;

    final Evaluations evaluations;
    final ReadMetrics metrics;
    private final Runnable requestProgress;
    private final BooleanSupplier isLeaderLost;
    final LongSupplier permissionClock;
    private final AtomicLong progressRequestedNanos = new AtomicLong(System.nanoTime() - PROGRESS_NANOS);

    /**
     * @param requestProgress requests a progress notification of the feed; called on any thread, does not block
     * @param isLeaderLost from any thread; reads that require a leader fail then, as in etcd ({@code
     *     v3rpc/interceptor.go})
     * @param permissionClock in nanoseconds, measures the age of a permission
     */
    public ReadPath(
            Vertx vertx,
            ReadSettings settings,
            Replica replica,
            ResponseHeaders headers,
            ReadPermissions permissions,
            ReadSource source,
            Runnable requestProgress,
            BooleanSupplier isLeaderLost,
            MeterRegistry registry,
            LongSupplier permissionClock) {
        this.permissionClock = permissionClock;
        this.settings = settings;
        this.replica = replica;
        this.headers = headers;
        this.permissions = permissions;
        this.requestProgress = requestProgress;
        this.isLeaderLost = isLeaderLost;
        this.metrics = new ReadMetrics(registry);
        this.version = source::version;
        this.clock = new AsOfClock(() -> revisionOr(Long.MAX_VALUE));
        this.evaluations = new Evaluations(vertx, metrics);
        if (source instanceof ReadSource.Cluster cluster) {
            this.confirmations = new ReadIndexRounds(
                    cluster.readIndexes(), cluster.timers(), settings, clock, metrics, () -> revisionOr(0));
            this.source = new SourceReads(vertx, cluster.cluster(), replica.range(), headers, settings, evaluations);
        } else {
            ReadSource.Heartbeats heartbeats = (ReadSource.Heartbeats) source;
            this.confirmations = new Heartbeats(heartbeats.maxClockSkew(), heartbeats.clock(), clock, metrics);
            this.source = new NoUpstream(replica);
        }
        this.waits =
                new Waits(vertx, confirmations, () -> revisionOr(-1), this::requestProgress, settings.maxWaiting());
        long mostHeld = settings.mostHeldBytes();
        this.heldOfSource = new ByteBudget(vertx, mostHeld, SourceReads.MOST_BYTES, settings.maxWaiting());
        this.heldOfCalls = new ByteBudget(vertx, mostHeld / 4, 0, 0);
        metrics.observePassedThrough(() -> heldOfSource.held() + heldOfCalls.held());
        metrics.observeStaleness(() -> {
            Duration staleness = staleness();
            return staleness == null ? Double.NaN : staleness.toNanos() / 1e9;
        });
    }

    @Override
    public EtcdVersion version() {
        return version.get();
    }

    /** Starts measuring staleness. */
    public void start() {
        confirmations.start();
    }

    /** Stops read-index rounds and long evaluations. */
    public void close() {
        confirmations.close();
        evaluations.close();
    }

    /** Resumes reads that wait for the state. For the publishing thread. */
    public void published(ReplicaState state) {
        waits.published(state.revision().value());
    }

    /** The replica was dropped: waiting reads go to the source. For the thread that dropped it. */
    public void dropped() {
        waits.dropped();
    }

    /** Records that the source had nothing newer at {@code time} of another host. For the polling thread. */
    public void asOf(Revision revision, Instant time) {
        confirmations.asOf(revision.value(), time);
    }

    /**
     * Counts a response of the source to another call until {@link Caller#whenOver}. Returns false if there is no room.
     */
    public boolean holds(Caller caller, long bytes) {
        ByteBudget.Hold hold = heldOfCalls.takeNow(caller.session(), bytes);
        if (hold == null) {
            return false;
        }
        caller.whenOver().accept(hold::release);
        return true;
    }

    /** Staleness of the replica's state; null if unknown or there is none. */
    public @Nullable Duration staleness() {
        ReplicaState state = replica.state();
        return state == null ? null : staleness(state.revision().value());
    }

    /** Why the staleness cannot be measured; linearizable reads fail then, and bounded ones soon. */
    public Optional<String> confirmationProblem() {
        return confirmations.problem();
    }

    /** How long confirmations are overdue; zero if none is. */
    public Duration unconfirmed() {
        return confirmations.unconfirmed();
    }

    /** How long the revision has been behind a confirmed one; zero if it is not. */
    public Duration behind(long revision) {
        return Duration.ofNanos(clock.behindNanos(revision, System.nanoTime()));
    }

    /** Fails a call that requires a leader while the source has none. */
    public void requireLeader(Caller caller) throws ApiException {
        if (caller.freshness().requiresLeader() && isLeaderLost.getAsBoolean()) {
            throw ApiException.noLeader();
        }
    }

    @Override
    public Future<Answer<RangeResult>> range(Caller caller, RangeRequest request) {
        EtcdVersion version = version();
        try {
            requireLeader(caller);
            RangeRequests.requireValid(request, version);
        } catch (ApiException e) {
            return Future.failedFuture(e);
        }
        KeyRange keys = RangeRequests.keys(request);
        return permitted(caller, new RangeOperation(request, keys, headers, version), !request.getSerializable());
    }

    @Override
    public Future<Answer<TxnResult>> txn(Caller caller, TxnRequest request) {
        EtcdVersion version = version();
        try {
            requireLeader(caller);
            TxnRequests.requireValid(request, version);
        } catch (ApiException e) {
            return Future.failedFuture(e);
        }
        List<KeyRange> keys = TxnRequests.ranges(request);
        return permitted(
                caller, new TxnOperation(request, keys, headers, version), !TxnRequests.isSerializable(request));
    }

    private <R extends OpResult> Future<Answer<R>> permitted(
            Caller caller, Operation<R> operation, boolean linearizable) {
        Future<Void> permitted = operation.permitted(permissions, caller.principal());
        return permitted.succeeded()
                ? begin(caller, operation, linearizable)
                : permitted.compose(yes -> begin(caller, operation, linearizable));
    }

    /** Answers the client even after an unexpected failure. */
    private <R extends OpResult> Future<Answer<R>> begin(Caller caller, Operation<R> operation, boolean linearizable) {
        try {
            return answer(caller, operation, linearizable);
        } catch (RuntimeException | Error e) {
            return Future.failedFuture(fault(e));
        }
    }

    private <R extends OpResult> Future<Answer<R>> answer(Caller caller, Operation<R> operation, boolean linearizable) {
        Consistency consistency = Consistency.of(linearizable, caller.freshness());
        long least =
                Math.max(caller.session().lastRevision(), caller.freshness().minRevision());
        boolean round = linearizable;
        if (consistency == Consistency.BOUNDED) {
            long young = youngRevision(caller.freshness().maxStaleness(), System.nanoTime());
            round = young == AsOfClock.NONE;
            least = Math.max(least, young);
        }
        if (!round) {
            ReplicaState state = replica.state();
            if (state != null
                    && state.revision().value() >= least
                    && operation.isWithin(state.range())
                    && isShort(operation, state)) {
                try {
                    Answer<R> answer = fromReplica(caller, operation, consistency, state);
                    if (answer != null) {
                        return Future.succeededFuture(answer);
                    }
                } catch (ApiException e) {
                    return Future.failedFuture(e);
                }
            }
        }
        return new PendingRead<>(this, caller, operation, consistency, least).begin(round);
    }

    /** Null if the requested state is no longer retained. */
    <R extends OpResult> @Nullable Answer<R> fromReplica(
            Caller caller, Operation<R> operation, Consistency consistency, ReplicaState state) throws ApiException {
        R result = operation.at(state, replica::at);
        return result == null ? null : fromReplica(caller, result, consistency, state);
    }

    /** Returns the answer of a result evaluated at {@code state}. */
    <R extends OpResult> Answer<R> fromReplica(Caller caller, R result, Consistency consistency, ReplicaState state) {
        return answered(caller, result, state.revision().value(), consistency, Origin.REPLICA);
    }

    /** Whether it may be evaluated on the event loop. */
    <R extends OpResult> boolean isShort(Operation<R> operation, ReplicaState state) {
        return operation.looksAt(state, replica::at) <= Evaluations.MOST_ON_LOOP;
    }

    /** Evaluates on a worker, within {@link Evaluations#inTurn}. Empty if the requested state is no longer retained. */
    <R extends OpResult> Future<Optional<R>> evaluate(Operation<R> operation, ReplicaState state) {
        return evaluations.run(() -> Optional.ofNullable(operation.at(state, replica::at)));
    }

    <R extends OpResult> Answer<R> fromSource(Caller caller, Operation.Fetched<R> fetched, Consistency consistency) {
        return answered(caller, fetched.result(), fetched.revision(), consistency, fetched.origin());
    }

    private <R extends OpResult> Answer<R> answered(
            Caller caller, R result, long revision, Consistency consistency, Origin origin) {
        caller.session().answered(revision);
        metrics.answered(consistency, origin);
        return new Answer<>(result, revision, staleness(revision), Provenance.of(consistency, origin));
    }

    /** Returns the answer with its current staleness. */
    <R extends OpResult> Answer<R> renewed(Answer<R> answer) {
        return new Answer<>(answer.result(), answer.revision(), staleness(answer.revision()), answer.provenance());
    }

    Future<Void> permitted(Caller caller, Operation<?> operation) {
        return operation.permitted(permissions, caller.principal());
    }

    KeyRange range() {
        return replica.range();
    }

    @Nullable ReplicaState state() {
        return replica.state();
    }

    /** Whether the replica meets the bound at {@code momentNanos}. */
    boolean isWithin(Duration staleness, long momentNanos) {
        long young = youngRevision(staleness, momentNanos);
        return young != AsOfClock.NONE && revisionOr(-1) >= young;
    }

    ApiException tooStale(Duration allowed) {
        Duration staleness = staleness();
        return new ApiException(
                Status.Code.UNAVAILABLE,
                "understudy: staleness is " + (staleness == null ? "unknown" : staleness.toMillis() + " ms")
                        + "; allowed: " + allowed.toMillis() + " ms");
    }

    /** Returns the client's error for an unexpected failure. */
    ApiException fault(Throwable why) {
        LOG.error("read failed", why);
        return new ApiException(Status.Code.INTERNAL, "understudy: " + why);
    }

    private long youngRevision(@Nullable Duration maxStaleness, long nowNanos) {
        return maxStaleness == null ? 0 : clock.revisionWithin(maxStaleness.toNanos(), nowNanos);
    }

    private @Nullable Duration staleness(long revision) {
        long nanos = clock.stalenessNanos(revision, System.nanoTime());
        return nanos == AsOfClock.UNKNOWN ? null : Duration.ofNanos(nanos);
    }

    private long revisionOr(long otherwise) {
        ReplicaState state = replica.state();
        return state == null ? otherwise : state.revision().value();
    }

    /**
     * Requests progress for a partial replica, at most once per 5 ms. A full one receives every revision as a commit.
     * Thread-safe.
     */
    public void requestProgress() {
        if (replica.range().isAll()) {
            return;
        }
        long now = System.nanoTime();
        long before = progressRequestedNanos.get();
        if (now - before >= PROGRESS_NANOS && progressRequestedNanos.compareAndSet(before, now)) {
            requestProgress.run();
        }
    }
}
