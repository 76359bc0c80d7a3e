package io.understudy.gateway.dashboard;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
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
 * Looks at everything once a second, whether or not anybody watches: who comes later sees the last quarter of an hour. The
 * processes beside it are asked twice as often, so that what a look shows of them is hardly older. It has a thread of its own.
 * For any thread.
 */
public final class Dashboard implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Dashboard.class);
    private static final long ASKED_EVERY_MILLIS = Samples.STEP.toMillis() / 2;

    private final Neighbours neighbours;
    private final Samples samples = new Samples();
    private final Rates rates;
    private final Overview overview;
    private final Subject subject;
    private final List<Consumer<Moment>> watchers = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "dashboard");
        thread.setDaemon(true);
        return thread;
    });
    private volatile @Nullable Moment latest;

    /**
     * Doesn't look yet.
     *
     * @param registry of the gateway's metrics
     * @throws io.understudy.tls.TlsFileException if files that the settings name can't be used
     */
    public Dashboard(DashboardSettings settings, Subject subject, MeterRegistry registry) {
        this.subject = subject;
        this.neighbours = new Neighbours(settings, registry);
        this.rates = new Rates(registry, System.nanoTime());
        this.overview = new Overview(subject, neighbours, rates);
    }

    /**
     * What was seen in one look.
     *
     * @param timeMillis since 1970; greater each time
     * @param readsPerSecond since the look before
     * @param watchers there are
     * @param overview JSON
     * @param event the same with the sample, as a server-sent event
     */
    public record Moment(long timeMillis, double readsPerSecond, long watchers, Buffer overview, Buffer event) {}

    /** Begins to look. */
    public void start() {
        var unusedAsking = clock.scheduleAtFixedRate(this::ask, 0, ASKED_EVERY_MILLIS, TimeUnit.MILLISECONDS);
        var unusedLooking = clock.scheduleAtFixedRate(this::look, 0, Samples.STEP.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Null before the first. */
    public @Nullable Moment latest() {
        return latest;
    }

    /** Has {@code watcher} told of each from the next one on, on the dashboard's thread. */
    public void watch(Consumer<Moment> watcher) {
        watchers.add(watcher);
    }

    /**
     * A server-sent event with the samples after that time, in milliseconds since 1970, and whose they are: who connects again
     * may have come to another gateway.
     */
    public CompletableFuture<Buffer> history(long afterMillis) {
        return CompletableFuture.supplyAsync(
                () -> {
                    Moment now = latest;
                    return event(
                            "history",
                            now == null ? 0 : now.timeMillis(),
                            samples.after(afterMillis)
                                    .put("gateway", subject.report().name()));
                },
                clock);
    }

    private void ask() {
        try {
            neighbours.ask();
        } catch (RuntimeException e) {
            // It would never be done again.
            LOG.error("dashboard status requests failed", e);
        }
    }

    private void look() {
        try {
            Moment before = latest;
            Instant now = Instant.now();
            long time = before == null ? now.toEpochMilli() : Math.max(now.toEpochMilli(), before.timeMillis() + 1);
            Map<String, Double> values = rates.look(System.nanoTime());
            Duration staleness = subject.report().replica().get().staleness();
            if (staleness != null) {
                values.put("staleness_ms", staleness.toNanos() / 1e6);
            }
            MirrorLags.of(neighbours.of(Neighbour.Kind.MIRROR))
                    .forEach((mirror, lag) -> values.put("mirror." + mirror + ".lag_ms", lag));
            Sample sample = new Sample(time, values);
            samples.add(sample);
            JsonObject seen = overview.json(now, values);
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
            // The next look may do better; without this there would be none.
            LOG.error("dashboard refresh failed", e);
        }
    }

    private static Buffer event(String name, long id, JsonObject data) {
        return Buffer.buffer("event: " + name + "\nid: " + id + "\ndata: ")
                .appendBuffer(data.toBuffer())
                .appendString("\n\n");
    }

    /** Looks no more. Idempotent. */
    @Override
    public void close() {
        clock.shutdownNow();
        neighbours.close();
    }
}
