package io.understudy.mirror;

import io.understudy.etcd.EtcdCluster;
import io.understudy.mirror.auth.AuthCopy;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.revisions.TargetCompaction;
import io.understudy.mirror.status.MirrorShown;
import io.understudy.mirror.takeover.Readiness;
import io.understudy.mirror.takeover.ReadinessCheck;
import io.understudy.mirror.verify.BackgroundVerification;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Background tasks of a mirror to etcd: take-over checks, verification, compaction. One thread. */
final class MirrorBackgroundTasks implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MirrorBackgroundTasks.class);

    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long CLOSE_MILLIS = 2_000;

    private final String mirror;
    private final @Nullable BackgroundVerification verification;
    private final @Nullable AuthCopy auth;
    private final TargetCompaction compaction;
    private final RevisionMap revisions;
    private final EtcdCluster target;
    private final Supplier<List<String>> others;
    private final @Nullable ReadinessCheck readiness;
    private List<String> alarms = List.of();
    private final BooleanSupplier active;
    private final Thread thread;

    /**
     * @param verification null for none
     * @param auth what copies roles and users; null for none
     * @param target its alarms are reported
     * @param others more warnings
     * @param readiness what checks permissions that a take-over needs; null for none
     * @param active whether this process mirrors, and the target is whole
     */
    MirrorBackgroundTasks(
            String mirror,
            @Nullable BackgroundVerification verification,
            @Nullable AuthCopy auth,
            TargetCompaction compaction,
            RevisionMap revisions,
            EtcdCluster target,
            Supplier<List<String>> others,
            @Nullable ReadinessCheck readiness,
            BooleanSupplier active) {
        this.mirror = mirror;
        this.verification = verification;
        this.auth = auth;
        this.compaction = compaction;
        this.revisions = revisions;
        this.target = target;
        this.others = others;
        this.readiness = readiness;
        this.active = active;
        this.thread = new Thread(this::run, "mirror-" + mirror + "-upkeep");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
        if (auth != null) {
            auth.start();
        }
    }

    /** Returns the translation of the mirror's revisions. Any thread. */
    RevisionMap revisions() {
        return revisions;
    }

    /** Returns the number of keys that differed when last compared. Any thread. */
    long differing() {
        return verification == null ? 0 : verification.status().differing();
    }

    /** Returns the mirror's report with the state of these tasks. Any thread. */
    MirrorShown shown(MirrorReport report) {
        return new MirrorShown(
                report,
                verification == null ? null : verification.status(),
                compaction.compacted().value(),
                auth == null ? null : auth.report(),
                takeOver(),
                warnings());
    }

    /** Null while another process may be active. */
    private @Nullable Readiness takeOver() {
        return readiness == null || !active.getAsBoolean() ? null : readiness.found();
    }

    /** Returns warnings for the operator. Any thread. */
    List<String> warnings() {
        List<String> warnings = new ArrayList<>(others.get());
        warnings.addAll(alarms());
        String warning = compaction.warning();
        if (warning != null) {
            warnings.add(warning);
        }
        if (auth != null) {
            warnings.addAll(auth.report().warnings());
        }
        Readiness takeOver = takeOver();
        if (takeOver != null) {
            takeOver.problems().forEach(problem -> warnings.add("take-over not permitted: " + problem));
        }
        return warnings;
    }

    /** Returns the target's alarms as its members report them. */
    private List<String> alarms() {
        return target.view().alarms().stream()
                .map(alarm -> "target member " + alarm.member() + " has alarm " + alarm.kind()
                        + (alarm.kind().equals("NOSPACE")
                                ? ": the target takes no puts; compact and defragment it or increase"
                                        + " --quota-backend-bytes, then run \"etcdctl alarm disarm\""
                                : ""))
                .toList();
    }

    private void logAlarms() {
        List<String> present = alarms();
        present.stream().filter(each -> !alarms.contains(each)).forEach(each -> LOG.atWarn()
                .addKeyValue("mirror", mirror)
                .addKeyValue("reason", each)
                .log("target has an alarm"));
        alarms = present;
    }

    private void run() {
        try {
            long began = System.nanoTime();
            while (true) {
                TimeUnit.NANOSECONDS.sleep(began + INTERVAL_NANOS - System.nanoTime());
                began = System.nanoTime();
                step();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void step() throws InterruptedException {
        try {
            logAlarms();
            if (!active.getAsBoolean()) {
                return;
            }
            if (readiness != null) {
                readiness.step();
            }
            if (verification != null) {
                verification.step();
            }
            compaction.step();
        } catch (RuntimeException | Error e) {
            if (Thread.interrupted()) {
                throw new InterruptedException("mirror is stopping");
            }
            // A failed repair of the sink ends or restarts the mirror; the mirror's thread reports it.
            LOG.atWarn().addKeyValue("mirror", mirror).setCause(e).log("background task failed");
        }
    }

    /** Interrupts the running task and waits briefly for its end. */
    @Override
    public void close() {
        thread.interrupt();
        if (auth != null) {
            auth.close();
        }
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
