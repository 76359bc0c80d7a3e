package io.understudy.gateway.json;

import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The form in which the source's own members answer JSON; until one has told, that of official etcd 3.5. When none tells,
 * they are asked again, after a second and then ever less often. For any thread.
 */
public final class SourceForm implements Supplier<JsonForm>, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SourceForm.class);

    /** A range without a key: every member refuses it, whatever it is, without doing anything. */
    private static final String REFUSED = "{}";

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private final EtcdCluster source;
    private final HttpClient http;
    /** The latest series of questions: it alone goes on. */
    private final AtomicLong series = new AtomicLong();

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
        return form;
    }

    /** Whether the source has told, since it was last asked. */
    boolean isKnown() {
        return known;
    }

    /** Asks one member after the other, over and over until one has told; meanwhile the form stays what it was. Doesn't wait. */
    public void ask() {
        known = false;
        askAll(series.incrementAndGet(), FIRST_PAUSE);
    }

    /** Asks no more. */
    @Override
    public void close() {
        long unused = series.incrementAndGet();
    }

    private void askAll(long asking, Duration pause) {
        if (asking == series.get()) {
            ask(
                    source.view().members().stream()
                            .flatMap(member -> member.endpoints().stream())
                            .iterator(),
                    asking,
                    pause);
        }
    }

    private void ask(Iterator<Endpoint> rest, long asking, Duration pause) {
        if (!rest.hasNext()) {
            LOG.atLevel(pause.equals(FIRST_PAUSE) ? Level.WARN : Level.DEBUG)
                    .addKeyValue("assumed", form)
                    .log("JSON dialect unknown: no source member responds to JSON requests");
            Duration doubled = pause.multipliedBy(2);
            Duration next = doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
            CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(() -> askAll(asking, next));
            return;
        }
        HttpRequest request = HttpRequest.newBuilder(rest.next().uri().resolve("/v3/kv/range"))
                .timeout(source.settings().requestTimeout())
                .POST(BodyPublishers.ofString(REFUSED))
                .build();
        var unused = http.sendAsync(request, BodyHandlers.ofString())
                .handle((response, failure) ->
                        Optional.ofNullable(response).map(HttpResponse::body).flatMap(JsonForm::ofRefusal))
                .thenAccept(told -> told.ifPresentOrElse(this::use, () -> ask(rest, asking, pause)));
    }

    private void use(JsonForm told) {
        form = told;
        known = true;
        LOG.atInfo().addKeyValue("dialect", told).log("JSON dialect detected");
    }
}
