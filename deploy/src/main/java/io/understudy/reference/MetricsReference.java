package io.understudy.reference;

import io.understudy.cluster.metrics.ClusterMeter;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.metrics.CommonMeter;
import io.understudy.metrics.Declared;
import io.understudy.metrics.Metric;
import io.understudy.mirror.metrics.MirrorMeter;
import java.util.List;
import java.util.stream.Stream;

/** Every meter that a process of this build may have, as it is declared in the code. */
public final class MetricsReference {

    private static final List<Section> SECTIONS = List.of(
            new Section("Every process", of("understudy.build", CommonMeter.values())),
            new Section("Certificates, where TLS is spoken", of("understudy.tls", CommonMeter.values())),
            new Section("Connections to etcd, of gateways and mirrors", of("understudy.etcd", CommonMeter.values())),
            new Section("Feeds, of gateways and mirrors", of("understudy.feed", CommonMeter.values())),
            new Section("Gateway", of("understudy.gateway", GatewayMeter.values())),
            new Section("Mirror", of("understudy.mirror", MirrorMeter.values())),
            new Section("Supervisor", of("understudy.cluster", ClusterMeter.values())));

    private MetricsReference() {}

    /** The meters of one kind, under a heading. */
    public record Section(String title, List<Metric> metrics) {

        public Section {
            metrics = List.copyOf(metrics);
        }
    }

    public static List<Section> sections() {
        return SECTIONS;
    }

    private static List<Metric> of(String prefix, Declared[] declared) {
        return Stream.of(declared)
                .map(Declared::metric)
                .filter(metric -> metric.name().startsWith(prefix))
                .toList();
    }

    /** The document, in Markdown. */
    public static String markdown() {
        StringBuilder text = new StringBuilder("""
                # Metrics

                Written by `understudy metrics --output markdown`; change the declarations in the code, not this file.

                Each process serves its meters at `/metrics`, as Prometheus' text format or, for those who ask for it, OpenMetrics. Every
                meter has the tag `process`: `gateway`, `mirror` or `supervisor`. Timers and summaries have `_count`, `_sum` and `_max` (of
                the last minutes); those with a histogram `_bucket` too. A meter whose tags tell an outcome is there once that has happened.
                What the JVM and the operating system tell is there as Micrometer names it: `jvm_…`, `process_…`, `system_…`.
                """);
        for (Section section : SECTIONS) {
            text.append("\n## ").append(section.title()).append("\n\n");
            text.append(
                    "| name | in Prometheus | type | unit | tags | meaning |\n| --- | --- | --- | --- | --- | --- |\n");
            section.metrics().forEach(metric -> text.append(row(metric)));
        }
        return text.toString();
    }

    private static String row(Metric metric) {
        return "| `%s` | `%s` | %s | %s | %s | %s |\n"
                .formatted(
                        metric.name(),
                        metric.prometheusName(),
                        metric.type().word(),
                        metric.shownUnit(),
                        tags(metric, "`"),
                        metric.meaning())
                .replace("|  |", "| |");
    }

    /** The tags with their values, on one line. */
    public static String tags(Metric metric, String quote) {
        return String.join(
                "; ",
                metric.tags().stream()
                        .map(tag -> quote + tag.key() + quote + " (" + tag.values() + ")")
                        .toList());
    }
}
