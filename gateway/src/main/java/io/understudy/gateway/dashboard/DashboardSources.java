package io.understudy.gateway.dashboard;

import io.understudy.etcd.ClusterView;
import io.understudy.gateway.member.StatusReport;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The gateway, as its dashboard sees it. All are read about once a second, on any thread, and must not block.
 *
 * @param report its own status
 * @param topic that it is fed by; null if that is a cluster
 * @param source null if that is no etcd cluster
 * @param unconfirmed for how long no quorum of the source has confirmed a revision
 * @param oldestRevision of those that are held; 0 while none is
 * @param lagRevisions behind the newest revision that any member has reported
 */
public record DashboardSources(
        StatusReport report,
        @Nullable String topic,
        Supplier<@Nullable ClusterView> source,
        Supplier<Duration> unconfirmed,
        LongSupplier oldestRevision,
        LongSupplier lagRevisions) {}
