package io.understudy.mirror.takeover;

import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.Sides;
import java.time.Duration;

/**
 * Between whom a home moves.
 *
 * @param scope of the mirror from {@code source} to {@code target}
 * @param sink how that mirror writes
 * @param reading how the two are compared
 * @param marked whether other mirrors' marks in the source may be read
 * @param activeTtl after how long another process of the mirror becomes the active one
 * @param isBack whether that mirror is the one back, so that {@code target} is what is configured as the source
 */
public record Parties(
        String mirror,
        MirrorScope scope,
        PatientCalls source,
        PatientCalls target,
        EtcdSinkOptions sink,
        EtcdFeedOptions reading,
        boolean marked,
        Duration activeTtl,
        boolean isBack) {

    /** Those of the mirror as configured. */
    Parties(
            String mirror,
            MirrorScope scope,
            PatientCalls source,
            PatientCalls target,
            EtcdSinkOptions sink,
            EtcdFeedOptions reading,
            boolean marked,
            Duration activeTtl) {
        this(mirror, scope, source, target, sink, reading, marked, activeTtl, false);
    }

    /** What {@code source} is to whoever gave the command. */
    String from() {
        return isBack ? "the new home" : "the source";
    }

    /** Likewise {@code target}. */
    String to() {
        return isBack ? "the old source" : "the target";
    }

    /** The same, waiting only so long for {@code source} to answer. */
    Parties hurried(Duration patience) {
        return new Parties(mirror, scope, source.with(patience), target, sink, reading, marked, activeTtl, isBack);
    }

    /** Both sides, to be compared. */
    Sides sides() {
        return new Sides(
                mirror,
                scope,
                source.cluster(),
                target.cluster(),
                reading,
                sink.leases() == LeaseMode.TTL,
                sink.onForeignKeys() == ForeignKeys.KEEP);
    }
}
