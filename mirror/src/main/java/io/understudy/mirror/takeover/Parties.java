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
 * @param activeTtl after how long another process of the mirror becomes the active one
 */
public record Parties(
        String mirror,
        MirrorScope scope,
        PatientCalls source,
        PatientCalls target,
        EtcdSinkOptions sink,
        EtcdFeedOptions reading,
        Duration activeTtl) {

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
