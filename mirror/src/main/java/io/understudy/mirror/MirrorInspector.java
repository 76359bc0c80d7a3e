package io.understudy.mirror;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.feed.kafka.KafkaFeedSource;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.revisions.CheckpointHistory;
import io.understudy.mirror.revisions.CheckpointHistory.TargetUnreadableException;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.revisions.Translation;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.verify.NotComparable;
import io.understudy.mirror.verify.Sides;
import io.understudy.mirror.verify.TopicVerification;
import io.understudy.mirror.verify.Verification;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.Optional;
import java.util.function.LongConsumer;

/** Inspects a mirror by its source and target, whether its process runs or not. */
public final class MirrorInspector {

    private MirrorInspector() {}

    /**
     * Compares target and source by {@link Verification#run} or {@link TopicVerification}.
     *
     * @param progress receives the number of keys compared
     */
    public static VerifyResult verify(MirrorSettings.Mirror mirror, LongConsumer progress) throws InterruptedException {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        if (mirror.source() instanceof MirrorSettings.Source.Kafka kafka) {
            return verifyFromKafka(mirror, kafka, etcd(mirror), meters, progress);
        }
        MirrorSettings.Source.Etcd from = (MirrorSettings.Source.Etcd) mirror.source();
        try (EtcdCluster source = EtcdCluster.connect(
                from.cluster().withName(mirror.name() + "-source"),
                mirror.scope().feedRange(false),
                meters)) {
            return mirror.target() instanceof MirrorSettings.Target.Etcd etcd
                    ? verifyEtcd(mirror, from, etcd, source, meters, progress)
                    : verifyIntoKafka(mirror, from, source, meters, progress);
        }
    }

    private static VerifyResult verifyEtcd(
            MirrorSettings.Mirror mirror,
            MirrorSettings.Source.Etcd from,
            MirrorSettings.Target.Etcd etcd,
            EtcdCluster source,
            MeterRegistry meters,
            LongConsumer progress)
            throws InterruptedException {
        try (EtcdCluster target =
                EtcdCluster.connect(etcd.cluster().withName(mirror.name() + "-target"), ReservedKeys.RANGE, meters)) {
            Optional<Instant> homeSince = new CheckpointHistory(mirror.name(), target).homeSince();
            return homeSince.isPresent()
                    ? new NotComparable(
                            NotComparable.Why.HOME_MOVED,
                            "the target is the primary since " + homeSince.get()
                                    + ", and the source no longer receives writes")
                    : Verification.run(sides(mirror, from, etcd, source, target), progress);
        } catch (TargetUnreadableException e) {
            return new NotComparable(NotComparable.Why.UNAVAILABLE, String.valueOf(e.getMessage()));
        }
    }

    private static VerifyResult verifyIntoKafka(
            MirrorSettings.Mirror mirror,
            MirrorSettings.Source.Etcd from,
            EtcdCluster source,
            MeterRegistry meters,
            LongConsumer progress)
            throws InterruptedException {
        KafkaSinkOptions options = ((MirrorSettings.Target.Kafka) mirror.target()).options();
        KafkaFeedSource topic = new KafkaFeedSource(
                mirror.name() + "-target",
                options.kafka(),
                KafkaFeedOptions.of(options.topic(), options.stateTopic()),
                mirror.scope().targetRanges(),
                meters);
        return new TopicVerification(mirror.name(), mirror.scope(), topic, source, from.feed(), progress).ofTarget();
    }

    private static VerifyResult verifyFromKafka(
            MirrorSettings.Mirror mirror,
            MirrorSettings.Source.Kafka kafka,
            MirrorSettings.Target.Etcd etcd,
            MeterRegistry meters,
            LongConsumer progress)
            throws InterruptedException {
        KafkaFeedSource topic = new KafkaFeedSource(
                mirror.name() + "-source",
                kafka.kafka(),
                kafka.options(),
                mirror.scope().sourceRanges(),
                meters);
        try (EtcdCluster target =
                EtcdCluster.connect(etcd.cluster().withName(mirror.name() + "-target"), ReservedKeys.RANGE, meters)) {
            return new TopicVerification(
                            mirror.name(), mirror.scope(), topic, target, EtcdFeedOptions.DEFAULTS, progress)
                    .ofSource(etcd.options().onForeignKeys() == ForeignKeys.KEEP);
        }
    }

    /**
     * Returns where a watcher resumes in the target, by {@link RevisionMap#translate}.
     *
     * @throws IllegalArgumentException the mirror's target is not etcd
     */
    public static Translation translate(MirrorSettings.Mirror mirror, Revision seen)
            throws TargetUnreadableException, InterruptedException {
        try (EtcdCluster target = EtcdCluster.connect(
                etcd(mirror).cluster().withName(mirror.name() + "-target"),
                ReservedKeys.RANGE,
                new SimpleMeterRegistry())) {
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
                "mirror " + mirror.name() + " has a Kafka target; revisions require an etcd target");
    }
}
