package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.lab.check.SelfCheck.WriteVisibility;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LabReportTest {

    private final LabReport report = new LabReport(
            Path.of("/data"),
            List.of(new LabReport.Served("gateway", "etcd v3 API", "127.0.0.1:2379", 4711)),
            List.of(new WriteVisibility("seen at the gateway", Duration.ofNanos(7_460_000), Duration.ofMillis(12))),
            List.of("etcdctl get greeting"));

    @Test
    void theTextShowsEndpointsTimesAndWhatToTry() {
        assertThat(report.toText())
                .containsSubsequence("gateway", "127.0.0.1:2379", "4711", "seen at the gateway", "7.5", "12.0")
                .contains("/data", "  etcdctl get greeting\n");
    }

    @Test
    void theJsonHoldsTheSameFacts() throws Exception {
        JsonNode json = new ObjectMapper().readTree(report.toJson());

        assertThat(json.path("dataDirectory").asText()).isEqualTo("/data");
        assertThat(json.at("/endpoints/0/address").asText()).isEqualTo("127.0.0.1:2379");
        assertThat(json.at("/endpoints/0/pid").asLong()).isEqualTo(4711);
        assertThat(json.at("/check/0/putMillis").asDouble()).isEqualTo(7.5);
        assertThat(json.at("/check/0/deleteMillis").asDouble()).isEqualTo(12.0);
        assertThat(json.at("/hints/0").asText()).isEqualTo("etcdctl get greeting");
    }

    @Test
    void withoutACheckThereIsNoTableOfIt() throws Exception {
        LabReport unchecked = new LabReport(report.dataDirectory(), report.endpoints(), List.of(), report.hints());

        assertThat(unchecked.toText())
                .doesNotContain("a key written to a voter")
                .containsSubsequence("4711", "/data");
        assertThat(new ObjectMapper().readTree(unchecked.toJson()).path("check"))
                .isEmpty();
    }
}
