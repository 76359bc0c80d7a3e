package io.understudy.manifests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.gateway.GatewaySettings;
import io.understudy.gateway.dashboard.DashboardSettings;
import io.understudy.mirror.MirrorConfiguration;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The Compose file names what there is. That it runs is seen by its own self-check. */
final class ComposeFileTest {

    private static final Path FOLDER = Path.of("dist/src/main/dist/compose");
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Z_]+):-([^${}]*)}");

    @Test
    void gatewayAndMirrorTakeTheirConfigurations() throws Exception {
        assertThat(gateway(Map.of()).listen().port()).isEqualTo(2379);
        assertThat(MirrorConfiguration.load(FOLDER.resolve("conf/mirror.yaml"), Map.of(), Map.of())
                        .mirrors())
                .hasSize(2);
    }

    @Test
    void theSupervisorIsConfiguredWithTheMembersOfCompose() throws Exception {
        JsonNode services = compose().path("services");
        ClusterSettings settings = ClusterSettings.load(FOLDER.resolve("conf/cluster.yaml"), Map.of(), Map.of());
        Map<String, String> names = new HashMap<>();
        settings.machines().forEach(machine -> {
            assertThat(machine.process()).isEqualTo(ProcessKind.MANUAL);
            JsonNode member = services.path(machine.name()).path("environment");
            assertThat(machine.member().peerUrls())
                    .containsExactly(URI.create(
                            member.path("ETCD_INITIAL_ADVERTISE_PEER_URLS").asText()));
            assertThat(machine.member().clientUrls())
                    .containsExactly(
                            URI.create(member.path("ETCD_ADVERTISE_CLIENT_URLS").asText()));
            names.put(machine.name(), member.path("ETCD_NAME").asText());
        });
        assertThat(names)
                .containsOnlyKeys("core-1", "core-2", "core-3", "learner")
                .allSatisfy((machine, name) -> assertThat(name).isEqualTo(machine));
        assertThat(settings.snapshots().directory().orElseThrow())
                .startsWithRaw(mounted(services.path("supervisor"), "snapshots"));
    }

    /** Where a service has that volume. */
    private static Path mounted(JsonNode service, String volume) {
        for (JsonNode each : service.path("volumes")) {
            if (each.asText().startsWith(volume + ":")) {
                return Path.of(each.asText().split(":", -1)[1]);
            }
        }
        throw new AssertionError(volume + " is not in " + service);
    }

    @Test
    void theDashboardAndPrometheusReadExistingServices() throws Exception {
        JsonNode services = compose().path("services");
        DashboardSettings dashboard = gateway(Map.of()).dashboard();
        assertThat(dashboard.mirrors()).extracting(URI::getHost).containsExactly("mirror");
        assertThat(dashboard.supervisors()).extracting(URI::getHost).containsExactly("supervisor");

        List<String> scraped = new ArrayList<>();
        new YAMLMapper()
                .readTree(FOLDER.resolve("conf/prometheus.yml").toFile())
                .findValues("targets")
                .forEach(targets ->
                        targets.forEach(target -> scraped.add(target.asText().split(":", 2)[0])));
        assertThat(scraped)
                .contains("gateway", "mirror", "supervisor")
                .allSatisfy(host -> assertThat(services.has(host)).as(host).isTrue());
        assertThat(Files.readString(FOLDER.resolve("self-check"))).contains("=> " + scraped.size() + " @");
    }

    @Test
    void theGatewayAdvertisesTheAddressThatItIsBoundTo() throws Exception {
        assertThat(gateway(Map.of()).members().advertise()).containsExactly(URI.create("http://127.0.0.1:2379"));
        assertThat(gateway(Map.of("BIND", "192.0.2.1", "GATEWAY_PORT", "12379"))
                        .members()
                        .advertise())
                .containsExactly(URI.create("http://192.0.2.1:12379"));
        assertThat(gateway(Map.of("BIND", "0.0.0.0", "ADVERTISED", "host.example"))
                        .members()
                        .advertise())
                .containsExactly(URI.create("http://host.example:2379"));
    }

    @Test
    void eachVariableHasTheSameDefaultInBothPlaces() throws Exception {
        Properties defaults = new Properties();
        try (var reader = Files.newBufferedReader(FOLDER.resolve(".env"))) {
            defaults.load(reader);
        }
        List<String> used = new ArrayList<>();
        VARIABLE.matcher(Files.readString(FOLDER.resolve("compose.yaml")))
                .results()
                .forEach(found -> {
                    used.add(found.group(1));
                    assertThat(defaults.getProperty(found.group(1)))
                            .as(found.group(1))
                            .isEqualTo(found.group(2));
                });
        assertThat(used).containsAll(defaults.stringPropertyNames());
    }

    private static JsonNode compose() throws IOException {
        return new YAMLMapper().readTree(FOLDER.resolve("compose.yaml").toFile());
    }

    /** As the service gets it, where these variables are set. */
    private static GatewaySettings gateway(Map<String, String> variables) throws IOException {
        JsonNode environment = compose().at("/services/gateway/environment");
        Map<String, String> seen = new HashMap<>();
        environment
                .properties()
                .forEach(variable ->
                        seen.put(variable.getKey(), filled(variable.getValue().asText(), variables)));
        return GatewaySettings.load(FOLDER.resolve("conf/gateway.yaml"), seen, Map.of());
    }

    /** From the inside out, as a default may have a variable in it. */
    private static String filled(String text, Map<String, String> variables) {
        String filled = text;
        for (Matcher found = VARIABLE.matcher(filled); found.find(); found = VARIABLE.matcher(filled)) {
            filled = filled.substring(0, found.start())
                    + variables.getOrDefault(found.group(1), found.group(2))
                    + filled.substring(found.end());
        }
        return filled;
    }

    @Test
    void whatServicesUseIsThere() throws Exception {
        JsonNode file = compose();
        file.path("services").forEach(service -> {
            service.path("volumes").forEach(volume -> {
                String from = volume.asText().split(":", 2)[0];
                if (from.startsWith("./")) {
                    assertThat(FOLDER.resolve(from)).exists();
                } else if (!from.startsWith("../")) {
                    assertThat(file.path("volumes").has(from)).as(from).isTrue();
                }
            });
            service.path("depends_on").fieldNames().forEachRemaining(other -> assertThat(
                            file.path("services").has(other))
                    .as(other)
                    .isTrue());
            service.path("secrets")
                    .forEach(secret -> assertThat(file.path("secrets").has(secret.asText()))
                            .isTrue());
        });
    }
}
