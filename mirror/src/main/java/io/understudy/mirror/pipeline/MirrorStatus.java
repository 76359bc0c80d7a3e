package io.understudy.mirror.pipeline;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.metrics.MirrorMeter;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.ElectionState;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** State and metrics of a mirror; all metrics have the tag {@code mirror}. Thread-safe. */
final class MirrorStatus implements SinkListener {

    private static final Logger LOG = LoggerFactory.getLogger(MirrorStatus.class);

    /** Delay of the warning: a restarted source is back by then. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final String mirror;
    private volatile String source;
    private volatile String target;
    private final Counter changes;
    private final Counter transactions;
    private final Counter retries;
    private final Counter passedOver;
    private final Counter commits;
    private final Counter strays;
    private final Counter aborts;
    private final Timer transaction;
    private final Lag lag = new Lag();
    private final Silence silence;
    /** Silence of queries alone: a source that rejects logins may still serve an old watch. */
    private final Silence unanswered;

    private final Rate rate = new Rate();
    private final SnapshotMeter snapshot;
    private volatile LongSupplier differing = () -> 0;

    private MirrorState state = MirrorState.STARTING;
    /** The state without outages of clusters. */
    private MirrorState underlying = MirrorState.STARTING;

    private String underlyingReason = "started";
    /** Reason of a failure; null once a later attempt has passed it. */
    private @Nullable String failed;
    /** Reason why the active process is unknown; null while it is known. */
    private @Nullable String roleAway;
    /** Reason why the target rejects writes; null otherwise. A success clears it, not the next attempt. */
    private @Nullable String targetAway;
    /** Time at which the target last confirmed an operation. */
    private volatile @Nullable Instant lastTargetResponse;
    /** Time and reason of an outage of the followed source; null while it responds. */
    private @Nullable String sourceAway;

    /** Whether queries were unanswered for so long that the source's revision is unknown. */
    private boolean isRevisionUnknown;

    /** Whether the wait for the source has been logged. */
    private boolean isWarned;

    private boolean isElsewhere;
    private String reason = underlyingReason;
    private Instant since = Instant.now();
    private @Nullable String lastError;
    /** The last opened sink: its checkpoint applies until the next one is open. */
    private volatile @Nullable Sink sink;

    /** @param patience maximum time of unanswered queries at the source */
    MirrorStatus(String mirror, String source, String target, Duration patience, MeterRegistry meters) {
        this.mirror = mirror;
        this.source = source;
        this.target = target;
        this.silence = new Silence(patience);
        this.unanswered = new Silence(patience);
        this.snapshot = new SnapshotMeter(mirror);
        this.changes = counter(MirrorMeter.CHANGES, meters);
        this.transactions = counter(MirrorMeter.TRANSACTIONS, meters);
        this.retries = counter(MirrorMeter.RETRIES, meters);
        this.passedOver = counter(MirrorMeter.PASSED_OVER, meters);
        this.commits = counter(MirrorMeter.COMMITS, meters);
        this.strays = counter(MirrorMeter.STRAYS, meters);
        this.aborts = counter(MirrorMeter.ABORTS, meters);
        this.transaction = MirrorMeter.TRANSACTION.timer().tag("mirror", mirror).register(meters);
        gauge(MirrorMeter.LAG_REVISIONS, () -> orUnknown(lagRevisions()), meters);
        gauge(MirrorMeter.LAG, () -> orUnknown(lag.millis(complete(), Instant.now())) / 1e3, meters);
        gauge(MirrorMeter.CHECKPOINT_REVISION, this::checkpointRevision, meters);
        gauge(MirrorMeter.TARGET_RESPONSE_AGE, this::targetResponseAge, meters);
        for (MirrorState each : MirrorState.values()) {
            MirrorMeter.STATE
                    .gauge(() -> state() == each ? 1 : 0)
                    .tag("mirror", mirror)
                    .tag("state", each.word())
                    .register(meters);
        }
    }

    /** Sets the mirror's state; an outage of a cluster overrides it for display. A final state stays. */
    synchronized void to(MirrorState next, String why) {
        if (state.isFinal()) {
            return;
        }
        if (next.isFinal()) {
            enter(next, why);
        } else if (next != underlying) {
            underlying = next;
            underlyingReason = why;
            show();
        }
    }

    /** Records that the target follows the source; called after each event. A failure stays until {@link #recovered}. */
    synchronized void synced(Revision revision) {
        if (underlying != MirrorState.SYNCED) {
            to(MirrorState.SYNCED, "following the source from revision " + revision);
        }
    }

    /** Records that an error stopped the mirror until its next attempt. */
    synchronized void failed(String why) {
        error(why);
        sourceAway = null;
        roleAway = null;
        targetAway = null;
        underlying = MirrorState.STARTING;
        underlyingReason = "retrying after: " + why;
        failed = why;
        show();
    }

    /** Records that the last failure has passed. */
    synchronized void recovered() {
        if (failed != null) {
            failed = null;
            show();
        }
    }

    /** Updates the displayed state and reason. */
    private void show() {
        if (state.isFinal()) {
            return;
        }
        String away = away();
        MirrorState next = failed != null ? MirrorState.FAILED : away == null ? underlying : MirrorState.RETRYING;
        String why = failed != null ? failed : away == null ? underlyingReason : away;
        if (next != state) {
            enter(next, state == MirrorState.RETRYING ? "recovered: " + why : why);
        }
        reason = why;
    }

    private @Nullable String away() {
        if (roleAway != null) {
            return roleAway;
        }
        if (targetAway == null) {
            return sourceAway;
        }
        Instant last = lastTargetResponse;
        return last == null ? targetAway : targetAway + "; last response at " + last.truncatedTo(ChronoUnit.SECONDS);
    }

    private void enter(MirrorState next, String why) {
        Level level =
                switch (next) {
                    case FAILED, CONFLICT -> Level.ERROR;
                    case RETRYING -> Level.WARN;
                    case STANDBY, STARTING, SYNCING, SYNCED, TORN, DIFFERS, STOPPED -> Level.INFO;
                };
        LOG.atLevel(level)
                .addKeyValue("mirror", mirror)
                .addKeyValue("from", state.word())
                .addKeyValue("to", next.word())
                .addKeyValue("reason", why)
                .log("mirror state changed");
        state = next;
        reason = why;
        since = Instant.now();
        isWarned = false;
    }

    /** Warns once if the awaited source has not responded for some seconds. Called about once a second. */
    synchronized void warnOfSilence(Instant now) {
        if (isSourceSilent() && !isWarned && Duration.between(since, now).compareTo(PATIENCE) > 0) {
            isWarned = true;
            LOG.atWarn()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("state", state.word())
                    .addKeyValue("seconds", Duration.between(since, now).toSeconds())
                    .addKeyValue("reason", reason)
                    .log("source still not available");
        }
    }

    /** Records that this process is not, or perhaps not, the active one. */
    synchronized void inactive(ElectionState election) {
        if (election instanceof ElectionState.Standby standby) {
            reset();
            recovered();
            to(MirrorState.STANDBY, "standby: " + standby.holder() + " is active");
        } else if (election instanceof ElectionState.Unknown unknown) {
            retries.increment();
            error(unknown.why());
            roleAway = unknown.why();
            show();
        }
    }

    /** Records that the mirror is idle until the source is the only primary. */
    synchronized void elsewhere(MirrorState next, String why) {
        reset();
        isElsewhere = true;
        recovered();
        if (underlying == next) {
            underlyingReason = why;
            show();
        } else {
            to(next, why);
        }
    }

    /** Sets the direction of the mirror. */
    synchronized void follows(String newSource, String newTarget) {
        source = newSource;
        target = newTarget;
    }

    private void reset() {
        sink = null;
        lag.forget();
        sourceAway = null;
        roleAway = null;
        targetAway = null;
        show();
    }

    /** Records that the target is not the primary and may be written to. */
    synchronized void home() {
        if (isElsewhere) {
            isElsewhere = false;
            to(MirrorState.STARTING, "the source is the primary again");
        }
    }

    /** Records that this process is now active. */
    synchronized void active() {
        roleAway = null;
        show();
        if (underlying == MirrorState.STANDBY && !isElsewhere) {
            to(MirrorState.STARTING, "this process became active");
        }
    }

    /** Sets what a starting mirror waits for. */
    synchronized void waitsFor(String what) {
        if (underlying == MirrorState.STARTING) {
            underlyingReason = "waiting for " + what;
            show();
        }
    }

    /** Records that a feed is opened. Without a position the target is no copy until a snapshot is complete. */
    synchronized void waitsForSource(boolean fromSnapshot) {
        if (underlying == MirrorState.STARTING || fromSnapshot) {
            underlying = MirrorState.STARTING;
            underlyingReason = waitingForSource();
            show();
        }
    }

    /** Records a query of the source's revision, about once a second unless one is pending. */
    synchronized void sourceQueried(Instant at) {
        silence.queried(at);
        unanswered.queried(at);
    }

    /** Records why the query of the source's revision failed. */
    synchronized void sourceSilent(String why) {
        silence.failed(why);
        if (underlying == MirrorState.STARTING && underlyingReason.startsWith(waitingForSource())) {
            underlyingReason = waitingForSource() + ": " + why;
            show();
        }
    }

    /** Records a response or event, which proves that the source is available. */
    synchronized void sourceResponded() {
        silence.responded();
        boolean isWaitedFor = underlying == MirrorState.STARTING && underlyingReason.startsWith(waitingForSource());
        if (sourceAway != null || isWaitedFor) {
            sourceAway = null;
            underlyingReason = isWaitedFor ? waitingForSource() : underlyingReason;
            show();
        }
    }

    /**
     * Determines whether the source is unreachable; called about once a second.
     *
     * @param outage why no endpoint of the source responds; null while one does
     */
    synchronized void checkSource(Instant now, @Nullable String outage) {
        isRevisionUnknown = unanswered.lasting(now) != null;
        String silent = silence.lasting(now);
        String lasting = silent == null && outage != null ? "does not respond: " + outage : silent;
        // A mirror that does not follow it yet waits for it, or for the target.
        boolean isFollowed = underlying == MirrorState.SYNCING || underlying == MirrorState.SYNCED;
        String away = lasting == null || !isFollowed ? null : "source " + source + " " + lasting;
        if (!Objects.equals(away, sourceAway)) {
            sourceAway = away;
            if (away != null) {
                error(away);
            }
            show();
        }
    }

    private boolean isSourceSilent() {
        return state == MirrorState.STARTING && reason.startsWith(waitingForSource() + ": ");
    }

    private String waitingForSource() {
        return "waiting for source " + source;
    }

    /** Returns the displayed state; a partly written commit matches no state of the source. */
    synchronized MirrorState state() {
        if (state != MirrorState.SYNCED) {
            return state;
        }
        Checkpoint stored = checkpoint();
        if (stored != null && stored.state() == CheckpointState.TORN) {
            return MirrorState.TORN;
        }
        return differing.getAsLong() > 0 ? MirrorState.DIFFERS : state;
    }

    /** Sets the counter of target keys that differ from the source. */
    void differing(LongSupplier count) {
        differing = count;
    }

    private String shownReason(MirrorState shown, Revision complete) {
        return switch (shown) {
            case TORN -> "the commit after revision " + complete + " is written in parts, since it exceeds one request";
            case DIFFERS ->
                differing.getAsLong() + " keys of the target differ from the source; see \"understudy mirror verify\"";
            default -> reason;
        };
    }

    /** Meter of the snapshot's progress. */
    SnapshotMeter snapshot() {
        return snapshot;
    }

    /** Sets the sink that provides the checkpoint, once it has read the target's. */
    void opened(Sink newSink) {
        sink = newSink;
        available();
    }

    synchronized void error(String message) {
        lastError = message;
    }

    @Override
    public synchronized void unavailable(String why) {
        retries.increment();
        error(why);
        // The latest failure counts: an earlier one may have passed.
        targetAway = why;
        show();
    }

    @Override
    public synchronized void available() {
        lastTargetResponse = Instant.now();
        if (targetAway != null) {
            targetAway = null;
            show();
        }
    }

    @Override
    public void aborted() {
        aborts.increment();
    }

    @Override
    public void stray() {
        strays.increment();
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
        // A failed call may have been abandoned since, without a report of recovery.
        available();
        transactions.increment();
        changes.increment((double) count);
    }

    synchronized void sampled(Instant sentAt, @Nullable Revision revision) {
        if (revision != null) {
            unanswered.responded();
            isRevisionUnknown = false;
            sourceResponded();
        }
        if (state == MirrorState.STANDBY) {
            // The active process has the target's lag.
            return;
        }
        lag.sampled(sentAt, revision);
        rate.sampled(System.nanoTime(), changes.count());
    }

    synchronized MirrorReport report() {
        Revision complete = complete();
        MirrorState shown = state();
        return new MirrorReport(
                mirror,
                source,
                target,
                shown,
                shownReason(shown, complete),
                since,
                checkpoint(),
                complete.value(),
                lagRevisions(),
                lag.millis(complete, Instant.now()),
                rate.perSecond(),
                (long) changes.count(),
                (long) transactions.count(),
                (long) retries.count(),
                lastTargetResponse,
                snapshot.report(),
                lastError);
    }

    /** Returns the lag; empty while the source's revision is unknown. */
    private synchronized OptionalLong lagRevisions() {
        return isRevisionUnknown ? OptionalLong.empty() : lag.revisions(complete());
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

    private double targetResponseAge() {
        Instant last = lastTargetResponse;
        return last == null ? Double.NaN : Duration.between(last, Instant.now()).toMillis() / 1e3;
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
