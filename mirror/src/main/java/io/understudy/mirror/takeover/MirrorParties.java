package io.understudy.mirror.takeover;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdCluster;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.auth.AuthOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.verify.ForeignWrites;
import io.understudy.mirror.verify.VerifyOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The two clusters of a configured mirror, connected, and the mirror in either direction. */
public final class MirrorParties implements AutoCloseable {

    private final MirrorSettings.Mirror mirror;
    private final MirrorSettings.Source.Etcd source;
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
     * @throws TakeOverException the mirror is not one from etcd into etcd
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
        if (!(mirror.source() instanceof MirrorSettings.Source.Etcd from)) {
            throw new TakeOverException(
                    "mirror " + mirror.name() + " reads from Kafka, so the cluster that its keys are"
                            + " written in can't be read, frozen or given their home. To write in the target, stop this"
                            + " mirror first; mirror cluster to cluster where a home is to move");
        }
        this.mirror = mirror;
        this.source = from;
        this.target = etcd;
        MeterRegistry meters = new SimpleMeterRegistry();
        this.sourceCluster = EtcdCluster.connect(
                from.cluster().withName("source"), mirror.scope().feedRange(false), meters);
        this.targetCluster = EtcdCluster.connect(etcd.cluster().withName("target"), ReservedKeys.RANGE, meters);
        this.sourceCalls = new PatientCalls(sourceCluster, sourceUser, patience);
        this.targetCalls = new PatientCalls(targetCluster, targetUser, patience);
    }

    /** What is mirrored from; closed with this. */
    public EtcdCluster sourceCluster() {
        return sourceCluster;
    }

    /** As configured. */
    public Parties forward() {
        return new Parties(
                mirror.name(),
                mirror.scope(),
                sourceCalls,
                targetCalls,
                target.options(),
                source.feed(),
                source.marked(),
                target.activeTtl());
    }

    /** From the target back to the source. */
    public Parties backward() {
        return new Parties(
                mirror.name(),
                mirror.scope().reversed(),
                targetCalls.named("the new home"),
                sourceCalls.named("the old source"),
                backwardOptions(),
                source.feed(),
                source.marked(),
                target.activeTtl(),
                true);
    }

    /**
     * The mirror from the target back to the source: it deletes there what the target doesn't have, within its limit. It repairs
     * nothing: what clients write there once both sides were compared is the mirrored keys' next state.
     */
    MirrorSettings.Mirror reversed() {
        return new MirrorSettings.Mirror(
                mirror.name(),
                new MirrorSettings.Source.Etcd(target.cluster(), source.feed(), source.marked()),
                mirror.scope().reversed(),
                new MirrorSettings.Target.Etcd(
                        source.cluster(),
                        backwardOptions(),
                        new VerifyOptions(target.verify().keysPerSecond(), ForeignWrites.REPORT),
                        null,
                        target.activeTtl(),
                        AuthOptions.DEFAULTS));
    }

    private EtcdSinkOptions backwardOptions() {
        return target.options().back();
    }

    @Override
    public void close() {
        sourceCluster.close();
        targetCluster.close();
    }
}
