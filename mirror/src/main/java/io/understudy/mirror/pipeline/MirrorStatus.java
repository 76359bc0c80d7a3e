package io.understudy.mirror.pipeline;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.mirror.active.Standing;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.metrics.MirrorMeter;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a mirror shows: its state, with one way to change it, and its metrics, all tagged {@code mirror}. Thread-safe. */
final class MirrorStatus implements SinkListener {

    private static final Logger LOG = LoggerFactory.getLogger(MirrorStatus.class);

    /** Who is restarted is back within it. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final String mirror;
    private final String source;
    private final String target;
    private final Counter changes;
    private final Counter transactions;
    private final Counter retries;
    private final Counter passedOver;
    private final Counter commits;
    private final Timer transaction;
    private final Lag lag = new Lag();
    private final Rate rate = new Rate();
    private final SnapshotMeter snapshot;

    private MirrorState state = MirrorState.STARTING;
    /** Where to return to once there is an answer. */
    private MirrorState beforeRetrying = MirrorState.STARTING;

    /** Whether somebody was warned of how long this state lasts. */
    private boolean isWarned;

    private boolean isElsewhere;
    private String reason = "started";
    private Instant since = Instant.now();
    private @Nullable String lastError;
    private volatile @Nullable Sink sink;

    MirrorStatus(String mirror, String source, String target, MeterRegistry meters) {
        this.mirror = mirror;
        this.source = source;
        this.target = target;
        this.snapshot = new SnapshotMeter(mirror);
        this.changes = counter(MirrorMeter.CHANGES, meters);
        this.transactions = counter(MirrorMeter.TRANSACTIONS, meters);
        this.retries = counter(MirrorMeter.RETRIES, meters);
        this.passedOver = counter(MirrorMeter.PASSED_OVER, meters);
        this.commits = counter(MirrorMeter.COMMITS, meters);
        this.transaction = MirrorMeter.TRANSACTION.timer().tag("mirror", mirror).register(meters);
        gauge(MirrorMeter.LAG_REVISIONS, () -> orUnknown(lag.revisions(complete())), meters);
        gauge(MirrorMeter.LAG, () -> orUnknown(lag.millis(complete(), Instant.now())) / 1e3, meters);
        gauge(MirrorMeter.CHECKPOINT_REVISION, this::checkpointRevision, meters);
        for (MirrorState each : MirrorState.values()) {
            MirrorMeter.STATE
                    .gauge(() -> state() == each ? 1 : 0)
                    .tag("mirror", mirror)
                    .tag("state", each.word())
                    .register(meters);
        }
    }

    /**
     * The one place where the state changes. A final state stays; what comes while a cluster doesn't answer counts once
     * it does.
     */
    synchronized void to(MirrorState next, String why) {
        if (state == next || state.isFinal()) {
            return;
        }
        if (state == MirrorState.RETRYING && !next.isFinal()) {
            beforeRetrying = next;
            return;
        }
        if (next == MirrorState.RETRYING) {
            beforeRetrying = state;
        }
        enter(next, why);
    }

    /** The target is being kept as the source is; told after each event. */
    synchronized void synced(Revision revision) {
        if (state != MirrorState.SYNCED) {
            to(MirrorState.SYNCED, "follows the source, from revision " + revision);
        }
    }

    private void enter(MirrorState next, String why) {
        if (next == MirrorState.FAILED) {
            LOG.error("mirror={} from={} to={} reason=\"{}\"", mirror, state.word(), next.word(), why);
        } else {
            LOG.info("mirror={} from={} to={} reason=\"{}\"", mirror, state.word(), next.word(), why);
        }
        state = next;
        reason = why;
        since = Instant.now();
        isWarned = false;
    }

    /**
     * Warns, once for each state, if what the mirror waits for has not answered for more than a moment; to be called about
     * once a second.
     */
    synchronized void warnOfSilence(Instant now) {
        boolean waits = state == MirrorState.RETRYING || isSourceSilent();
        if (waits && !isWarned && Duration.between(since, now).compareTo(PATIENCE) > 0) {
            isWarned = true;
            LOG.warn(
                    "mirror={} state={} for {} s reason=\"{}\"",
                    mirror,
                    state.word(),
                    Duration.between(since, now).toSeconds(),
                    reason);
        }
    }

    /** This process is not, or not known to be, the active one of the mirror. */
    synchronized void inactive(Standing standing) {
        if (standing instanceof Standing.Standby standby) {
            available();
            sink = null;
            lag.forget();
            to(MirrorState.STANDBY, "waits: " + standby.holder() + " is active");
        } else if (standing instanceof Standing.Unknown unknown) {
            unavailable(unknown.why());
        }
    }

    /** Nothing is mirrored until the home of the keys is the source again. */
    synchronized void elsewhere(String why) {
        available();
        sink = null;
        lag.forget();
        isElsewhere = true;
        to(MirrorState.STANDBY, why);
    }

    /** The target may be written to: its keys have their home elsewhere. */
    synchronized void home() {
        if (isElsewhere) {
            isElsewhere = false;
            to(MirrorState.STARTING, "the home of the keys is the source again");
        }
    }

    /** This process is the active one from now on. */
    synchronized void active() {
        available();
        if (state == MirrorState.STANDBY && !isElsewhere) {
            to(MirrorState.STARTING, "has become active");
        }
    }

    /** What a starting mirror waits for. */
    synchronized void waitsFor(String what) {
        if (state == MirrorState.STARTING) {
            reason = "waiting for " + what;
        }
    }

    /** Why the source tells nothing, to a mirror that waits for it. */
    synchronized void sourceSilent(String why) {
        if (state == MirrorState.STARTING && reason.startsWith(waitingForSource())) {
            reason = waitingForSource() + ": " + why;
        }
    }

    private boolean isSourceSilent() {
        return state == MirrorState.STARTING && reason.startsWith(waitingForSource() + ": ");
    }

    private String waitingForSource() {
        return "waiting for the source, " + source;
    }

    synchronized MirrorState state() {
        return state;
    }

    /** To be told how far a snapshot is copied. */
    SnapshotMeter snapshot() {
        return snapshot;
    }

    /** What is asked for the checkpoint from now on. */
    void writesTo(Sink newSink) {
        sink = newSink;
    }

    synchronized void error(String message) {
        lastError = message;
    }

    @Override
    public synchronized void unavailable(String why) {
        retries.increment();
        error(why);
        to(MirrorState.RETRYING, why);
        if (state == MirrorState.RETRYING) {
            // What was in the way first may have gone, and something else be.
            reason = why;
        }
    }

    @Override
    public synchronized void available() {
        if (state == MirrorState.RETRYING) {
            enter(beforeRetrying, "it answers again");
        }
    }

    @Override
    public void passedOver() {
        passedOver.increment();
    }

    @Override
    public void committed(long count, Duration took) {
        commits.increment((double) count);
        transaction.record(took);
    }

    @Override
    public void written(long count) {
        // Whoever called without success may have been given up since, and will never tell.
        available();
        transactions.increment();
        changes.increment((double) count);
    }

    synchronized void sampled(Instant sentAt, @Nullable Revision revision) {
        if (state == MirrorState.STANDBY) {
            // How far behind the target is, the active process knows.
            return;
        }
        lag.sampled(sentAt, revision);
        rate.sampled(System.nanoTime(), changes.count());
    }

    synchronized MirrorReport report() {
        Revision complete = complete();
        return new MirrorReport(
                mirror,
                source,
                target,
                state,
                reason,
                since,
                checkpoint(),
                complete.value(),
                lag.revisions(complete),
                lag.millis(complete, Instant.now()),
                rate.perSecond(),
                (long) changes.count(),
                (long) transactions.count(),
                (long) retries.count(),
                snapshot.report(),
                lastError);
    }

    private @Nullable Checkpoint checkpoint() {
        Sink current = sink;
        return current == null ? null : current.checkpoint();
    }

    private Revision complete() {
        Sink current = sink;
        return current == null ? Revision.ZERO : current.complete();
    }

    private double checkpointRevision() {
        Checkpoint stored = checkpoint();
        return stored == null ? Double.NaN : stored.revision().value();
    }

    private static double orUnknown(OptionalLong value) {
        return value.isPresent() ? value.getAsLong() : Double.NaN;
    }

    private Counter counter(MirrorMeter meter, MeterRegistry meters) {
        return meter.counter().tag("mirror", mirror).register(meters);
    }

    private void gauge(MirrorMeter meter, Supplier<Number> value, MeterRegistry meters) {
        meter.gauge(value).tag("mirror", mirror).register(meters);
    }
}
