package io.understudy.mirror.takeover;

import io.etcd.jetcd.api.RangeRequest;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.pipeline.MirrorFailedException;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The mirror from the new home into the old source, as a failback runs it. One thread.
 *
 * @param backward its parties
 * @param deadline how long the old source may take to become a copy
 * @param progress told now and then how far that is
 */
record MirrorBack(MirrorParties clusters, Parties backward, Duration deadline, Consumer<MirrorReport> progress) {

    private static final Duration PAUSE = Duration.ofMillis(200);

    /** @throws TakeOverException it can't be */
    MirrorProcess start() {
        try {
            return MirrorProcess.start(new MirrorSettings(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), List.of(clusters.reversed())));
        } catch (IOException | RuntimeException e) {
            throw new TakeOverException("the mirror back could not be started: " + e.getMessage(), e);
        }
    }

    /**
     * Has it compare everything anew, where an earlier run has begun it: going on, it would take no notice
     * of what else was written there since.
     */
    void compareAgain() {
        if (isCompared()) {
            return;
        }
        TargetCheckpoint found = TargetCheckpoint.read(backward.target(), backward.mirror());
        boolean replaced = found.replace(
                backward.target(), backward.mirror(), found.checkpoint().in(CheckpointState.SYNCING));
        if (!replaced && !isCompared()) {
            throw new TakeOverException("another process mirrors into "
                    + backward.target().shown() + " at this moment. Wait until it has ended, then run this again");
        }
    }

    /** Whether it will compare everything anyway. */
    private boolean isCompared() {
        KeyRange lanes = ReservedKeys.lanes(backward.mirror());
        RangeRequest begun = RangeRequest.newBuilder()
                .setKey(lanes.etcdKey())
                .setRangeEnd(lanes.etcdRangeEnd())
                .setCountOnly(true)
                .build();
        return TargetCheckpoint.read(backward.target(), backward.mirror())
                                .checkpoint()
                                .state()
                        == CheckpointState.SYNCING
                && backward.target().range(begun).getCount() == 0;
    }

    /** Returns once the old source is a copy, no more than {@code maxLag} revisions behind. */
    void awaitSynced(MirrorProcess mirror, long maxLag) {
        long end = System.nanoTime() + deadline.toNanos();
        CompletableFuture<MirrorFailedException> failure = mirror.failure();
        while (true) {
            MirrorReport report = mirror.reports().get(0);
            progress.accept(report);
            if (failure.isDone()) {
                throw new TakeOverException("the mirror back failed: " + report.reason());
            }
            if (report.state() == MirrorState.SYNCED && report.lagRevisions().orElse(Long.MAX_VALUE) <= maxLag) {
                return;
            }
            if (System.nanoTime() > end) {
                throw new TakeOverException("the old source was not a copy within " + deadline.toMinutes() + " min: "
                        + report.reason() + ". Run this again to continue");
            }
            PatientCalls.pause(PAUSE);
        }
    }
}
