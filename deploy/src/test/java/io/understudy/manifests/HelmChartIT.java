package io.understudy.manifests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.gateway.GatewaySettings;
import io.understudy.mirror.MirrorConfiguration;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The archive's chart, linted and rendered by Helm itself: what it renders is what the overlays of Kustomize are. */
@Timeout(120)
@Tag("distribution")
final class HelmChartIT {

    private static final String CHART = Path.of(System.getProperty("understudy.distribution"))
            .toAbsolutePath()
            .resolve("helm/understudy")
            .toString();

    private static final Path OVERLAY = Path.of("dist/src/main/dist/kubernetes/overlays/production");

    private static final YAMLMapper YAML = new YAMLMapper();

    /** What a process cannot start without. */
    private static final String ALL = """
            gateway: {autoscaling: {enabled: true}, config: {source: {endpoints: "http://etcd.core:2379"}}}
            mirror:
              enabled: true
              config:
                mirrors:
                  dr: {source: {endpoints: "http://etcd.core:2379"}, target: {etcd: {endpoints: "http://etcd.dr:2379"}}}
            supervisor:
              enabled: true
              config:
                cluster: {endpoints: "http://etcd.core:2379"}
                machines:
                  etcd-0: {peerUrls: "http://etcd-0.etcd.core:2380", clientUrls: "http://etcd-0.etcd.core:2379", dataDirectory: /var/lib/etcd, process: manual}
                shape: {voters: 1}
            networkPolicy: {enabled: true}
            """;

    private static final String GATEWAY = "gateway: {config: {source: {endpoints: \"http://etcd.core:2379\"}}}\n";

    private static String helm = "";

    @TempDir
    private Path folder;

    /** A run of a program. */
    private record Ended(int status, String output) {}

    @BeforeAll
    static void findHelm() throws Exception {
        Ended tool = run(600, "src/test/acceptance/go-tool", "helm");
        Assumptions.assumeTrue(tool.status() == 0, tool.output());
        // What Go reports about a build comes before it.
        helm = tool.output().strip().lines().reduce("", (before, line) -> line);
    }

    @Test
    void helmFindsNothingWrongWithTheChart() throws Exception {
        assertThat(helm("lint", "--strict", CHART, "--values", values(GATEWAY)).output())
                .contains("0 chart(s) failed");
        assertThat(helm("lint", "--strict", CHART, "--values", values(ALL)).output())
                .contains("0 chart(s) failed");
    }

    @Test
    void aPlainClusterHasAllKindsThatTheDefaultsNeed() throws Exception {
        List<Manifest> all = rendered(GATEWAY);
        assertThat(all).extracting(Manifest::toString).contains("Deployment/understudy-gateway");
        for (Manifest manifest : all) {
            manifest.read();
            assertThat(manifest.tree().path("apiVersion").asText()).isIn(Manifest.PLAIN);
        }
    }

    @Test
    void theInstallationPageIsRendered() throws Exception {
        String page = Files.readString(Path.of("../docs/install.md"));
        String values = page.substring(page.indexOf("image: {repository: registry.example"));
        Map<String, Manifest> all = byName(rendered(values.substring(0, values.indexOf("```"))));
        assertThat(all)
                .containsKeys("Deployment/understudy-gateway", "StatefulSet/understudy-mirror")
                .doesNotContainKey("StatefulSet/understudy-supervisor");
    }

    @Test
    void processesTakeTheirConfigurations() throws Exception {
        Map<String, Manifest> all = byName(rendered(ALL));
        for (Manifest manifest : all.values()) {
            manifest.read();
        }
        var dashboard = GatewaySettings.load(configuration(all, "gateway", "gateway.yaml"), Map.of(), Map.of())
                .dashboard();
        assertThat(dashboard.mirrors())
                .containsExactly(
                        URI.create("http://understudy-mirror-0.understudy-mirror:8081"),
                        URI.create("http://understudy-mirror-1.understudy-mirror:8081"));
        assertThat(dashboard.supervisors())
                .containsExactly(
                        URI.create("http://understudy-supervisor-0.understudy-supervisor:8082"),
                        URI.create("http://understudy-supervisor-1.understudy-supervisor:8082"));
        assertThat(MirrorConfiguration.load(configuration(all, "mirror", "mirror.yaml"), Map.of(), Map.of())
                        .mirrors())
                .hasSize(1);
        assertThat(ClusterSettings.load(configuration(all, "supervisor", "cluster.yaml"), Map.of(), Map.of())
                        .snapshots()
                        .directory())
                .hasValue(Path.of("/var/lib/understudy/snapshots"));
    }

    @Test
    void theProductionOverlayCanBeRenderedByValues() throws Exception {
        JsonNode gateway = YAML.readTree(OVERLAY.resolve("config/gateway.yaml").toFile());
        JsonNode mirror = YAML.readTree(OVERLAY.resolve("config/mirror.yaml").toFile());
        ObjectNode values = (ObjectNode) YAML.readTree("""
                tls: {enabled: true}
                gateway: {users: gateway-users, autoscaling: {enabled: true}, config: {}}
                mirror: {enabled: true, users: mirror-users, config: {}}
                serviceMonitor: {enabled: true, labels: {release: p}}
                """);
        ((ObjectNode) values.at("/gateway/config")).set("source", gateway.path("source"));
        ((ObjectNode) values.at("/mirror/config")).set("mirrors", mirror.path("mirrors"));
        Map<String, Manifest> chart = byName(rendered(YAML.writeValueAsString(values)));
        Map<String, Manifest> overlay = byName(Manifest.of(succeeded(run(
                        60,
                        "kubectl",
                        "kustomize",
                        OVERLAY.resolveSibling("prometheus-operator").toString()))
                .output()));
        for (String name : List.of(
                "Deployment/understudy-gateway",
                "StatefulSet/understudy-mirror",
                "Service/understudy-gateway",
                "Service/understudy-mirror",
                "ServiceAccount/understudy-mirror",
                "PodDisruptionBudget/understudy-gateway",
                "HorizontalPodAutoscaler/understudy-gateway",
                "ServiceMonitor/understudy-gateway",
                "ServiceMonitor/understudy-mirror")) {
            assertThat(specification(chart.get(name))).as(name).isEqualTo(specification(overlay.get(name)));
        }
        assertThat(chart.get("ServiceMonitor/understudy-mirror")
                        .tree()
                        .at("/metadata/labels/release")
                        .asText())
                .isEqualTo("p");
        assertThat(YAML.readTree(configuration(chart, "gateway", "gateway.yaml").toFile()))
                .isEqualTo(gateway);
        assertThat(YAML.readTree(configuration(chart, "mirror", "mirror.yaml").toFile()))
                .isEqualTo(mirror);
    }

    @Test
    void certManagerIssuesACertificateForEachProcess() throws Exception {
        Map<String, Manifest> all = byName(
                rendered(
                        ALL
                                + "tls: {enabled: true, certManager: {issuer: own, hosts: ['*.reads.example', 10.0.0.7, 'fd00::7']}}\n"));
        for (String name : List.of("gateway", "mirror", "supervisor")) {
            JsonNode spec = all.get("Certificate/understudy-" + name).tree().path("spec");
            assertThat(spec.path("secretName").asText()).isEqualTo(name + "-tls");
            assertThat(spec.has("commonName")).isFalse();
            assertThat(spec.at("/privateKey/encoding").asText()).isEqualTo("PKCS8");
        }
        assertThat(all.get("Certificate/understudy-gateway").tree().at("/spec/dnsNames"))
                .extracting(JsonNode::asText)
                .contains("understudy-gateway", "understudy-gateway.default.svc.cluster.local", "*.reads.example")
                .doesNotContain("10.0.0.7");
        assertThat(all.get("Certificate/understudy-gateway").tree().at("/spec/ipAddresses"))
                .extracting(JsonNode::asText)
                .containsExactly("10.0.0.7", "fd00::7");
        assertThat(all.get("Certificate/understudy-supervisor").tree().at("/spec/dnsNames"))
                .extracting(JsonNode::asText)
                .contains("understudy-supervisor-1.understudy-supervisor", "localhost");
        assertThat(all.get("Certificate/understudy-supervisor")
                        .tree()
                        .at("/spec/ipAddresses/0")
                        .asText())
                .isEqualTo("127.0.0.1");
    }

    /** Kubernetes rejects an object that Helm 4 applies with the same name twice. */
    @Test
    void aVariableReplacesTheDefault() throws Exception {
        Map<String, Manifest> all = byName(rendered(ALL.replace("supervisor:\n", """
                supervisor:
                  flags: [--max-learners=2]
                  env: [{name: UNDERSTUDY_JAVA_OPTS, value: -Xmx1g}, {name: OTHER, value: x}]
                """)));
        JsonNode supervisor =
                all.get("StatefulSet/understudy-supervisor").tree().at("/spec/template/spec/containers/0");
        assertThat(supervisor.path("env").findValuesAsText("name"))
                .containsExactlyInAnyOrder("UNDERSTUDY_JAVA_OPTS", "OTHER");
        assertThat(supervisor.path("env").findValuesAsText("value")).containsExactlyInAnyOrder("-Xmx1g", "x");
        assertThat(supervisor.path("args").toString()).endsWith("\"--max-learners=2\"]");
    }

    @Test
    void aVolumeIsAddedOrReplacesTheDefault() throws Exception {
        String pod = "gateway: {pod: {volumes: [{name: own, emptyDir: {}}, {name: tmp, emptyDir: {sizeLimit: 1Gi}}]}, ";
        JsonNode volumes = byName(rendered(GATEWAY.replace("gateway: {", pod)))
                .get("Deployment/understudy-gateway")
                .tree()
                .at("/spec/template/spec/volumes");
        assertThat(volumes)
                .extracting(volume -> volume.path("name").asText())
                .containsExactlyInAnyOrder("own", "tmp", "config");
        assertThat(volumes.findValuesAsText("sizeLimit")).containsExactly("1Gi");
    }

    @Test
    void eachAlertHasTheAddressOfItsRunbook() throws Exception {
        String values =
                GATEWAY + "prometheusRule: {enabled: true, labels: {release: p}, docs: \"https://docs.example/\"}\n";
        Manifest rules = byName(rendered(values)).get("PrometheusRule/understudy");
        rules.read();
        assertThat(rules.tree().at("/metadata/labels/release").asText()).isEqualTo("p");
        List<JsonNode> alerts = rules.tree().findParents("alert");
        assertThat(alerts).hasSizeGreaterThan(20).allSatisfy(alert -> assertThat(
                        alert.at("/annotations/runbook_url").asText())
                .startsWith("https://docs.example/operate/runbooks/#understudy"));
        Manifest released =
                byName(rendered(values.replace("https://docs.example/", ""))).get("PrometheusRule/understudy");
        assertThat(released.tree().path("spec"))
                .isEqualTo(YAML.readTree(Path.of(CHART, "manifests/alerts.yaml").toFile()));
    }

    @Test
    void networkPoliciesPermitWhatTheValuesList() throws Exception {
        Map<String, Manifest> all = byName(rendered(ALL.replace(
                "networkPolicy: {enabled: true}",
                "networkPolicy: {enabled: true, egressPorts: [4317, 443], monitoringNamespace: prom}")));
        for (String name : List.of("gateway", "mirror", "supervisor")) {
            JsonNode spec = all.get("NetworkPolicy/understudy-" + name).tree().path("spec");
            assertThat(spec.path("egress").findValuesAsText("port")).as(name).contains("2379", "4317", "443");
            assertThat(spec.path("ingress").findValuesAsText("kubernetes.io/metadata.name"))
                    .as(name)
                    .containsExactly("prom");
        }
        assertThat(all.get("NetworkPolicy/understudy-gateway-supervisor")
                        .tree()
                        .at("/spec/egress")
                        .findValuesAsText("port"))
                .containsExactly("status");
    }

    @Test
    void unknownAndMissingValuesAreRefused() throws Exception {
        assertThat(helm("template", "x", CHART, "--set", "gateway.replica=3").output())
                .contains("replica", "not allowed");
        assertThat(helm("template", "x", CHART, "--set", "mirror.pod.containers[0].name=x")
                        .output())
                .contains("/mirror/pod/containers");
        assertThat(helm("template", "x", CHART, "--set", "mirror.enabled=true").output())
                .contains("mirrors", "missing");
        assertThat(helm("template", "x", CHART).output()).contains("source", "missing");
    }

    /** A process rejects both. */
    @Test
    void insecureReplacesTlsAndTlsInsecure() throws Exception {
        String own = GATEWAY.replace("{source", "{tls: {certificate: /own.crt, key: /own.key}, source");
        Map<String, Manifest> secured = byName(rendered(own));
        assertThat(YAML.readTree(configuration(secured, "gateway", "gateway.yaml")
                                .toFile())
                        .has("insecure"))
                .isFalse();
        assertThat(probe(secured)).isEqualTo("HTTPS");
        Map<String, Manifest> plain =
                byName(rendered(GATEWAY.replace("{source", "{insecure: true, source") + "tls: {enabled: true}\n"));
        assertThat(YAML.readTree(configuration(plain, "gateway", "gateway.yaml").toFile())
                        .has("tls"))
                .isFalse();
        assertThat(probe(plain)).isEmpty();
    }

    @Test
    void monitoringAndTheDashboardUseTheSchemeOfEachProcess() throws Exception {
        String monitored = ALL + "serviceMonitor: {enabled: true}\n";
        Map<String, Manifest> own = byName(rendered(monitored.replace(
                "    cluster: {", "    supervisor: {tls: {certificate: /own.crt, key: /own.key}}\n    cluster: {")));
        Map<String, Manifest> insecure = byName(rendered(
                monitored.replace("    mirrors:\n", "    insecure: true\n    mirrors:\n") + "tls: {enabled: true}\n"));
        for (Map<String, Manifest> all : List.of(own, insecure)) {
            JsonNode dashboard = YAML.readTree(
                            configuration(all, "gateway", "gateway.yaml").toFile())
                    .path("dashboard");
            assertThat(dashboard.at("/mirrors/0").asText()).startsWith("http://");
            assertThat(dashboard.at("/supervisors/0").asText()).startsWith("https://");
            assertThat(endpoint(all, "mirror").has("scheme")).isFalse();
            assertThat(endpoint(all, "supervisor").path("scheme").asText()).isEqualTo("https");
        }
        assertThat(endpoint(own, "supervisor").at("/tlsConfig/serverName").asText())
                .isEqualTo("understudy-supervisor");
        assertThat(endpoint(own, "supervisor").at("/tlsConfig").has("ca")).isFalse();
        assertThat(endpoint(insecure, "supervisor")
                        .at("/tlsConfig/ca/secret/name")
                        .asText())
                .isEqualTo("supervisor-tls");
    }

    private static JsonNode endpoint(Map<String, Manifest> all, String process) {
        return all.get("ServiceMonitor/understudy-" + process).tree().at("/spec/endpoints/0");
    }

    private static String probe(Map<String, Manifest> all) {
        return all.get("Deployment/understudy-gateway")
                .tree()
                .at("/spec/template/spec/containers/0/readinessProbe/httpGet/scheme")
                .asText();
    }

    /** Without what only tools and rollouts read, and in one order. */
    private static JsonNode specification(Manifest manifest) {
        ObjectNode tree = manifest.tree().deepCopy();
        tree.remove("metadata");
        if (tree.at("/spec/template/spec") instanceof ObjectNode pods) {
            ((ObjectNode) tree.at("/spec/template")).remove("metadata");
            sort(pods, "volumes");
            for (JsonNode volume : pods.path("volumes")) {
                if (volume.path("configMap") instanceof ObjectNode configuration) {
                    configuration.remove("name");
                }
            }
            for (JsonNode container : pods.path("containers")) {
                ((ObjectNode) container).remove(List.of("image", "imagePullPolicy"));
                sort((ObjectNode) container, "volumeMounts");
            }
        }
        return tree;
    }

    private static void sort(ObjectNode parent, String list) {
        ArrayNode sorted = parent.arrayNode();
        StreamSupport.stream(parent.path(list).spliterator(), false)
                .sorted(Comparator.comparing(each -> each.path("name").asText()))
                .forEach(sorted::add);
        parent.set(list, sorted);
    }

    /** A configuration file; the passwords that it names are here. */
    private Path configuration(Map<String, Manifest> all, String name, String file) throws IOException {
        return Files.writeString(
                folder.resolve(file),
                all.get("ConfigMap/understudy-" + name)
                        .tree()
                        .path("data")
                        .path(file)
                        .asText());
    }

    private static Map<String, Manifest> byName(List<Manifest> manifests) {
        Map<String, Manifest> named = new HashMap<>();
        manifests.forEach(each -> assertThat(named.put(each.toString(), each))
                .as("another %s", each)
                .isNull());
        return named;
    }

    private List<Manifest> rendered(String values) throws Exception {
        return Manifest.of(succeeded(helm("template", "x", CHART, "--values", values(values)))
                .output());
    }

    private String values(String yaml) throws IOException {
        return Files.writeString(folder.resolve("values.yaml"), yaml).toString();
    }

    private static Ended helm(String... arguments) throws Exception {
        String[] line = new String[arguments.length + 1];
        line[0] = helm;
        System.arraycopy(arguments, 0, line, 1, arguments.length);
        return run(60, line);
    }

    private static Ended succeeded(Ended ended) {
        assertThat(ended.status()).as(ended.output()).isZero();
        return ended;
    }

    private static Ended run(long seconds, String... line) throws Exception {
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(seconds, TimeUnit.SECONDS)).isTrue();
        return new Ended(process.exitValue(), output);
    }
}
