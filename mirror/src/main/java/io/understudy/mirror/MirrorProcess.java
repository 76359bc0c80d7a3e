package io.understudy.mirror;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.FeedKind;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.mirror.active.ActiveLease;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.call.KeyCount;
import io.understudy.mirror.etcd.EtcdSink;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.kafka.KafkaSink;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.lease.LeaseMetrics;
import io.understudy.mirror.lease.LeasedSink;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.pipeline.MirrorFailedException;
import io.understudy.mirror.pipeline.MirrorPlan;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.pipeline.Pipeline;
import io.understudy.mirror.revisions.CheckpointHistory;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.revisions.TargetCompaction;
import io.understudy.mirror.sink.ForeignWriteHint;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.mirror.status.MirrorShown;
import io.understudy.mirror.status.Shown;
import io.understudy.mirror.status.StatusServer;
import io.understudy.mirror.verify.BackgroundVerification;
import io.understudy.mirror.verify.Repair;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mirrors of one process, and its status server. One mirror that fails for good fails the process: see
 * {@link #failure}.
 */
public final class MirrorProcess implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MirrorProcess.class);

    private static final Duration LAG_INTERVAL = Duration.ofSeconds(1);

    private final ProcessMetrics process = new ProcessMetrics("mirror", version());
    private final MeterRegistry meters = process.registry();
    private final CompletableFuture<MirrorFailedException> failure = new CompletableFuture<>();
    /** What was opened, the last first. */
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    private final StatusServer status;

    /** Empty until all have been started. */
    private volatile List<Pipeline> pipelines = List.of();

    /** What mirrors to etcd have besides, by name. */
    private final Map<String, EtcdUpkeep> upkeeps = new ConcurrentHashMap<>();

    private MirrorProcess(MirrorSettings settings) throws IOException {
        status = StatusServer.start(settings.status(), new ShownHere());
        open.push(process);
        open.push(status);
    }

    /**
     * Starts everything, or nothing. Neither sources nor targets need to be there: the mirrors keep trying.
     *
     * @throws IOException the status address can't be listened at; the message names it
     */
    public static MirrorProcess start(MirrorSettings settings) throws IOException {
        MirrorProcess process = new MirrorProcess(settings);
        try {
            process.startMirrors(settings);
            return process;
        } catch (RuntimeException e) {
            process.close();
            throw e;
        }
    }

    /** The port at which status and metrics are served. */
    public int statusPort() {
        return status.port();
    }

    /** Completes when a mirror has failed for good, which needs an operator; the process is then to be ended. */
    public CompletableFuture<MirrorFailedException> failure() {
        return failure.copy();
    }

    /** What each mirror shows now. */
    public List<MirrorReport> reports() {
        return pipelines.stream().map(Pipeline::report).toList();
    }

    /** Ends what is being written, or interrupts it after a few seconds, then closes all connections. Idempotent. */
    @Override
    public synchronized void close() {
        pipelines.forEach(Pipeline::stop);
        while (!open.isEmpty()) {
            AutoCloseable next = open.pop();
            try {
                next.close();
            } catch (Exception e) {
                LOG.warn("not closed cleanly what={}", next, e);
            }
        }
    }

    private void startMirrors(MirrorSettings settings) {
        String writer = WriterName.ofThisProcess();
        // Shown all at once: to be ready means that each of them is.
        pipelines = settings.mirrors().stream()
                .map(mirror -> startMirror(mirror, writer))
                .toList();
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread thread = new Thread(work, "mirror-lag");
            thread.setDaemon(true);
            return thread;
        });
        open.push(clock::shutdownNow);
        var unused = clock.scheduleAtFixedRate(
                () -> pipelines.forEach(Pipeline::measureLag), 0, LAG_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static String version() {
        String version = MirrorProcess.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }

    private Pipeline startMirror(MirrorSettings.Mirror mirror, String writer) {
        EtcdCluster source = connect(mirror.source(), mirror.name() + "-source");
        return mirror.target() instanceof MirrorSettings.Target.Etcd etcd
                ? startEtcd(mirror, source, etcd, writer)
                : startKafka(mirror, source, ((MirrorSettings.Target.Kafka) mirror.target()).options(), writer);
    }

    private Pipeline startEtcd(
            MirrorSettings.Mirror mirror, EtcdCluster source, MirrorSettings.Target.Etcd etcd, String writer) {
        EtcdCluster target = connect(etcd.cluster(), mirror.name() + "-target");
        ActiveRole role = ActiveLease.start(mirror.name(), writer, target, etcd.activeTtl(), meters);
        open.push(role);
        LeaseMetrics leases = new LeaseMetrics(mirror.name(), meters);
        KeyRange range = mirror.scope().feedRange(mirror.marked());
        AtomicReference<@Nullable EtcdSink> writing = new AtomicReference<>();
        Pipeline pipeline = start(new MirrorPlan(
                mirror.name(),
                range,
                FeedKind.STATE,
                shown(mirror.source()),
                feeds(mirror, source),
                head(mirror, source),
                () -> KeyCount.of(source, range),
                shown(etcd.cluster()),
                role,
                listener -> sink(mirror, etcd.options(), writer, source, target, leases, writing::set, listener)));
        Repair repair = operations -> {
            EtcdSink sink = writing.get();
            return sink != null && sink.repair(operations);
        };
        EtcdUpkeep upkeep = new EtcdUpkeep(
                mirror.name(),
                new BackgroundVerification(
                        MirrorQuestions.sides(mirror, etcd, source, target), etcd.verify(), repair, meters),
                new TargetCompaction(mirror.name(), target, etcd.compactAfter()),
                new RevisionMap(new CheckpointHistory(mirror.name(), target)),
                () -> pipeline.report().state() == MirrorState.SYNCED);
        upkeeps.put(mirror.name(), upkeep);
        upkeep.start();
        open.push(upkeep);
        return pipeline;
    }

    private static Sink sink(
            MirrorSettings.Mirror mirror,
            EtcdSinkOptions options,
            String writer,
            EtcdCluster source,
            EtcdCluster target,
            LeaseMetrics metrics,
            Consumer<EtcdSink> writing,
            SinkListener listener) {
        Function<TargetLeases, EtcdSink> sinks = leases -> {
            EtcdSink sink = new EtcdSink(
                    mirror.name(),
                    mirror.scope(),
                    writer,
                    source,
                    target,
                    options,
                    leases,
                    ForeignWriteHint.NONE,
                    listener);
            writing.accept(sink);
            return sink;
        };
        return switch (options.leases()) {
            case DROP -> {
                LeasedSink.requireNoneKept(mirror.name(), target, listener);
                yield sinks.apply(TargetLeases.DROPPED);
            }
            case TTL ->
                LeasedSink.over(
                        mirror.name(),
                        mirror.scope(),
                        source,
                        target,
                        metrics,
                        listener,
                        sinks,
                        EtcdSink::epoch,
                        EtcdSink::repair);
        };
    }

    private Pipeline startKafka(
            MirrorSettings.Mirror mirror, EtcdCluster source, KafkaSinkOptions options, String writer) {
        KeyRange range = mirror.scope().feedRange(false);
        return start(new MirrorPlan(
                mirror.name(),
                range,
                FeedKind.HISTORY,
                shown(mirror.source()),
                feeds(mirror, source),
                head(mirror, source),
                () -> KeyCount.of(source, range),
                "kafka " + options.bootstrapServers() + " topic " + options.topic(),
                ActiveRole.ALWAYS,
                listener -> new KafkaSink(mirror.name(), mirror.scope(), writer, options, listener)));
    }

    private Pipeline start(MirrorPlan plan) {
        Pipeline pipeline = Pipeline.start(plan, meters);
        open.push(pipeline);
        var unused = pipeline.failure().thenAccept(failure::complete);
        LOG.info("mirror={} started, source=\"{}\" target=\"{}\"", plan.mirror(), plan.sourceName(), plan.targetName());
        return pipeline;
    }

    private EtcdFeedSource feeds(MirrorSettings.Mirror mirror, EtcdCluster source) {
        return new EtcdFeedSource(mirror.name(), source, mirror.feed(), meters);
    }

    private static Supplier<CompletableFuture<ReadIndex>> head(MirrorSettings.Mirror mirror, EtcdCluster source) {
        return () -> source.readIndex(mirror.source().requestTimeout());
    }

    private static String shown(EtcdSettings cluster) {
        return "etcd " + cluster.endpoints();
    }

    private EtcdCluster connect(EtcdSettings settings, String name) {
        EtcdCluster cluster = EtcdCluster.connect(settings.withName(name), meters);
        open.push(cluster);
        return cluster;
    }

    /** What the status server shows. */
    private final class ShownHere implements Shown {

        @Override
        public List<MirrorShown> mirrors() {
            return reports().stream().map(this::mirror).toList();
        }

        private MirrorShown mirror(MirrorReport report) {
            EtcdUpkeep upkeep = upkeeps.get(report.mirror());
            return upkeep == null ? new MirrorShown(report, null, 0, List.of()) : upkeep.shown(report);
        }

        @Override
        public String metrics() {
            return process.scrape(null).body();
        }

        @Override
        public Optional<RevisionMap> revisions(String mirror) {
            return Optional.ofNullable(upkeeps.get(mirror)).map(EtcdUpkeep::revisions);
        }
    }
}
