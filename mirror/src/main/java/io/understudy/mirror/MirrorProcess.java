package io.understudy.mirror;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.config.ProcessName;
import io.understudy.feed.FeedKind;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.kafka.KafkaSink;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.lease.LeaseMetrics;
import io.understudy.mirror.metrics.MirrorMeter;
import io.understudy.mirror.pipeline.MirrorFailedException;
import io.understudy.mirror.pipeline.MirrorPlan;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.Pipeline;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.settings.MirrorCourses;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.status.MirrorShown;
import io.understudy.mirror.status.Shown;
import io.understudy.mirror.status.StatusServer;
import io.understudy.tls.TlsFileException;
import java.io.IOException;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mirrors of one process, and its status server.
 *
 * <p>Invariant M36: a process retries and reports while source or target is unavailable; a mirror that needs an
 * operator fails alone, with the reason, and is tried again.
 */
public final class MirrorProcess implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MirrorProcess.class);

    private static final Duration ASK_INTERVAL = Duration.ofSeconds(1);

    private final ProcessMetrics process = new ProcessMetrics("mirror", ProcessMetrics.versionOf(MirrorProcess.class));
    private final MeterRegistry meters = process.registry();
    private final CompletableFuture<MirrorFailedException> failure = new CompletableFuture<>();
    /** What was opened, the last first. */
    private final Deque<AutoCloseable> open = new ConcurrentLinkedDeque<>();

    private volatile boolean closed;

    private final StatusServer status;

    /** Empty until all have been started. */
    private volatile List<Pipeline> pipelines = List.of();

    /** What mirrors to etcd have besides, by name. */
    private final Map<String, Supplier<EtcdUpkeep>> upkeeps = new ConcurrentHashMap<>();

    private MirrorProcess(MirrorSettings settings) throws IOException {
        status = StatusServer.start(
                settings.status(),
                TlsFileException.at("tls", () -> settings.security().server(meters)),
                new ShownHere());
        open.push(process);
        open.push(status);
    }

    /**
     * Starts everything, or nothing. Neither sources nor targets need to be there: the mirrors keep trying.
     *
     * @throws IOException the status address can't be listened at; the message names it
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
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

    /** Completes when a mirror fails for the first time; the others continue, and it is tried again. */
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
        closed = true;
        pipelines.forEach(Pipeline::stop);
        closeOpen();
    }

    private void closeOpen() {
        for (AutoCloseable next = open.poll(); next != null; next = open.poll()) {
            try {
                next.close();
            } catch (Exception e) {
                LOG.atWarn().addKeyValue("resource", next).setCause(e).log("close failed");
            }
        }
    }

    private void startMirrors(MirrorSettings settings) {
        String writer = ProcessName.unique();
        // Shown all at once: to be ready means that each of them is.
        pipelines = settings.mirrors().stream()
                .map(mirror -> startMirror(mirror, writer, MirrorCourses.feeding(mirror, settings.mirrors())))
                .toList();
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread thread = new Thread(work, "mirror-query");
            thread.setDaemon(true);
            return thread;
        });
        open.push(clock::shutdownNow);
        var unused = clock.scheduleAtFixedRate(
                () -> pipelines.forEach(Pipeline::sampleSource), 0, ASK_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    }

    private Pipeline startMirror(MirrorSettings.Mirror mirror, String writer, Set<String> feeding) {
        if (mirror.target() instanceof MirrorSettings.Target.Kafka kafka) {
            MirrorSource source = MirrorSource.open(mirror, meters, this::opened);
            MirrorPlan plan = intoKafka(mirror, source, kafka.options(), writer);
            return started(plan, Pipeline.start(plan, meters));
        }
        return startEtcd(mirror, writer, feeding);
    }

    /** The other direction is opened when it is first used; its connections and its feed have names of their own. */
    private Pipeline startEtcd(MirrorSettings.Mirror mirror, String writer, Set<String> feeding) {
        String name = mirror.name();
        LeaseMetrics leases = new LeaseMetrics(name, meters);
        Map<MirrorPlan, EtcdUpkeep> started = new ConcurrentHashMap<>();
        CompletableFuture<Pipeline> running = new CompletableFuture<>();
        BiFunction<String, MirrorSettings.Mirror, MirrorPlan> opening = (label, direction) -> {
            EtcdMirror etcd = new EtcdMirror(
                    label,
                    direction,
                    (MirrorSettings.Target.Etcd) direction.target(),
                    writer,
                    MirrorSource.open(label, direction, meters, this::opened),
                    direction.equals(mirror) ? feeding : Set.of(),
                    meters,
                    leases,
                    this::opened);
            MirrorPlan plan = etcd.plan(this::opened);
            EtcdUpkeep upkeep = etcd.upkeep(() -> {
                Pipeline pipeline = running.getNow(null);
                return pipeline != null
                        && pipeline.follows(plan)
                        && pipeline.report().state().isFollowing();
            });
            started.put(plan, upkeep);
            upkeep.start();
            opened(upkeep);
            return plan;
        };
        MirrorPlan forward = opening.apply(name, mirror);
        Pipeline pipeline = mirror.reversed()
                .map(back -> Pipeline.start(forward, () -> opening.apply(name + "-reversed", back), meters))
                .orElseGet(() -> Pipeline.start(forward, meters));
        running.complete(started(forward, pipeline));
        upkeeps.put(name, () -> started.entrySet().stream()
                .filter(each -> pipeline.follows(each.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow());
        pipeline.differing(() -> upkeep(name).map(EtcdUpkeep::differing).orElse(0L));
        MirrorMeter.WARNINGS
                .gauge(() -> upkeep(name)
                        .map(EtcdUpkeep::warnings)
                        .orElseGet(List::of)
                        .size())
                .tag("mirror", name)
                .register(meters);
        MirrorMeter.VERIFY_DIFFERENCES
                .gauge(() -> upkeep(name).map(EtcdUpkeep::differing).orElse(0L))
                .tag("mirror", name)
                .register(meters);
        return pipeline;
    }

    /** Of the mirror's present direction. */
    private Optional<EtcdUpkeep> upkeep(String mirror) {
        return Optional.ofNullable(upkeeps.get(mirror)).map(Supplier::get);
    }

    private MirrorPlan intoKafka(
            MirrorSettings.Mirror mirror, MirrorSource source, KafkaSinkOptions options, String writer) {
        return new MirrorPlan(
                mirror.name(),
                source.range(),
                FeedKind.HISTORY,
                source.shown(),
                source.feeds(),
                source.head(),
                source.cluster() != null,
                source::outage,
                source.patience(),
                () -> source.count().apply(source.range()),
                "kafka " + options.kafka().bootstrapServers() + " topic " + options.topic(),
                ActiveRole.ALWAYS,
                Optional::empty,
                KafkaSink.factory(mirror.name(), mirror.scope(), writer, options, meters));
    }

    private Pipeline started(MirrorPlan plan, Pipeline pipeline) {
        opened(pipeline);
        var unused = pipeline.failure().thenAccept(failure::complete);
        LOG.atInfo()
                .addKeyValue("mirror", plan.mirror())
                .addKeyValue("source", plan.sourceName())
                .addKeyValue("target", plan.targetName())
                .log("mirror started");
        return pipeline;
    }

    /** To be closed with this, at once if this is closed. Any thread. */
    private void opened(AutoCloseable resource) {
        open.push(resource);
        if (closed) {
            closeOpen();
        }
    }

    /** What the status server shows. */
    private final class ShownHere implements Shown {

        @Override
        public List<MirrorShown> mirrors() {
            return reports().stream().map(this::mirror).toList();
        }

        private MirrorShown mirror(MirrorReport report) {
            return upkeep(report.mirror())
                    .map(upkeep -> upkeep.shown(report))
                    .orElseGet(() -> new MirrorShown(report, null, 0, null, List.of()));
        }

        @Override
        public ProcessMetrics.Scrape metrics(@Nullable String accept) {
            return process.scrape(accept);
        }

        @Override
        public Optional<RevisionMap> revisions(String mirror) {
            return upkeep(mirror).map(EtcdUpkeep::revisions);
        }
    }
}
