package io.understudy.mirror;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeResponse;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.Calls;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.FeedSource;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.feed.kafka.KafkaFeedSource;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.tls.TlsFileException;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The source that a mirror reads from.
 *
 * @param range the range to read
 * @param head reads the source's revision, with its own deadline
 * @param count reads the number of keys of a range, with its own deadline; fails where it is unknown
 * @param cluster null if the source is not an etcd cluster
 */
record MirrorSource(
        KeyRange range,
        FeedSource feeds,
        Supplier<CompletableFuture<Revision>> head,
        Function<KeyRange, CompletableFuture<Long>> count,
        @Nullable EtcdCluster cluster) {

    /** Returns why no endpoint responds; empty while one does, or for another source. */
    Optional<String> outage() {
        return Optional.ofNullable(cluster == null ? null : cluster.unreachable());
    }

    /** Starts to connect, at the latest on the first read. Resources to be closed are passed to {@code opened}. */
    static MirrorSource open(MirrorSettings.Mirror mirror, MeterRegistry meters, Consumer<AutoCloseable> opened) {
        return open(mirror.name(), mirror, meters, opened);
    }

    /** Does the same; {@code label} names feed and connection in metrics and logs. */
    static MirrorSource open(
            String label, MirrorSettings.Mirror mirror, MeterRegistry meters, Consumer<AutoCloseable> opened) {
        return mirror.source() instanceof MirrorSettings.Source.Etcd etcd
                ? ofEtcd(label, mirror, etcd, meters, opened)
                : ofKafka(mirror, (MirrorSettings.Source.Kafka) mirror.source(), meters);
    }

    private static MirrorSource ofEtcd(
            String label,
            MirrorSettings.Mirror mirror,
            MirrorSettings.Source.Etcd etcd,
            MeterRegistry meters,
            Consumer<AutoCloseable> opened) {
        EtcdCluster cluster = TlsFileException.at(
                "mirrors." + mirror.name() + ".source.tls",
                () -> EtcdCluster.connect(
                        etcd.cluster().withName(label + "-source"),
                        mirror.scope().feedRange(false),
                        meters));
        opened.accept(cluster);
        // The marks of other mirrors mean something to one into etcd only.
        boolean marked = etcd.marked() && mirror.target() instanceof MirrorSettings.Target.Etcd;
        return new MirrorSource(
                mirror.scope().feedRange(marked),
                new EtcdFeedSource(label, cluster, etcd.feed(), meters),
                () -> cluster.readIndex(etcd.cluster().requestTimeout()).thenApply(ReadIndex::revision),
                range -> count(cluster, range),
                cluster);
    }

    /** Returns the count of the member that snapshots are read from; fails when it doesn't answer. */
    private static CompletableFuture<Long> count(EtcdCluster cluster, KeyRange range) {
        List<Endpoint> endpoints = cluster.endpointsFor(Duty.SNAPSHOT);
        if (endpoints.isEmpty()) {
            return CompletableFuture.failedFuture(new IllegalStateException("no endpoint available for the key count"));
        }
        return Calls.unary(
                        cluster.channel(endpoints.get(0)),
                        KVGrpc.getRangeMethod(),
                        EtcdMessages.range(range)
                                .setCountOnly(true)
                                .setSerializable(true)
                                .build(),
                        cluster.settings().requestTimeout())
                .thenApply(RangeResponse::getCount);
    }

    private static MirrorSource ofKafka(
            MirrorSettings.Mirror mirror, MirrorSettings.Source.Kafka kafka, MeterRegistry meters) {
        KafkaFeedSource feeds = new KafkaFeedSource(
                mirror.name(), kafka.kafka(), kafka.options(), mirror.scope().sourceRanges(), meters);
        return new MirrorSource(
                mirror.scope().feedRange(false),
                feeds,
                feeds::head,
                range -> CompletableFuture.failedFuture(
                        new UnsupportedOperationException("key count is not available for a Kafka topic")),
                null);
    }
}
