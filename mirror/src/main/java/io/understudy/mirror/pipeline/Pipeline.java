package io.understudy.mirror.pipeline;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.metrics.MirrorMeter;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.ElectionState;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one mirror. Its thread passes one event after another from the feed to the sink. While the sink waits for its
 * target, the feed stops reading, so that memory never grows with the lag.
 *
 * <p>A gap is closed by a snapshot that the sink merges, perhaps after a comparison. When a sink becomes unavailable, a
 * new one is opened, and the feed at its checkpoint. A sink that is fenced by another, active process is closed, and
 * the mirror waits for its turn. It waits as well while its target is the primary. The sink decides whether to continue
 * with another history of the source. Any other end of a feed or sink fails the mirror: it releases its role and is
 * retried with back-off. So is an {@link Error}, such as a class that an upgrade has replaced; exhausted memory ends the
 * process by the JVM's options.
 *
 * <p>Invariant M39: from etcd through Kafka to etcd, the topic has each change once and in order, and each target state
 * is the source's at its checkpoint.
 */
public final class Pipeline implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Pipeline.class);

    /** Maximum wait for an event before {@link Sink#settle}. */
    private static final Duration POLL = Duration.ofMillis(200);

    /** Interval of checks of a former primary that has not rejoined. */
    private static final Duration REJOIN_INTERVAL = Duration.ofSeconds(1);

    private static final Duration STOP_GRACE = Duration.ofSeconds(3);
    private static final Duration STOP_DEADLINE = Duration.ofSeconds(5);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final long MAX_PAUSE_MILLIS = 5_000;

    /** First pause after a failure, which rarely passes without an operator or another process. */
    private static final Duration FIRST_PAUSE_AFTER_FAILURE = Duration.ofSeconds(5);

    private static final Duration MAX_PAUSE_AFTER_FAILURE = Duration.ofMinutes(5);

    private final String mirror;
    /** Opens the configured direction. */
    private final Supplier<MirrorPlan> opening;
    /** Opens the opposite direction, used while the target is the primary; null for none. */
    private final @Nullable Supplier<MirrorPlan> reversing;
    /** Null until opened, like the others. */
    private volatile @Nullable MirrorPlan forward;

    private volatile @Nullable MirrorPlan back;
    private volatile @Nullable MirrorPlan current;
    private final MeterRegistry meters;
    private final Duration firstPause;
    private final Duration firstPauseAfterFailure;
    private final MirrorStatus status;
    private final Thread thread;
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final CompletableFuture<MirrorFailedException> failure = new CompletableFuture<>();
    private final AtomicBoolean querying = new AtomicBoolean();
    private final Currency currency = new Currency();
    private final Replication replication;
    private int failures;
    /** Consecutive findings that the target is the primary. */
    private int refusals;
    /** Activation in which the last comparison found the mirrored history; null for none. */
    private @Nullable Long comparedIn;
    /** Doubles with each failure until the mirror has recovered. */
    private Duration pauseAfterFailure;
    /** Revision of the last commit given to a sink. */
    private Revision attempted = Revision.ZERO;
    /** The same at the last failure, which has passed once the target holds it. */
    private Revision awaited = Revision.ZERO;

    private Pipeline(
            String mirror,
            Supplier<MirrorPlan> opening,
            @Nullable Supplier<MirrorPlan> reversing,
            MirrorStatus status,
            MeterRegistry meters,
            Duration firstPause) {
        this.mirror = mirror;
        this.opening = opening;
        this.reversing = reversing;
        this.meters = meters;
        this.firstPause = firstPause;
        this.firstPauseAfterFailure = firstPause.multipliedBy(FIRST_PAUSE_AFTER_FAILURE.dividedBy(FIRST_PAUSE));
        this.pauseAfterFailure = firstPauseAfterFailure;
        this.status = status;
        this.replication = new Replication(mirror, meters);
        this.thread = new Thread(this::run, "mirror-" + mirror);
    }

    /**
     * Starts the mirror's thread, which opens it. It retries until source and target are available.
     *
     * @param patience maximum time of unanswered requests at the source
     * @param back opens the opposite direction, used while the target is the primary; null for none
     */
    public static Pipeline start(
            String mirror,
            String sourceName,
            String targetName,
            Duration patience,
            Supplier<MirrorPlan> forward,
            @Nullable Supplier<MirrorPlan> back,
            MeterRegistry meters) {
        MirrorStatus status = new MirrorStatus(mirror, sourceName, targetName, patience, meters);
        return start(mirror, forward, back, status, meters, FIRST_PAUSE);
    }

    /** @param firstPause before the first retry; doubles with each further one */
    static Pipeline start(
            String mirror,
            Supplier<MirrorPlan> forward,
            @Nullable Supplier<MirrorPlan> back,
            MirrorStatus status,
            MeterRegistry meters,
            Duration firstPause) {
        Pipeline pipeline = new Pipeline(mirror, forward, back, status, meters, firstPause);
        pipeline.thread.start();
        return pipeline;
    }

    /** Completes when the mirror fails for the first time; never if it is closed before. */
    public CompletableFuture<MirrorFailedException> failure() {
        return failure.copy();
    }

    /** Returns the mirror's report. Any thread. */
    public MirrorReport report() {
        return status.report();
    }

    /** Sets the counter of target keys that differ from the source. */
    public void differing(LongSupplier count) {
        status.differing(count);
    }

    /** Queries the source's revision, for lag and availability. Called about once a second by one thread. */
    public void sampleSource() {
        try {
            sample(Instant.now());
        } catch (RuntimeException | Error e) {
            // Thrown on, it would end the queries of all mirrors of the process.
            querying.set(false);
            LOG.atWarn().addKeyValue("mirror", mirror).setCause(e).log("source query failed; retrying");
        }
    }

    private void sample(Instant now) {
        MirrorPlan plan = current;
        if (plan == null) {
            return;
        }
        Optional<String> outage = plan.outage().get();
        outage.ifPresent(status::sourceSilent);
        status.checkSource(now, outage.orElse(null));
        status.warnOfSilence(now);
        if (!querying.compareAndSet(false, true)) {
            return;
        }
        status.sourceQueried(now);
        Currency.RevisionQuery query = currency.query(now);
        CompletableFuture<Revision> head;
        try {
            head = plan.head().get();
        } catch (RuntimeException e) {
            head = CompletableFuture.failedFuture(e);
        }
        CompletableFuture<Void> unused = head.handle((revision, failed) -> {
            querying.set(false);
            status.sampled(query.sentAt(), revision);
            if (failed != null) {
                status.sourceSilent(message(failed));
            } else if (revision != null && plan.isCurrent()) {
                currency.answered(query, revision);
            }
            return null;
        });
    }

    private static String message(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    /** Starts to stop; {@link #close} waits for it. */
    public void stop() {
        stopping.countDown();
    }

    /** Stops reading and waits some seconds for pending writes, then interrupts them. Idempotent. */
    @Override
    public void close() {
        stop();
        try {
            thread.join(STOP_GRACE.toMillis());
            thread.interrupt();
            thread.join(STOP_DEADLINE.toMillis());
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            while (!isStopping()) {
                try {
                    open();
                    while (awaitTurn()) {
                        mirror();
                    }
                } catch (Throwable e) {
                    awaited = attempted;
                    if (isStopping() || !awaitRetry(e, pauseAfterFailure)) {
                        return;
                    }
                    pauseAfterFailure = least(pauseAfterFailure.multipliedBy(2), MAX_PAUSE_AFTER_FAILURE);
                }
            }
        } finally {
            // Letting go takes a call, which would not be waited for.
            boolean unused = Thread.interrupted();
            Stream.of(Optional.ofNullable(forward), Optional.ofNullable(back))
                    .flatMap(Optional::stream)
                    .forEach(opened -> opened.role().close());
            status.to(MirrorState.STOPPED, "stop requested");
        }
    }

    /** Opens the configured direction, once. A failure is retried like any other. */
    private void open() {
        if (current != null) {
            return;
        }
        MirrorPlan opened = opening.get();
        forward = opened;
        current = opened;
        // The other direction's role is not competed for, not even at first: it is a key of the source.
        opened.role().compete(true);
        if (opened.role() != ActiveRole.ALWAYS) {
            MirrorMeter.ACTIVE
                    .gauge(() -> plan().role().isActive() ? 1 : 0)
                    .tag("mirror", mirror)
                    .register(meters);
        }
    }

    private MirrorPlan plan() {
        return Objects.requireNonNull(current, "mirror is not open");
    }

    /** Waits until this process is the active one of the mirror; false when stopped. */
    private boolean awaitTurn() throws InterruptedException {
        ElectionState seen = null;
        while (!isStopping()) {
            ElectionState state = plan().role().state();
            if (state instanceof ElectionState.Active) {
                status.active();
                return true;
            }
            if (state instanceof ElectionState.Refused refused) {
                throw new SinkException.Refused(refused.why());
            }
            if (state instanceof ElectionState.Undecided) {
                status.waitsFor("target " + plan().targetName());
            } else if (!state.equals(seen)) {
                status.inactive(state);
                seen = state;
            }
            plan().role().awaitChange(state, POLL);
        }
        return false;
    }

    /**
     * Opens a sink and writes to it while this process stays active. A lost and regained role ends the sink too:
     * received events may not be durable, so the next one resumes at the target's checkpoint.
     */
    private void mirror() throws FeedEndedException, InterruptedException {
        long activation = plan().role().activation();
        try (Sink sink = plan().sinks().apply(status)) {
            status.waitsFor("target " + plan().targetName());
            FeedStart start = sink.open();
            status.opened(sink);
            if (comparedIn != null && comparedIn == activation) {
                sink.historyRecognised();
            } else {
                comparedIn = null;
            }
            status.home();
            refusals = 0;
            while (mayWrite(activation)) {
                follow(sink, start, activation);
                start = null;
            }
        } catch (SinkException.Fenced e) {
            if (plan().role().isConfirmed(activation)) {
                throw e;
            }
            // Another process is active, or was in the meantime.
            status.error(String.valueOf(e.getMessage()));
            pause();
        } catch (SinkException.HomeMoved e) {
            moved(String.valueOf(e.getMessage()), activation);
        } catch (SinkException.NotYet e) {
            status.available();
            status.waitsFor(String.valueOf(e.getMessage()));
            pause();
        } catch (SinkException.Compared e) {
            comparedIn = activation;
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cause", e.getMessage())
                    .log("comparison completed");
        } catch (SinkException.Unavailable e) {
            status.unavailable(String.valueOf(e.getMessage()));
            pause();
        }
    }

    /** Handles a target that is the primary. If the opposite direction was refused as well, both clusters are. */
    private void moved(String why, long activation) throws InterruptedException {
        Supplier<MirrorPlan> other = reversing;
        if (other == null) {
            throw new SinkException.Refused(why + ". This mirror has no other direction, since " + plan().sourceName()
                    + " is no etcd cluster: stop it while the primary is there");
        }
        try {
            Conflict conflict = refusals == 0 ? null : conflict();
            if (conflict == null) {
                reverse(other, why);
            } else if (conflict.isMoving()) {
                status.elsewhere(MirrorState.STANDBY, conflict.reason());
            } else {
                awaitEnd(conflict, activation);
                return;
            }
        } catch (SinkException.Unavailable e) {
            status.unavailable(String.valueOf(e.getMessage()));
        }
        pause();
    }

    private @Nullable Conflict conflict() {
        return plan().former().get().orElse(null);
    }

    /** Waits for the end of the conflict without a sink, which would read both clusters. */
    private void awaitEnd(Conflict begun, long activation) throws InterruptedException {
        Conflict conflict = begun;
        while (conflict != null && !conflict.isMoving() && mayWrite(activation)) {
            status.error(conflict.reason());
            status.elsewhere(MirrorState.CONFLICT, conflict.reason());
            if (stopping.await(REJOIN_INTERVAL.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
            conflict = conflict();
        }
    }

    /** Switches to the opposite direction. */
    private void reverse(Supplier<MirrorPlan> other, String why) {
        refusals++;
        status.elsewhere(MirrorState.STANDBY, why);
        comparedIn = null;
        // Revisions of the other cluster.
        attempted = Revision.ZERO;
        awaited = Revision.ZERO;
        MirrorPlan next = forward;
        if (plan().equals(next)) {
            MirrorPlan opened = back;
            next = opened == null ? other.get() : opened;
            back = next;
        }
        plan().role().compete(false);
        current = next;
        plan().role().compete(true);
        status.follows(plan().sourceName(), plan().targetName());
    }

    /** Whether the mirror runs in the direction of {@code direction}. Any thread. */
    public boolean follows(MirrorPlan direction) {
        return direction.equals(current);
    }

    /** Opens a feed and follows it until it ends or this process is inactive. */
    private void follow(Sink sink, @Nullable FeedStart from, long activation)
            throws FeedEndedException, InterruptedException {
        Position position = from instanceof Position reached ? reached : null;
        Progressing consumer = new Progressing(sink, position);
        status.waitsForSource(position == null);
        currency.begin(consumer.given());
        replication.forget();
        MirrorPlan plan = plan();
        try (Feed open = plan.source().open(plan.range(), plan.kind(), from)) {
            while (mayWrite(activation)) {
                consumer.reportCurrency();
                Revision complete = sink.complete();
                replication.written(complete, Instant.now());
                consumer.reportRecovery(complete);
                if (open.poll(Duration.ZERO, consumer)) {
                    continue;
                }
                Duration pause = sink.pause();
                if (!pause.isZero()) {
                    // Rather than polling: waking up for each of many small commits costs more than they do.
                    boolean unused = stopping.await(pause.toNanos(), TimeUnit.NANOSECONDS);
                    continue;
                }
                sink.caughtUp();
                if (!open.poll(POLL, consumer)) {
                    sink.settle();
                }
            }
            sink.settle();
        } catch (FeedEndedException.Gap e) {
            status.error(String.valueOf(e.getMessage()));
            sink.caughtUp();
            pause();
        } catch (FeedEndedException.AnotherHistory | FeedEndedException.AnotherCluster e) {
            status.error(String.valueOf(e.getMessage()));
            sink.sourceReset(e);
            pause();
        } finally {
            status.snapshot().ended();
        }
    }

    private void fail(Throwable cause) {
        MirrorFailedException failed = new MirrorFailedException(mirror, cause);
        status.failed(String.valueOf(failed.getMessage()));
        failure.complete(failed);
    }

    /** Fails and gives up the role for a while. Returns false if the mirror is stopped meanwhile. */
    private boolean awaitRetry(Throwable cause, Duration pause) {
        // What is being closed may be interrupted for itself alone.
        boolean unused = Thread.interrupted();
        fail(cause);
        LOG.atWarn()
                .addKeyValue("mirror", mirror)
                .addKeyValue("reason", cause.getMessage())
                .addKeyValue("retry_seconds", pause.toSeconds())
                .setCause(cause instanceof SinkException || cause instanceof FeedEndedException ? null : cause)
                .log("mirror failed; other mirrors continue");
        compete(false);
        try {
            return !stopping.await(pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return false;
        } finally {
            compete(true);
        }
    }

    private void compete(boolean competes) {
        MirrorPlan opened = current;
        if (opened != null) {
            opened.role().compete(competes);
        }
    }

    private void recovered() {
        pauseAfterFailure = firstPauseAfterFailure;
        status.recovered();
    }

    private static Duration least(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private boolean mayWrite(long activation) {
        return !isStopping() && plan().role().isActive() && plan().role().activation() == activation;
    }

    private boolean isStopping() {
        return stopping.getCount() == 0;
    }

    private void pause() throws InterruptedException {
        long most = Math.min(MAX_PAUSE_MILLIS, firstPause.toMillis() << Math.min(failures++, 10));
        boolean unused =
                stopping.await(ThreadLocalRandom.current().nextLong(most / 2, most + 1), TimeUnit.MILLISECONDS);
    }

    /** Forwards events to the sink and updates the mirror's status. */
    private final class Progressing implements FeedConsumer {
        private final Sink sink;
        /** Position up to which the sink has received everything; null before its first complete snapshot. */
        private @Nullable Position reached;

        private boolean isSynced;

        Progressing(Sink sink, @Nullable Position reached) {
            this.sink = sink;
            this.reached = reached;
        }

        Revision given() {
            return reached == null ? Revision.ZERO : reached.revision();
        }

        @Override
        public void historyRecognised() {
            sink.historyRecognised();
        }

        @Override
        public void commitReplaced(Revision revision) {
            sink.commitReplaced(revision);
        }

        @Override
        public void snapshotPinned(Position pin) {
            sink.snapshotPinned(pin);
        }

        @Override
        public void snapshotResumed(Position pin) {
            status.sourceResponded();
            status.to(MirrorState.SYNCING, "rest of the snapshot at revision " + pin.revision());
            sink.snapshotResumed(pin);
            status.snapshot().started(plan().count().get());
        }

        @Override
        public void snapshotStarted(ClusterId cluster, Revision revision) {
            status.sourceResponded();
            status.to(MirrorState.SYNCING, "snapshot at revision " + revision);
            // The target may have rejected a commit, perhaps of an earlier process.
            boolean isRejectionPossible =
                    attempted.equals(Revision.ZERO) || sink.complete().isBefore(awaited);
            if (comparedIn == null && isRejectionPossible) {
                sink.compareFirst();
            }
            comparedIn = null;
            sink.snapshotStarted(cluster, revision);
            status.snapshot().started(plan().count().get());
        }

        @Override
        public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
            status.sourceResponded();
            sink.snapshotPage(covered, entries);
            status.snapshot().copied(entries.size());
        }

        @Override
        public void snapshotCompleted(Position position) {
            sink.snapshotCompleted(position);
            // Another history may have lower revisions.
            attempted = position.revision();
            awaited = attempted;
            synced(position);
            recovered();
            // After the state, so that readers of its end see the outcome.
            status.snapshot().ended();
        }

        @Override
        public void commit(Commit commit, Position position) {
            status.sourceResponded();
            attempted = commit.revision();
            sink.commit(commit, position);
            synced(position);
        }

        /** Does not prove that the source is available: isolated members send progress notifications, too. */
        @Override
        public void progress(Position position) {
            sink.progress(position);
            synced(position);
        }

        /** Called by feeds of Kafka. */
        @Override
        public void asOf(Instant time) {
            sink.asOf(time);
            replication.read(time, given(), Instant.now());
        }

        /** Reports to the sink the time at which it was current. */
        void reportCurrency() {
            Instant covered = currency.covered();
            if (covered != null) {
                sink.asOf(covered);
                replication.given(covered, given());
            }
        }

        /** Ends a failure: an accepted commit may still be rejected by the target. */
        void reportRecovery(Revision complete) {
            if (isSynced && !complete.isBefore(awaited)) {
                recovered();
            }
        }

        private void synced(Position position) {
            failures = 0;
            isSynced = true;
            reached = position;
            currency.given(position.revision());
            status.synced(position.revision());
        }
    }
}
