package io.understudy.mirror;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.revisions.CheckpointHistory;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.revisions.TargetUnreadableException;
import io.understudy.mirror.revisions.Translation;
import io.understudy.mirror.verify.Sides;
import io.understudy.mirror.verify.Verification;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.vocabulary.Revision;
import java.util.function.LongConsumer;

/** Questions about a mirror to etcd that are answered from its clusters, whether its process runs or not. */
public final class MirrorQuestions {

    private MirrorQuestions() {}

    /**
     * Whether the target is the source, as {@link Verification#run} finds out.
     *
     * @param progress told how many keys were compared
     * @throws IllegalArgumentException the mirror's source or target is not etcd
     */
    public static VerifyResult verify(MirrorSettings.Mirror mirror, LongConsumer progress) throws InterruptedException {
        MirrorSettings.Target.Etcd etcd = etcd(mirror);
        if (!(mirror.source() instanceof MirrorSettings.Source.Etcd from)) {
            throw new IllegalArgumentException(
                    "mirror " + mirror.name() + " reads from Kafka; only mirrors from etcd into etcd can be compared");
        }
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (EtcdCluster source = EtcdCluster.connect(from.cluster().withName(mirror.name() + "-source"), meters);
                EtcdCluster target = EtcdCluster.connect(etcd.cluster().withName(mirror.name() + "-target"), meters)) {
            return Verification.run(sides(mirror, from, etcd, source, target), progress);
        }
    }

    /**
     * Where a watcher goes on, as {@link RevisionMap#translate} finds out.
     *
     * @throws IllegalArgumentException the mirror's target is not etcd
     */
    public static Translation translate(MirrorSettings.Mirror mirror, Revision seen)
            throws TargetUnreadableException, InterruptedException {
        try (EtcdCluster target = EtcdCluster.connect(
                etcd(mirror).cluster().withName(mirror.name() + "-target"), new SimpleMeterRegistry())) {
            return new RevisionMap(new CheckpointHistory(mirror.name(), target)).translate(seen);
        }
    }

    static Sides sides(
            MirrorSettings.Mirror mirror,
            MirrorSettings.Source.Etcd from,
            MirrorSettings.Target.Etcd etcd,
            EtcdCluster source,
            EtcdCluster target) {
        return new Sides(
                mirror.name(),
                mirror.scope(),
                source,
                target,
                from.feed(),
                etcd.options().leases() == LeaseMode.TTL,
                etcd.options().onForeignKeys() == ForeignKeys.KEEP);
    }

    private static MirrorSettings.Target.Etcd etcd(MirrorSettings.Mirror mirror) {
        if (mirror.target() instanceof MirrorSettings.Target.Etcd etcd) {
            return etcd;
        }
        throw new IllegalArgumentException(
                "mirror " + mirror.name() + " goes to Kafka; only a target in etcd can be compared, and has revisions");
    }
}
