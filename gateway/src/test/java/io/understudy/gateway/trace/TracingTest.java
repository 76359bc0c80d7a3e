package io.understudy.gateway.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.sun.management.ThreadMXBean;
import io.grpc.Metadata;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.understudy.gateway.trace.BoundedSpans.CollectorLog;
import io.understudy.gateway.trace.CallTrace.CallTracer;
import io.understudy.gateway.trace.CallTrace.Carrier;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/**
 * Tracing without a collector, and with one that doesn't keep up.
 *
 * <p>Tests invariants O1, O3.
 */
@Timeout(60)
final class TracingTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String RANGE = "etcdserverpb.KV/Range";
    private static final Carrier NO_HEADERS = name -> null;
    private static final String CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
    private static final Metadata.Key<String> TRACEPARENT =
            Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

    private final MeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void withoutACollectorNothingIsTraced() {
        Tracing tracing = Tracing.of(TracingSettings.DEFAULTS, "test", "1", registry);
        assertThat(tracing).isSameAs(Tracing.OFF);
        assertThat(tracing.ofMethod(RANGE)).isSameAs(CallTracer.NONE);
        assertThat(tracing.ofRoute("/v1/kv")).isSameAs(CallTracer.NONE);
        assertThat(CallTracer.NONE.begin(NO_HEADERS)).isSameAs(CallTrace.NONE);
        assertThat(registry.getMeters()).isEmpty();
    }

    /** They are not even there. */
    @Test
    void withoutACollectorNoClassOfOpenTelemetryIsNeeded() throws Exception {
        URL[] others = Arrays.stream(System.getProperty("java.class.path").split(Pattern.quote(File.pathSeparator)))
                .filter(each -> !each.contains("opentelemetry"))
                .map(TracingTest::url)
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(others, ClassLoader.getPlatformClassLoader())) {
            Class<?> settings = loader.loadClass(TracingSettings.class.getName());
            Class<?> meters = loader.loadClass(MeterRegistry.class.getName());
            Class<?> tracing = loader.loadClass(Tracing.class.getName());
            Object off = tracing.getMethod("of", settings, String.class, String.class, meters)
                    .invoke(null, settings.getField("DEFAULTS").get(null), "test", "1", null);
            assertThat(off).isSameAs(tracing.getField("OFF").get(null));
        }
    }

    @Test
    void anUntracedCallAllocatesNothing() {
        CallTracer tracer = Tracing.OFF.ofMethod(RANGE);
        Metadata metadata = new Metadata();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        long bytes = Long.MAX_VALUE;
        // The first times load classes.
        for (int attempt = 0; attempt < 5; attempt++) {
            long before = threads.getThreadAllocatedBytes(self);
            for (int call = 0; call < 1_000; call++) {
                CallTrace trace = tracer.begin(NO_HEADERS);
                trace.passOn(metadata);
                trace.end(0);
            }
            bytes = Math.min(bytes, threads.getThreadAllocatedBytes(self) - before);
        }
        assertThat(bytes).isLessThan(1_000);
    }

    @Test
    void spansBeyondTheQueueAreDroppedAndCounted() {
        StuckCollector collector = new StuckCollector();
        SpanTracing tracing = tracing(collector);
        CallTracer tracer = tracing.ofMethod(RANGE);
        tracer.begin(NO_HEADERS).end(0);
        await().atMost(PATIENCE).until(() -> collector.batches.size() == 1);

        int calls = BoundedSpans.MOST_WAITING + 100;
        for (int i = 0; i < calls; i++) {
            tracer.begin(NO_HEADERS).end(0);
        }
        assertThat(collector.batches).as("what the collector has taken").noneMatch(CompletableResultCode::isDone);
        assertThat(count("dropped")).isEqualTo(100);

        collector.batches.forEach(CompletableResultCode::succeed);
        await().atMost(PATIENCE).until(() -> {
            collector.batches.forEach(CompletableResultCode::succeed);
            return count("exported") == 1 + BoundedSpans.MOST_WAITING;
        });
        assertThat(count("dropped")).isEqualTo(100);
        tracing.close(Duration.ofSeconds(1));
    }

    @Test
    void closingWaitsNoLongerThanItsDeadlineForAHangingCollector() {
        StuckCollector collector = new StuckCollector();
        SpanTracing tracing = tracing(collector);
        tracing.ofMethod(RANGE).begin(NO_HEADERS).end(0);
        tracing.close(Duration.ofMillis(200));
        // The exporter is shut down once it is given up to wait for the batch.
        assertThat(collector.isShutDown).isFalse();
    }

    @Test
    void exportFailuresAndRecoveriesAreLoggedOnce() {
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(CollectorLog.class);
        logged.start();
        logger.addAppender(logged);
        try {
            CollectorLog log = new CollectorLog(URI.create("http://127.0.0.1:1/v1/traces"));
            log.takes();
            IOException why = new IOException("not sent", new IOException("Connection refused"));
            log.refuses(why);
            log.refuses(why);
            log.takes();
            log.takes();
            log.refuses(null);
        } finally {
            logger.detachAppender(logged);
        }
        assertThat(logged.list)
                .extracting(event -> event.getFormattedMessage() + " " + event.getKeyValuePairs())
                .satisfiesExactly(
                        first -> assertThat(first)
                                .contains("dropping spans", "http://127.0.0.1:1/v1/traces", "Connection refused"),
                        second -> assertThat(second).contains("recovered", "http://127.0.0.1:1/v1/traces"),
                        third -> assertThat(third).contains("dropping spans", "rejected by the collector"));
    }

    @Test
    void anOversizedTracestateIsIgnored() {
        // Looked at by a pattern that backtracks, so many blanks take hours.
        String blanks = "a" + " ".repeat(2_500_000) + "b";
        Carrier hostile = name -> name.contentEquals("traceparent") ? CALLER + "-01" : blanks;
        SpanTracing tracing = tracing(new StuckCollector());
        Metadata passedOn = passedOn(tracing, hostile);
        assertThat(passedOn.get(TRACEPARENT)).startsWith(CALLER.substring(0, 35));
    }

    @Test
    void anUnsampledContextIsPropagatedOnlyIfTheCallerDecided() {
        Sampler callers = Sampler.parentBased(Sampler.alwaysOff());
        SpanTracing tracing = tracing(new StuckCollector(), callers);
        assertThat(passedOn(tracing, NO_HEADERS).keys()).isEmpty();
        assertThat(passedOn(tracing, name -> name.contentEquals("traceparent") ? CALLER + "-00" : null)
                        .get(TRACEPARENT))
                .startsWith(CALLER.substring(0, 35))
                .endsWith("-00");
    }

    private static Metadata passedOn(Tracing tracing, Carrier headers) {
        Metadata metadata = new Metadata();
        CallTrace trace = tracing.ofMethod(RANGE).begin(headers);
        trace.passOn(metadata);
        trace.end(0);
        return metadata;
    }

    private SpanTracing tracing(SpanExporter collector) {
        return tracing(collector, Sampler.alwaysOn());
    }

    private SpanTracing tracing(SpanExporter collector, Sampler sampler) {
        return new SpanTracing(
                collector,
                sampler,
                Resource.empty(),
                registry,
                new CollectorLog(URI.create("http://127.0.0.1:1/v1/traces")),
                () -> {});
    }

    private double count(String outcome) {
        return registry.get("understudy.gateway.tracing.spans")
                .tag("outcome", outcome)
                .counter()
                .count();
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Completes no batch until the test does. */
    private static final class StuckCollector implements SpanExporter {

        final Queue<CompletableResultCode> batches = new ConcurrentLinkedQueue<>();
        volatile boolean isShutDown;

        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            CompletableResultCode result = new CompletableResultCode();
            batches.add(result);
            return result;
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            isShutDown = true;
            return CompletableResultCode.ofSuccess();
        }
    }
}
