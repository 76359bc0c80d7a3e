package io.understudy.cluster.snapshot;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.cluster.metrics.ClusterMeter;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.snapshot.SnapshotDirectory.SnapshotFile;
import io.understudy.config.Unreadable;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a snapshot whenever the newest is too old, on a thread of its own.
 *
 * <p>The schedule follows from the files present, so a successor resumes it.
 *
 * <p>{@code understudy.cluster.snapshots} (timer; {@code outcome}: ok or failed), {@code
 * understudy.cluster.snapshot.uploads} (timer, likewise), {@code understudy.cluster.snapshot.age} (seconds, -1 for
 * none), {@code understudy.cluster.snapshot.size} (bytes of the newest).
 */
public final class PeriodicSnapshots implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PeriodicSnapshots.class);
    private static final Duration RETRY = Duration.ofMinutes(1);

    /** The environment variable that names the file for the upload command. */
    static final String VARIABLE = "UNDERSTUDY_SNAPSHOT";

    private final SnapshotSettings settings;
    private final Optional<SnapshotDirectory> directory;
    private final SnapshotTaker taker;
    private final MeterRegistry meters;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(DaemonThreads.named("cluster-snapshots"));
    private volatile Instant failedAt = Instant.EPOCH;
    private volatile CompletableFuture<Void> running = CompletableFuture.completedFuture(null);
    private volatile Optional<SnapshotFile> newest;

    public PeriodicSnapshots(SnapshotSettings settings, SnapshotTaker taker, MeterRegistry meters) {
        this.settings = settings;
        this.directory = settings.directory().map(SnapshotDirectory::new);
        this.taker = taker;
        this.meters = meters;
        this.newest =
                directory.flatMap(found -> found.list(Instant.now()).stream().findFirst());
        if (directory.isPresent()) {
            ClusterMeter.SNAPSHOT_AGE.gauge(this, PeriodicSnapshots::ageSeconds).register(meters);
            ClusterMeter.SNAPSHOT_SIZE
                    .gauge(this, each -> each.newest.map(SnapshotFile::bytes).orElse(0L))
                    .register(meters);
        }
    }

    private double ageSeconds() {
        return newest.map(file ->
                        (double) Duration.between(file.taken(), Instant.now()).toSeconds())
                .orElse(-1.0);
    }

    /** Starts a snapshot if due, and returns at once. Called with each observation of the active supervisor. */
    public void tick(ClusterFacts facts) {
        Instant now = facts.at();
        boolean isPaused = Duration.between(failedAt, now).abs().compareTo(RETRY) < 0;
        if (directory.isPresent() && running.isDone() && !isPaused && isDue(now)) {
            SnapshotDirectory target = directory.get();
            running = CompletableFuture.runAsync(() -> take(facts, target, now), thread);
        }
    }

    private boolean isDue(Instant now) {
        return newest.filter(file -> !file.taken().isAfter(now)
                        && file.taken().plus(settings.interval()).isAfter(now))
                .isEmpty();
    }

    /** Completes when no snapshot is under way any more. */
    CompletableFuture<Void> idle() {
        return running;
    }

    private void take(ClusterFacts facts, SnapshotDirectory target, Instant now) {
        Timer.Sample began = Timer.start(meters);
        try {
            // Another process may have taken one.
            newest = target.list(now).stream().findFirst();
            if (!isDue(now)) {
                return;
            }
            newest = Optional.of(taker.take(facts, target, now).file());
        } catch (RuntimeException e) {
            failedAt = now;
            LOG.atWarn()
                    .addKeyValue("retry_s", RETRY.toSeconds())
                    .addKeyValue("cause", text(e))
                    .log("snapshot failed; retrying");
            began.stop(timer(ClusterMeter.SNAPSHOTS, false));
            return;
        }
        began.stop(timer(ClusterMeter.SNAPSHOTS, true));
        upload(target);
        // A snapshot of corrupt data must not displace one from before.
        if (facts.alarms().stream().noneMatch(alarm -> alarm.startsWith("CORRUPT"))) {
            prune(target, now);
        }
    }

    /** Uploads the snapshot and those of earlier failed uploads. A failure ends it, since each may take the timeout. */
    private void upload(SnapshotDirectory target) {
        if (settings.uploadCommand().isEmpty()) {
            return;
        }
        List<SnapshotFile> waiting =
                target.list().stream().filter(file -> !file.isUploaded()).toList();
        for (SnapshotFile file : waiting) {
            Timer.Sample began = Timer.start(meters);
            boolean isOk = false;
            try {
                var unused = Command.of(settings.uploadCommand())
                        .with(VARIABLE, file.path().toString())
                        .run(settings.uploadDeadline());
                target.uploaded(file);
                isOk = true;
                LOG.atInfo().addKeyValue("file", file.path()).log("snapshot uploaded");
            } catch (CommandFailedException | IOException e) {
                LOG.atWarn()
                        .addKeyValue("file", file.path())
                        .addKeyValue("cause", text(e))
                        .log("snapshot upload failed; retrying with the next snapshot");
                return;
            } finally {
                began.stop(timer(ClusterMeter.SNAPSHOT_UPLOADS, isOk));
            }
        }
    }

    private void prune(SnapshotDirectory target, Instant now) {
        try {
            boolean awaitsUpload = !settings.uploadCommand().isEmpty();
            for (SnapshotFile file : target.prune(settings.keepCount(), settings.keepAge(), awaitsUpload, now)) {
                LOG.atInfo()
                        .addKeyValue("file", file.path())
                        .addKeyValue("taken", file.taken())
                        .addKeyValue("uploaded", file.isUploaded())
                        .log("snapshot deleted");
            }
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("directory", target.path())
                    .addKeyValue("cause", text(e))
                    .log("cannot delete old snapshots");
        }
    }

    private Timer timer(ClusterMeter meter, boolean isOk) {
        return meter.timer().tag("outcome", isOk ? "ok" : "failed").register(meters);
    }

    private static String text(Exception e) {
        return Unreadable.why(e) + (e.getCause() == null ? "" : ": " + Unreadable.why(e.getCause()));
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
