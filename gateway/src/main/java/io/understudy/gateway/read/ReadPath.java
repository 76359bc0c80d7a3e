package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.api.RangeRequests;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.api.TxnRequests;
import io.understudy.gateway.api.TxnResult;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers reads at the consistency they ask for.
 *
 * <p>All four come down to one question: which revision must the answer's state include? For a serializable read what its
 * session has seen; at least, the given one; bounded, that of the oldest round sent within the bound; linearizable, that
 * of a round sent after the read came. Then the replica answers if it includes it, or is waited for; what it doesn't hold,
 * or has forgotten, the source is asked for.
 *
 * <p>Invariant C1: a linearizable read sees every write acknowledged before it was sent, or fails with etcd's error.
 *
 * <p>Invariant C4: a bound on staleness or revision holds, or the read is rejected within its timeout.
 */
public final class ReadPath implements Reads {

    private static final Logger LOG = LoggerFactory.getLogger(ReadPath.class);

    /** Between two requests for progress: what the member that is watched is bothered with at most. */
    private static final long PROGRESS_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final ReadSettings settings;
    private final Replica replica;
    private final ResponseHeaders headers;
    private final ReadPermissions permissions;
    private final AsOfClock clock;
    private final Confirmations confirmations;
    private final Waits waits;
    private final Upstream source;
    private final Supplier<EtcdVersion> version;
    private final ByteBudget heldOfSource;
    private final Evaluations evaluations;
    private final ReadMetrics metrics;
    private final Runnable requestProgress;
    private final LongSupplier permissionClock;
    private final AtomicLong progressAskedNanos = new AtomicLong(System.nanoTime() - PROGRESS_NANOS);

    /**
     * @param requestProgress has the feed tell how far it is; from any thread, doesn't wait
     */
    public ReadPath(
            Vertx vertx,
            ReadSettings settings,
            Replica replica,
            ResponseHeaders headers,
            ReadPermissions permissions,
            ReadSource source,
            Runnable requestProgress,
            MeterRegistry registry) {
        this(vertx, settings, replica, headers, permissions, source, requestProgress, registry, System::nanoTime);
    }

    /** @param permissionClock in nanoseconds, measures the age of a permission; for tests */
    ReadPath(
            Vertx vertx,
            ReadSettings settings,
            Replica replica,
            ResponseHeaders headers,
            ReadPermissions permissions,
            ReadSource source,
            Runnable requestProgress,
            MeterRegistry registry,
            LongSupplier permissionClock) {
        this.permissionClock = permissionClock;
        this.settings = settings;
        this.replica = replica;
        this.headers = headers;
        this.permissions = permissions;
        this.requestProgress = requestProgress;
        this.metrics = new ReadMetrics(registry);
        this.version = source::version;
        this.clock = new AsOfClock(() -> revisionOr(Long.MAX_VALUE));
        this.evaluations = new Evaluations(vertx, metrics);
        if (source instanceof ReadSource.Cluster asked) {
            this.confirmations = new ReadIndexRounds(
                    asked.readIndexes(), asked.timers(), settings, clock, metrics, () -> revisionOr(0));
            this.source = new SourceReads(vertx, asked.cluster(), replica.range(), headers, settings, evaluations);
        } else {
            ReadSource.Heartbeats told = (ReadSource.Heartbeats) source;
            this.confirmations = new Heartbeats(told.maxClockSkew(), told.clock(), clock, metrics);
            this.source = new NoUpstream(replica);
        }
        this.waits = new Waits(vertx, confirmations, () -> revisionOr(-1), this::askProgress, settings.maxWaiting());
        long mostHeld =
                Math.min(settings.maxPassedThroughBytes(), Runtime.getRuntime().maxMemory() / 4);
        this.heldOfSource = new ByteBudget(vertx, mostHeld, settings.maxWaiting());
        metrics.observePassedThrough(heldOfSource::held);
        metrics.observeStaleness(() -> {
            Duration staleness = staleness();
            return staleness == null ? Double.NaN : staleness.toNanos() / 1e9;
        });
    }

    @Override
    public EtcdVersion version() {
        return version.get();
    }

    /** Begins to measure staleness. */
    public void start() {
        confirmations.start();
    }

    /** Sends no more read-index rounds, and evaluates nothing that takes long. */
    public void close() {
        confirmations.close();
        evaluations.close();
    }

    /** The replica has published a state. For the thread that does. */
    public void published(ReplicaState state) {
        waits.published(state.revision().value());
    }

    /** The replica has no state any more: who waits for one is answered by the source. For the thread that dropped it. */
    public void dropped() {
        waits.dropped();
    }

    /** The source had nothing beyond the revision, when it was {@code time} by a clock elsewhere. For the thread that polls. */
    public void asOf(Revision revision, Instant time) {
        confirmations.asOf(revision.value(), time);
    }

    /** How long ago the replica's state is known to have been current; null while nobody knows, or there is none. */
    public @Nullable Duration staleness() {
        ReplicaState state = replica.state();
        return state == null ? null : staleness(state.revision().value());
    }

    /** Why nothing tells how current the replica is: linearizable reads, and bounded ones before long, fail while that is so. */
    public Optional<String> confirmationProblem() {
        return confirmations.problem();
    }

    /** How long no revision was confirmed that should have been; zero if all is well. */
    public Duration unconfirmed() {
        return confirmations.unconfirmed();
    }

    @Override
    public Future<Answer<RangeResult>> range(Caller caller, RangeRequest request) {
        EtcdVersion version = version();
        try {
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
                ? read(caller, operation, linearizable)
                : permitted.compose(yes -> read(caller, operation, linearizable));
    }

    private <R extends OpResult> Future<Answer<R>> read(Caller caller, Operation<R> operation, boolean linearizable) {
        if (!caller.session().isTaken()) {
            return begin(caller, operation, linearizable);
        }
        Promise<Answer<R>> promise = Promise.promise();
        // Meanwhile the permission may be taken away.
        caller.session()
                .whenFree(() -> permitted(caller, operation, linearizable).onComplete(promise));
        return promise.future();
    }

    /** Whatever goes wrong, the client is answered. */
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

    /** Null if it asks for what the replica has forgotten. */
    <R extends OpResult> @Nullable Answer<R> fromReplica(
            Caller caller, Operation<R> operation, Consistency consistency, ReplicaState state) throws ApiException {
        R result = operation.at(state, replica::at);
        return result == null ? null : fromReplica(caller, result, consistency, state);
    }

    /** Of a result that was evaluated at {@code state}. */
    <R extends OpResult> Answer<R> fromReplica(Caller caller, R result, Consistency consistency, ReplicaState state) {
        return told(caller, result, state.revision().value(), consistency, Origin.REPLICA);
    }

    /** Whether it may be evaluated on the event loop. */
    <R extends OpResult> boolean isShort(Operation<R> operation, ReplicaState state) {
        return operation.looksAt(state, replica::at) <= Evaluations.MOST_ON_LOOP;
    }

    /**
     * Evaluates beside the event loops, for those whose {@linkplain Evaluations#inTurn turn} it is. Empty if it asks for
     * what the replica has forgotten.
     */
    <R extends OpResult> Future<Optional<R>> evaluate(Operation<R> operation, ReplicaState state) {
        return evaluations.run(() -> Optional.ofNullable(operation.at(state, replica::at)));
    }

    <R extends OpResult> Answer<R> fromSource(Caller caller, Operation.Fetched<R> fetched, Consistency consistency) {
        return told(caller, fetched.result(), fetched.revision(), consistency, fetched.origin());
    }

    private <R extends OpResult> Answer<R> told(
            Caller caller, R result, long revision, Consistency consistency, Origin origin) {
        caller.session().answered(revision);
        metrics.answered(consistency, origin);
        return new Answer<>(result, revision, staleness(revision), Provenance.of(consistency, origin));
    }

    /** As it is known now. */
    <R extends OpResult> Answer<R> renewed(Answer<R> answer) {
        return new Answer<>(answer.result(), answer.revision(), staleness(answer.revision()), answer.provenance());
    }

    Future<Void> permitted(Caller caller, Operation<?> operation) {
        return operation.permitted(permissions, caller.principal());
    }

    /** The time by which the age of a permission is measured. */
    long permissionNanos() {
        return permissionClock.getAsLong();
    }

    void requireLinearizable() throws ApiException {
        confirmations.requireLinearizable();
    }

    ReadSettings settings() {
        return settings;
    }

    ReadMetrics metrics() {
        return metrics;
    }

    Evaluations evaluations() {
        return evaluations;
    }

    Waits waits() {
        return waits;
    }

    Upstream source() {
        return source;
    }

    /** For answers of the source, from the request until the client has taken them. */
    ByteBudget heldOfSource() {
        return heldOfSource;
    }

    KeyRange range() {
        return replica.range();
    }

    @Nullable ReplicaState state() {
        return replica.state();
    }

    /** Whether the replica is, or was at {@code momentNanos}, as fresh as that. */
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

    /** A fault of ours, as the client is told of it. */
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

    /** A replica of all keys sees each revision as a commit. One of a part has to be told of those outside. */
    private void askProgress() {
        if (replica.range().isAll()) {
            return;
        }
        long now = System.nanoTime();
        long before = progressAskedNanos.get();
        if (now - before >= PROGRESS_NANOS && progressAskedNanos.compareAndSet(before, now)) {
            requestProgress.run();
        }
    }
}
