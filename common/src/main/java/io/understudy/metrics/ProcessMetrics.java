package io.understudy.metrics;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The registry of a process, with the JVM's own meters in it. Every meter has the tag {@code process},
 * except for the resident memory.
 *
 * <p>Invariant ME1: every meter is declared, listed with its tags, tagged with the process, and named by module and
 * noun with its own unit.
 */
public final class ProcessMetrics implements AutoCloseable {

    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
    private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    private static final int KILOBYTE = 1_024;

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();

    private final String version;

    /**
     * Returns the version of the build in the manifest of the jar with {@code main}. Outside of a jar: {@code unknown}.
     */
    public static String versionOf(Class<?> main) {
        String version = main.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }

    /**
     * Registers the meters of the JVM and the build.
     *
     * @param process what kind of process this is, such as {@code gateway}
     * @param version of this build
     */
    public ProcessMetrics(String process, String version) {
        this.version = version;
        registry.config()
                .commonTags("process", process)
                .meterFilter(MeterFilter.deny(ProcessMetrics::isOfKafkaNode))
                .meterFilter(new Untagged());
        new ClassLoaderMetrics().bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        collections.bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        CommonMeter.RESIDENT_MEMORY.gauge(ProcessMetrics::residentBytes).register(registry);
        CommonMeter.BUILD.gauge(() -> 1).tag("version", version).register(registry);
    }

    /** Whether it is one of Kafka's metrics per broker, which outlive their brokers. */
    private static boolean isOfKafkaNode(Meter.Id meter) {
        return meter.getName().startsWith("kafka.") && meter.getTag("node.id") != null;
    }

    /** {@code etcdctl check datascale} reads the resident memory only without tags. */
    private static final class Untagged implements MeterFilter {

        @Override
        public Meter.Id map(Meter.Id id) {
            return id.getName().equals(CommonMeter.RESIDENT_MEMORY.metric().name()) ? id.replaceTags(List.of()) : id;
        }
    }

    /** Not a number where the operating system is not Linux. */
    private static double residentBytes() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")) * KILOBYTE)
                    .findFirst()
                    .orElse(Double.NaN);
        } catch (IOException | UncheckedIOException e) {
            return Double.NaN;
        }
    }

    /** A page of metrics. */
    public record Scrape(String contentType, String body) {}

    /** Version of this build. */
    public String version() {
        return version;
    }

    public MeterRegistry registry() {
        return registry;
    }

    /**
     * All meters as text.
     *
     * @param accept the request's header of that name; OpenMetrics is returned only where it is requested
     */
    public Scrape scrape(@Nullable String accept) {
        boolean open = accept != null && accept.contains("application/openmetrics-text");
        String contentType = open ? OPEN_METRICS : PROMETHEUS;
        return new Scrape(contentType, registry.scrape(contentType));
    }

    @Override
    public void close() {
        collections.close();
        registry.close();
    }
}
