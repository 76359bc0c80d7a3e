package io.understudy.gateway.json;

import io.understudy.etcd.BoundedBody;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdVersion;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The JSON dialect of the source's members; until one responds, that of official etcd 3.5. Probes are retried with
 * exponential backoff, and repeated for another version of the source. Thread-safe.
 */
public final class SourceForm implements Supplier<JsonForm>, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SourceForm.class);

    /** A range without a key, which every member rejects without effect. */
    private static final String REFUSED = "{}";

    /** Maximum size of its response. */
    private static final int MOST_BYTES = 64 << 10;

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private final EtcdCluster source;
    private final HttpClient http;
    /** The latest series of probes; earlier ones end. */
    private final AtomicLong series = new AtomicLong();

    /** The source's version at the last {@link #probe}; null before the first. */
    private final AtomicReference<@Nullable EtcdVersion> probed = new AtomicReference<>();

    private volatile boolean known;
    private volatile JsonForm form = JsonForm.GRPC_GATEWAY_1;

    public SourceForm(EtcdCluster source) {
        this.source = source;
        Duration patience = source.settings().requestTimeout();
        HttpClient.Builder builder =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(patience);
        this.http = source.tls().applyTo(builder).build();
    }

    @Override
    public JsonForm get() {
        EtcdVersion before = probed.get();
        EtcdVersion now = source.view().version();
        if (before != null && !before.equals(now) && probed.compareAndSet(before, now)) {
            probeFrom(now);
        }
        return form;
    }

    /** Whether a member has responded since the last {@link #probe}. */
    boolean isKnown() {
        return known;
    }

    /** Probes the members in turn until one responds. The form stays as it is until then. Doesn't block. */
    public void probe() {
        EtcdVersion now = source.view().version();
        probed.set(now);
        probeFrom(now);
    }

    private void probeFrom(EtcdVersion version) {
        known = false;
        probeAll(series.incrementAndGet(), version, FIRST_PAUSE);
    }

    /** Stops probing. */
    @Override
    public void close() {
        long unused = series.incrementAndGet();
    }

    private void probeAll(long current, EtcdVersion version, Duration pause) {
        if (current == series.get()) {
            probe(
                    source.view().members().stream()
                            // Others may have been upgraded before, or not yet.
                            .sorted(Comparator.comparing(member -> !version.equals(member.version())))
                            .flatMap(member -> member.endpoints().stream())
                            .iterator(),
                    current,
                    version,
                    pause);
        }
    }

    private void probe(Iterator<Endpoint> rest, long current, EtcdVersion version, Duration pause) {
        if (!rest.hasNext()) {
            LOG.atLevel(pause.equals(FIRST_PAUSE) ? Level.WARN : Level.DEBUG)
                    .addKeyValue("assumed", form)
                    .log("JSON dialect unknown: no source member responds to JSON requests");
            Duration doubled = pause.multipliedBy(2);
            Duration next = doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
            CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(() -> probeAll(current, version, next));
            return;
        }
        Duration timeout = source.settings().requestTimeout();
        HttpRequest request = HttpRequest.newBuilder(rest.next().uri().resolve("/v3/kv/range"))
                .timeout(timeout)
                .POST(BodyPublishers.ofString(REFUSED))
                .build();
        CompletableFuture<HttpResponse<String>> exchange = http.sendAsync(request, BoundedBody.text(MOST_BYTES));
        // The request's own timeout ends with the headers of the response.
        var unused = exchange.copy()
                .orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS)
                .whenComplete((response, failure) -> exchange.cancel(true))
                .handle((response, failure) ->
                        Optional.ofNullable(response).map(HttpResponse::body).flatMap(JsonForm::ofRefusal))
                .thenAccept(detected ->
                        detected.ifPresentOrElse(of -> use(of, current), () -> probe(rest, current, version, pause)));
    }

    private void use(JsonForm detected, long of) {
        if (of != series.get()) {
            return;
        }
        form = detected;
        known = true;
        LOG.atInfo().addKeyValue("dialect", detected).log("JSON dialect detected");
    }
}
