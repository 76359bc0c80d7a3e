package io.understudy.gateway.dashboard;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.vocabulary.DaemonThreads;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Samples all metrics once a second and keeps the last 24 hours. Other processes are polled twice as often,
 * so that their part of a sample is hardly older. Has its own thread. Thread-safe.
 */
public final class Dashboard implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Dashboard.class);
    private static final long POLL_MILLIS = Samples.STEP.toMillis() / 2;

    /** Shorter than the usual interval of read indexes, between which the staleness rises. */
    private static final long MEASURE_MILLIS = 50;

    private final Neighbours neighbours;
    private final Samples samples = new Samples();
    private final Rates rates;
    private final Overview overview;
    private final DashboardSources subject;
    private final List<Consumer<Moment>> watchers = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService clock =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("dashboard"));
    /** Since the last sample, in milliseconds. */
    private DoubleSummaryStatistics staleness = new DoubleSummaryStatistics();

    private volatile @Nullable Moment latest;

    /**
     * Takes no samples until {@link #start}.
     *
     * @param registry of the gateway's metrics
     * @throws io.understudy.tls.TlsFileException if files that the settings name can't be used
     */
    public Dashboard(DashboardSettings settings, DashboardSources subject, MeterRegistry registry) {
        this.subject = subject;
        this.neighbours = new Neighbours(settings, registry);
        this.rates = new Rates(registry, System.nanoTime());
        this.overview = new Overview(subject, neighbours, rates);
    }

    /**
     * One sample of everything.
     *
     * @param timeMillis since 1970; greater each time
     * @param readsPerSecond since the previous sample
     * @param watchers number of them
     * @param overview JSON
     * @param event the same with the sample, as a server-sent event
     */
    public record Moment(long timeMillis, double readsPerSecond, long watchers, Buffer overview, Buffer event) {}

    /** Starts the schedule. */
    public void start() {
        var unusedPolling = clock.scheduleAtFixedRate(this::poll, 0, POLL_MILLIS, TimeUnit.MILLISECONDS);
        var unusedMeasuring = clock.scheduleAtFixedRate(this::measure, 0, MEASURE_MILLIS, TimeUnit.MILLISECONDS);
        var unusedLooking = clock.scheduleAtFixedRate(this::look, 0, Samples.STEP.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Null before the first. */
    public @Nullable Moment latest() {
        return latest;
    }

    /** Calls {@code watcher} for each later sample, on the dashboard's thread. */
    public void watch(Consumer<Moment> watcher) {
        watchers.add(watcher);
    }

    /**
     * A server-sent event with the later samples (milliseconds since 1970) and the gateway's name. A client that
     * reconnects may have reached another gateway.
     */
    public CompletableFuture<Buffer> history(long afterMillis) {
        return CompletableFuture.supplyAsync(
                () -> {
                    Moment now = latest;
                    return event("history", now == null ? 0 : now.timeMillis(), named(samples.after(afterMillis)));
                },
                clock);
    }

    /**
     * The samples since a time (milliseconds since 1970) as JSON, with the gateway's name. A point merges 15 samples if
     * they go back for more than 15 minutes, and 60 for more than 6 hours.
     */
    public CompletableFuture<byte[]> samples(long fromMillis) {
        return CompletableFuture.supplyAsync(
                () -> named(samples.since(fromMillis)).toBuffer().getBytes(), clock);
    }

    private JsonObject named(JsonObject history) {
        return history.put("gateway", subject.report().name());
    }

    private void poll() {
        try {
            neighbours.poll();
        } catch (RuntimeException e) {
            // An exception would end the schedule.
            LOG.error("dashboard status requests failed", e);
        }
    }

    private void measure() {
        try {
            Duration now = subject.report().replica().get().staleness();
            if (now != null) {
                staleness.accept(now.toNanos() / 1e6);
            }
        } catch (RuntimeException e) {
            // An exception would end the schedule.
            LOG.error("staleness measurement failed", e);
        }
    }

    private void look() {
        try {
            Moment before = latest;
            Instant now = Instant.now();
            long time = before == null ? now.toEpochMilli() : Math.max(now.toEpochMilli(), before.timeMillis() + 1);
            Map<String, Double> values = rates.look(System.nanoTime());
            measure();
            if (staleness.getCount() > 0) {
                values.put("staleness_ms", staleness.getAverage());
                values.put("staleness_ms.min", staleness.getMin());
                values.put("staleness_ms.max", staleness.getMax());
                staleness = new DoubleSummaryStatistics();
            }
            JsonObject seen = overview.json(now, values);
            MirrorLags.of(seen.getJsonArray("mirrors"))
                    .forEach((mirror, lag) -> values.put("mirror." + mirror + ".lag_ms", lag));
            Sample sample = new Sample(time, values);
            samples.add(sample);
            Buffer page = seen.toBuffer();
            Moment moment = new Moment(
                    time,
                    Sample.rounded(Rates.reads(values)),
                    values.getOrDefault(Rates.WATCHERS, 0.0).longValue(),
                    page,
                    event("overview", time, seen.put("sample", sample.json())));
            latest = moment;
            watchers.forEach(watcher -> watcher.accept(moment));
        } catch (RuntimeException e) {
            // An exception would end the schedule.
            LOG.error("dashboard refresh failed", e);
        }
    }

    private static Buffer event(String name, long id, JsonObject data) {
        return Buffer.buffer("event: " + name + "\nid: " + id + "\ndata: ")
                .appendBuffer(data.toBuffer())
                .appendString("\n\n");
    }

    /** Stops sampling. Idempotent. */
    @Override
    public void close() {
        clock.shutdownNow();
        neighbours.close();
    }
}
