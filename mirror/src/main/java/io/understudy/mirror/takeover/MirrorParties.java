package io.understudy.mirror.takeover;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.etcd.ForeignKeys;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The two clusters of a configured mirror, connected, and the mirror in either direction. */
public final class MirrorParties implements AutoCloseable {

    private final MirrorSettings.Mirror mirror;
    private final MirrorSettings.Target.Etcd target;
    private final EtcdCluster sourceCluster;
    private final EtcdCluster targetCluster;
    private final PatientCalls sourceCalls;
    private final PatientCalls targetCalls;

    /**
     * Begins to connect.
     *
     * @param sourceUser null for none, or that of the certificate
     * @param targetUser likewise
     * @param patience how long either may take to answer
     * @throws TakeOverException the mirror is not one into etcd
     */
    public MirrorParties(
            MirrorSettings.Mirror mirror,
            @Nullable Credentials sourceUser,
            @Nullable Credentials targetUser,
            Duration patience) {
        if (!(mirror.target() instanceof MirrorSettings.Target.Etcd etcd)) {
            throw new TakeOverException(
                    "mirror " + mirror.name() + " writes to Kafka; only an etcd cluster can take over");
        }
        this.mirror = mirror;
        this.target = etcd;
        MeterRegistry meters = new SimpleMeterRegistry();
        this.sourceCluster = EtcdCluster.connect(mirror.source().withName("source"), meters);
        this.targetCluster = EtcdCluster.connect(etcd.cluster().withName("target"), meters);
        this.sourceCalls = new PatientCalls(sourceCluster, sourceUser, patience);
        this.targetCalls = new PatientCalls(targetCluster, targetUser, patience);
    }

    /** What is mirrored from; closed with this. */
    public EtcdCluster sourceCluster() {
        return sourceCluster;
    }

    /** As configured. */
    public Parties forward() {
        return parties(mirror, sourceCalls, targetCalls);
    }

    /** From the target back to the source. */
    public Parties backward() {
        return parties(reversed(), targetCalls, sourceCalls);
    }

    /** The mirror from the target back to the source: it deletes there what the target doesn't have. */
    MirrorSettings.Mirror reversed() {
        return new MirrorSettings.Mirror(
                mirror.name(),
                target.cluster(),
                mirror.feed(),
                mirror.scope().reversed(),
                mirror.marked(),
                new MirrorSettings.Target.Etcd(
                        mirror.source(),
                        target.options().with(ForeignKeys.DELETE),
                        target.verify(),
                        null,
                        target.activeTtl()));
    }

    private static Parties parties(MirrorSettings.Mirror of, PatientCalls from, PatientCalls to) {
        MirrorSettings.Target.Etcd etcd = (MirrorSettings.Target.Etcd) of.target();
        return new Parties(of.name(), of.scope(), from, to, etcd.options(), of.feed(), etcd.activeTtl());
    }

    @Override
    public void close() {
        sourceCluster.close();
        targetCluster.close();
    }
}
