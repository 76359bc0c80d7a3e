package io.understudy.bench.mirror;

import io.understudy.bench.BenchException;
import io.understudy.bench.Figure;
import io.understudy.bench.ProcessCpu;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the members of both clusters have used since their start. */
record Usage(Side source, Side target) {

    private static final Pattern SENT =
            Pattern.compile("^etcd_network_client_grpc_sent_bytes_total (\\S+)$", Pattern.MULTILINE);

    private static final int TIMEOUT_MILLIS = 10_000;

    /**
     * Of all members of a cluster.
     *
     * @param sentBytes to clients
     */
    record Side(long cpuMicros, double sentBytes) {

        static Side of(LocalEtcd cluster) {
            long cpuMicros = 0;
            double sentBytes = 0;
            for (EtcdMember member : cluster.members()) {
                cpuMicros += ProcessCpu.micros(member.process().pid().orElseThrow());
                sentBytes += sentBytes(member.directClientUrl());
            }
            return new Side(cpuMicros, sentBytes);
        }

        private static double sentBytes(URI member) {
            try {
                URLConnection page = member.resolve("/metrics").toURL().openConnection();
                page.setConnectTimeout(TIMEOUT_MILLIS);
                page.setReadTimeout(TIMEOUT_MILLIS);
                try (InputStream metrics = page.getInputStream()) {
                    Matcher sent = SENT.matcher(new String(metrics.readAllBytes(), StandardCharsets.UTF_8));
                    if (!sent.find()) {
                        throw new BenchException("no " + SENT + " in the metrics of " + member);
                    }
                    return Double.parseDouble(sent.group(1));
                }
            } catch (IOException e) {
                throw new BenchException("cannot read the metrics of " + member, e);
            }
        }
    }

    /** The difference, with the figures of the mirror's process. */
    Map<Figure, Double> since(Usage before, double seconds, double cpuSeconds, double peakMegabytes) {
        return new EnumMap<>(Map.of(
                Figure.SECONDS, seconds,
                Figure.CPU_SECONDS, cpuSeconds,
                Figure.PEAK_MEGABYTES, peakMegabytes,
                Figure.SOURCE_CPU_SECONDS, (source.cpuMicros - before.source.cpuMicros) / 1e6,
                Figure.TARGET_CPU_SECONDS, (target.cpuMicros - before.target.cpuMicros) / 1e6,
                Figure.SOURCE_MEGABYTES, (source.sentBytes - before.source.sentBytes) / 1e6,
                Figure.TARGET_MEGABYTES, (target.sentBytes - before.target.sentBytes) / 1e6));
    }
}
