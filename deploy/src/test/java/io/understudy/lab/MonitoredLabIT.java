package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import io.understudy.local.process.FreePorts;
import io.understudy.monitoring.Expressions;
import io.understudy.monitoring.Prometheus;
import io.understudy.monitoring.Scrape;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real Prometheus, with the alerts that are shipped, scrapes a real lab. */
@Tag("distribution")
final class MonitoredLabIT {

    /** Measured where snapshots are taken and TLS is spoken, which the lab doesn't. */
    private static final Set<String> NOT_HERE = Set.of(
            "understudy_cluster_snapshot_age_seconds", "understudy_tls_expiry_seconds", "understudy_tls_reloads_total");

    @TempDir
    private Path folder;

    @Test
    void eachExpressionHasTheDataThatItNeeds_andNothingIsAlarming() throws Exception {
        Prometheus.requireInstalled();
        try (FreePorts reserved = FreePorts.take(LabPort.values().length + 1)) {
            Map<LabPort, Integer> chosen = new EnumMap<>(LabPort.class);
            for (LabPort port : LabPort.values()) {
                chosen.put(port, reserved.get(chosen.size()));
            }
            LabPorts ports = new LabPorts(chosen);
            int own = reserved.get(chosen.size());
            try (RunningLab lab = RunningLab.start("monitored", folder.resolve("lab"), ports)) {
                lab.report();
                Map<String, List<String>> jobs = Map.of(
                        "understudy-gateway",
                                List.of(address(lab, LabPort.GATEWAY), address(lab, LabPort.EDGE_GATEWAY)),
                        "understudy-mirror", List.of(address(lab, LabPort.MIRROR)),
                        "understudy-supervisor", List.of(address(lab, LabPort.SUPERVISOR)));
                try (Prometheus prometheus = Prometheus.start(folder, own, jobs)) {
                    load(lab);
                    assertThat(prometheus.awaitScrapes(4)).isEqualTo(4);
                    expressionsHaveData(prometheus);
                    prometheus.awaitRules();
                    assertThat(prometheus.firing()).isEmpty();
                }
                for (LabPort port :
                        List.of(LabPort.GATEWAY, LabPort.EDGE_GATEWAY, LabPort.MIRROR, LabPort.SUPERVISOR)) {
                    Scrape.of(lab.url(port).resolve("/metrics")).assertDeclaredAndWellFormed(folder);
                }
            }
        }
    }

    private static void expressionsHaveData(Prometheus prometheus) throws Exception {
        for (String expression : Expressions.ofAlerts().values()) {
            for (var selected : Expressions.selected(expression).entrySet()) {
                for (String label : selected.getValue()) {
                    if (isHere(selected.getKey())) {
                        prometheus.awaitData(selected.getKey() + "{" + label + "!=\"\"}");
                    }
                }
                if (isHere(selected.getKey())) {
                    prometheus.awaitData(selected.getKey());
                }
            }
        }
        for (String expression : Expressions.ofDashboard("30s").values()) {
            if (Expressions.selected(expression).keySet().stream().allMatch(MonitoredLabIT::isHere)) {
                prometheus.awaitData(expression);
            }
        }
    }

    private static boolean isHere(String series) {
        return NOT_HERE.stream().noneMatch(series::startsWith);
    }

    /** Reads over REST; the lab's own check has written, read and watched over gRPC. */
    private static void load(RunningLab lab) throws Exception {
        HttpClient http = HttpClient.newHttpClient();
        for (int each = 0; each < 20; each++) {
            URI uri = lab.url(LabPort.GATEWAY_REST).resolve("/v1/kv?prefix=&limit=1");
            var unused = http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
        }
    }

    private static String address(RunningLab lab, LabPort port) {
        return lab.url(port).getAuthority();
    }
}
