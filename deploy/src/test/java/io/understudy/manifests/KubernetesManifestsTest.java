package io.understudy.manifests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.gateway.GatewaySettings;
import io.understudy.gateway.dashboard.DashboardSettings;
import io.understudy.mirror.MirrorConfiguration;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The manifests are what Kubernetes takes, fit together, and run what they run with the least rights. */
final class KubernetesManifestsTest {

    private static final Path FOLDER = Path.of("dist/src/main/dist/kubernetes");

    private static final Path PAGE = Path.of("../docs/install.md");

    @TempDir
    private Path folder;

    static Stream<Path> manifests() throws IOException {
        return files().filter(file -> !isConfiguration(file)
                && !file.endsWith("kustomization.yaml")
                && !file.endsWith("prometheus-adapter.yaml"));
    }

    static Stream<Path> configurations() throws IOException {
        return files().filter(KubernetesManifestsTest::isConfiguration);
    }

    private static Stream<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".yaml")).toList().stream();
        }
    }

    private static boolean isConfiguration(Path file) {
        return file.getParent().endsWith("config");
    }

    @ParameterizedTest
    @MethodSource("manifests")
    void objectsAndPatchesHaveOnlyFieldsOfKubernetes(Path file) throws Exception {
        List<Manifest> manifests = Manifest.of(Files.readString(file));
        assertThat(manifests).isNotEmpty();
        for (Manifest manifest : manifests) {
            manifest.read();
        }
    }

    @Test
    void aMisspelledFieldIsNoticed() throws Exception {
        String text = Files.readString(FOLDER.resolve("base/gateway.yaml"))
                .replace("averageUtilization:", "averageUtilisation:");
        assertThatThrownBy(() -> {
                    for (Manifest manifest : Manifest.of(text)) {
                        manifest.read();
                    }
                })
                .isInstanceOf(IOException.class)
                .hasMessageContaining("averageUtilisation");
    }

    @ParameterizedTest
    @MethodSource("configurations")
    void processesTakeTheirConfigurations(Path file) throws Exception {
        Path copy = withOwnSecrets(Files.readString(file));
        if (file.endsWith("gateway.yaml")) {
            assertThat(GatewaySettings.load(copy, Map.of(), Map.of()).listen().port())
                    .isEqualTo(2379);
        } else if (file.endsWith("cluster.yaml")) {
            assertThat(ClusterSettings.load(copy, Map.of(), Map.of()).machines())
                    .extracting(MachineSettings::process)
                    .containsOnly(ProcessKind.MANUAL);
        } else {
            assertThat(MirrorConfiguration.load(copy, Map.of(), Map.of()).mirrors())
                    .hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "overlays/small",
                "overlays/production",
                "overlays/supervised",
                "overlays/prometheus-operator",
                "components/learner",
                "components/learner,learner-tls",
                "components/service-monitor",
                "components/supervisor"
            })
    void overlaysFitTogether(String overlay) throws Exception {
        List<Manifest> all = Manifest.of(rendered(overlay));
        Set<String> names = new HashSet<>();
        for (Manifest manifest : all) {
            manifest.read();
            names.add(manifest.toString());
            assertThat(manifest.namespace())
                    .as("the namespace of %s", manifest)
                    .isEqualTo(manifest.kind().equals("Namespace") ? "" : "understudy");
        }
        assertThat(names).hasSameSizeAs(all).contains("Deployment/understudy-gateway", "NetworkPolicy/default-deny");
        for (Manifest manifest : all) {
            manifest.pods().ifPresent(pods -> assertPods(manifest, pods, names));
        }
        for (Manifest manifest : all) {
            if (List.of("Service", "PodDisruptionBudget").contains(manifest.kind())) {
                assertSelectsSome(manifest, all);
            }
            JsonNode scaled = manifest.tree().at("/spec/scaleTargetRef");
            assertThat(scaled.isMissingNode()
                            || names.contains(scaled.path("kind").asText() + "/"
                                    + scaled.path("name").asText()))
                    .as("%s scales what there is", manifest)
                    .isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"overlays/small", "overlays/production", "overlays/supervised"})
    void aPlainClusterHasAllThatAnOverlayNeeds(String overlay) throws Exception {
        for (Manifest manifest : Manifest.of(rendered(overlay))) {
            assertThat(manifest.tree().path("apiVersion").asText()).isIn(Manifest.PLAIN);
            assertThat(manifest.tree().at("/spec/metrics").findValuesAsText("type"))
                    .as("%s needs no metrics of an adapter", manifest)
                    .doesNotContain("Pods");
        }
    }

    @Test
    void theOverlayThatThePageShowsIsRendered() throws Exception {
        assertThat(kustomized(shown(0, "gateway.yaml", "mirror.yaml")))
                .contains("image: registry.example/understudy:0.1.0", "mine: gateway.yaml", "mine: mirror.yaml");
    }

    @Test
    void theOverlayWithSupervisorsThatThePageShowsIsRendered() throws Exception {
        assertThat(kustomized(shown(1, "gateway.yaml", "mirror.yaml", "cluster.yaml")))
                .contains("image: registry.example/understudy:0.1.0", "secretName: supervisor-tls")
                .contains("mine: gateway.yaml", "mine: mirror.yaml", "mine: cluster.yaml")
                .doesNotContain("image: understudy");
    }

    /** One of the overlays that the document shows, with these files; on a copy, since an overlay lies beside the others. */
    private Path shown(int which, String... configurations) throws IOException {
        Path copy = folder.resolve("kubernetes");
        try (Stream<Path> files = Files.walk(FOLDER)) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(FOLDER.relativize(file)));
            }
        }
        List<String> blocks = Pattern.compile("^```yaml\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(Files.readString(PAGE))
                .results()
                .map(block -> block.group(1))
                .toList();
        Path overlay = Files.createDirectory(copy.resolve("overlays/own"));
        Files.writeString(overlay.resolve("kustomization.yaml"), blocks.get(which));
        for (String name : configurations) {
            Files.writeString(overlay.resolve(name), "mine: " + name + "\n");
        }
        return overlay;
    }

    /** A member serves one of both at a port. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "overlays/small",
                "overlays/production",
                "overlays/supervised",
                "components/learner",
                "components/learner,learner-tls"
            })
    void allConnectToTheCoreClusterWithOneScheme(String overlay) throws Exception {
        assertThat(Pattern.compile("(https?)://[^\\s:]*\\.core:")
                        .matcher(rendered(overlay))
                        .results()
                        .map(endpoint -> endpoint.group(1))
                        .distinct())
                .hasSize(1);
    }

    /** Behind a common name it would be shown an arbitrary one, and none that is not ready. */
    @ParameterizedTest
    @ValueSource(strings = {"overlays/small", "overlays/production"})
    void theDashboardReadsEachMirrorByItsOwnName(String overlay) throws Exception {
        List<Manifest> all = Manifest.of(rendered(overlay));
        assertThat(dashboard(all).mirrors())
                .extracting(URI::getHost)
                .containsExactlyElementsOf(podsByName("understudy-mirror", all));
    }

    /** Upon whichever overlay: those change the gateways, too. */
    @ParameterizedTest
    @ValueSource(strings = {"components/supervisor", "overlays/supervised"})
    void theDashboardReadsAndMayReachEachSupervisor(String overlay) throws Exception {
        List<Manifest> all = Manifest.of(rendered(overlay));
        assertThat(dashboard(all).supervisors())
                .extracting(URI::getHost)
                .containsExactlyElementsOf(podsByName("understudy-supervisor", all));
        assertThat(dashboard(all).mirrors()).isNotEmpty();

        JsonNode supervisors = named("StatefulSet/understudy-supervisor", all).tree();
        assertThat(dashboard(all).supervisors())
                .extracting(URI::getScheme)
                .containsOnly(supervisors
                        .at("/spec/template/spec/containers/0/readinessProbe/httpGet/scheme")
                        .asText("HTTP")
                        .toLowerCase(Locale.ROOT));
        assertThat(dashboard(all).supervisors())
                .extracting(URI::getPort)
                .containsOnly(supervisors
                        .at("/spec/template/spec/containers/0/ports/0/containerPort")
                        .asInt());
        assertThat(named("NetworkPolicy/gateway-supervisor", all)
                        .tree()
                        .at("/spec/egress/0/to/0/podSelector/matchLabels"))
                .isEqualTo(supervisors.at("/spec/selector/matchLabels"));
        assertThat(named("NetworkPolicy/supervisor", all).tree().at("/spec/ingress/0/from/0/podSelector"))
                .isEqualTo(named("NetworkPolicy/gateway-supervisor", all).tree().at("/spec/podSelector"));
    }

    /** All else that it may write to is gone with its pod. */
    @Test
    void aSupervisorsSnapshotsAreOnItsVolume() throws Exception {
        List<Manifest> all = Manifest.of(rendered("components/supervisor"));
        JsonNode spec = named("StatefulSet/understudy-supervisor", all).tree().path("spec");
        String claim = spec.at("/volumeClaimTemplates/0/metadata/name").asText();
        List<String> mounted = Stream.of(spec.at("/template/spec/containers/0/volumeMounts"))
                .flatMap(mounts -> IntStream.range(0, mounts.size()).mapToObj(mounts::get))
                .filter(mount -> mount.path("name").asText().equals(claim))
                .map(mount -> mount.path("mountPath").asText())
                .toList();
        ClusterSettings settings =
                ClusterSettings.load(FOLDER.resolve("components/supervisor/config/cluster.yaml"), Map.of(), Map.of());
        assertThat(mounted).singleElement().satisfies(path -> assertThat(
                        settings.snapshots().directory().orElseThrow())
                .startsWithRaw(Path.of(path)));
    }

    /** The hosts of a StatefulSet's pods, which its service resolves whether they are ready or not. */
    private static List<String> podsByName(String set, List<Manifest> all) {
        JsonNode spec = named("StatefulSet/" + set, all).tree().path("spec");
        String service = spec.path("serviceName").asText();
        JsonNode named = named("Service/" + service, all).tree().path("spec");
        assertThat(named.path("clusterIP").asText()).isEqualTo("None");
        assertThat(named.path("publishNotReadyAddresses").asBoolean()).isTrue();
        return IntStream.range(0, spec.path("replicas").asInt())
                .mapToObj(each -> set + "-" + each + "." + service)
                .toList();
    }

    /** The gateways' settings by file and variables. */
    private DashboardSettings dashboard(List<Manifest> all) throws IOException {
        JsonNode gateway = named("Deployment/understudy-gateway", all).tree().at("/spec/template/spec");
        Map<String, String> variables = new HashMap<>();
        gateway.at("/containers/0/env")
                .forEach(variable -> variables.put(
                        variable.path("name").asText(), variable.path("value").asText()));
        String configuration =
                gateway.path("volumes").findValue("configMap").path("name").asText();
        Path copy = withOwnSecrets(named("ConfigMap/" + configuration, all)
                .tree()
                .at("/data/gateway.yaml")
                .asText());
        return GatewaySettings.load(copy, variables, Map.of()).dashboard();
    }

    @Test
    void inProductionTheCertificatesAreShownToEtcdToo() throws Exception {
        Path production = FOLDER.resolve("overlays/production/config");
        JsonNode gateway = Manifest.of(Files.readString(production.resolve("gateway.yaml")))
                .get(0)
                .tree();
        JsonNode mirror = Manifest.of(Files.readString(production.resolve("mirror.yaml")))
                .get(0)
                .tree()
                .at("/mirrors/dr");
        assertThat(List.of(gateway.at("/source/tls"), mirror.at("/source/tls"), mirror.at("/target/etcd/tls")))
                .allSatisfy(tls -> {
                    assertThat(tls.path("trusted").asText()).endsWith("/tls/ca.crt");
                    assertThat(tls.path("certificate").asText()).endsWith("/tls/tls.crt");
                    assertThat(tls.path("key").asText()).endsWith("/tls/tls.key");
                });
    }

    /** The command that the document gives, without its last part, which needs a cluster. */
    @Test
    void theAlertsMakeAnObjectForThePrometheusOperator() throws Exception {
        String page = Files.readString(PAGE);
        String command = page.substring(page.indexOf("{ printf"), page.indexOf(" | kubectl apply -f -"));
        Process process = new ProcessBuilder("sh", "-c", command)
                .directory(FOLDER.toFile())
                .redirectErrorStream(true)
                .start();
        String yaml = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        List<Manifest> made = Manifest.of(yaml);
        assertThat(made).singleElement().hasToString("PrometheusRule/understudy");
        made.get(0).read();
        assertThat(made.get(0).namespace()).isEqualTo("understudy");
        assertThat(made.get(0).tree().path("spec"))
                .isEqualTo(Manifest.of(Files.readString(FOLDER.resolve("../monitoring/alerts.yaml")))
                        .get(0)
                        .tree());
    }

    @Test
    void prometheusReadsEachProcessByItsScheme() throws Exception {
        List<Manifest> all =
                Manifest.of(kustomized(with(List.of("supervisor", "supervisor-tls"), "prometheus-operator")));
        List<Manifest> monitors = all.stream()
                .filter(each -> each.kind().equals("ServiceMonitor"))
                .toList();
        assertThat(monitors).hasSize(3).allSatisfy(monitor -> {
            JsonNode endpoint = monitor.tree().at("/spec/endpoints/0");
            JsonNode pods = all.stream()
                    .filter(each -> each.name().equals(monitor.name()))
                    .flatMap(each -> each.pods().stream())
                    .findFirst()
                    .orElseThrow();
            assertThat(endpoint.path("scheme").asText("http"))
                    .isEqualToIgnoringCase(pods.at("/spec/containers/0/readinessProbe/httpGet/scheme")
                            .asText("http"));
            assertThat(pods.at("/spec/volumes").findValuesAsText("secretName"))
                    .contains(endpoint.at("/tlsConfig/ca/secret/name").asText());
        });
    }

    /** The command repeats what the member is started with. */
    @ParameterizedTest
    @ValueSource(strings = {"components/learner", "components/learner,learner-tls"})
    void theLearnerJoinsWithItsOwnUrls(String components) throws Exception {
        List<Manifest> all = Manifest.of(rendered(components));
        JsonNode member = named("StatefulSet/understudy-learner", all).tree().at("/spec/template/spec/containers/0");
        Map<String, String> variables = new HashMap<>();
        member.path("env")
                .forEach(variable -> variables.put(
                        variable.path("name").asText(), variable.path("value").asText()));
        assertThat(named("Job/understudy-learner-join", all).tree().at("/spec/template/spec/containers/0/args"))
                .extracting(JsonNode::asText)
                .contains(
                        "--peer-urls=" + variables.get("ETCD_INITIAL_ADVERTISE_PEER_URLS"),
                        "--client-urls=" + variables.get("ETCD_ADVERTISE_CLIENT_URLS"));
        assertThat(named(
                                "ConfigMap/"
                                        + member.at("/envFrom/0/configMapRef/name")
                                                .asText(),
                                all)
                        .tree()
                        .at("/data/ETCD_INITIAL_CLUSTER")
                        .asText())
                .endsWith(",learner=" + variables.get("ETCD_INITIAL_ADVERTISE_PEER_URLS"));
    }

    /** While one is there that an earlier version has made, another one is refused. */
    @Test
    void jobsGoAwayBeforeTheNextVersionIsApplied() throws Exception {
        List<Manifest> jobs = Manifest.of(rendered("components/learner")).stream()
                .filter(each -> each.kind().equals("Job"))
                .toList();
        assertThat(jobs).isNotEmpty().allSatisfy(job -> assertThat(
                        job.tree().at("/spec/ttlSecondsAfterFinished").asInt(Integer.MAX_VALUE))
                .isLessThanOrEqualTo(600));
    }

    private static Manifest named(String name, List<Manifest> all) {
        return all.stream()
                .filter(each -> each.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is not among " + all));
    }

    /** Where the secrets are mounted there is nothing here; paths are all that differs. */
    private Path withOwnSecrets(String configuration) throws IOException {
        Path users = Files.createDirectories(folder.resolve("users"));
        Files.writeString(users.resolve("source"), "secret");
        Files.writeString(users.resolve("target"), "secret");
        Files.writeString(users.resolve("cluster"), "secret");
        return Files.writeString(
                folder.resolve("configuration.yaml"), configuration.replace("/etc/understudy/users", users.toString()));
    }

    /** What pod security calls restricted, and more. */
    private static void assertPods(Manifest manifest, JsonNode pods, Set<String> names) {
        JsonNode spec = pods.path("spec");
        assertThat(spec.at("/securityContext/runAsNonRoot").asBoolean())
                .as("%s", manifest)
                .isTrue();
        assertThat(spec.at("/securityContext/seccompProfile/type").asText()).isEqualTo("RuntimeDefault");
        assertThat(spec.path("automountServiceAccountToken").asBoolean(true)).isFalse();
        assertThat(names)
                .contains("ServiceAccount/" + spec.path("serviceAccountName").asText());
        Set<String> volumes = new HashSet<>();
        for (JsonNode volume : spec.path("volumes")) {
            volumes.add(volume.path("name").asText());
            JsonNode configuration = volume.at("/configMap/name");
            assertThat(configuration.isMissingNode() || names.contains("ConfigMap/" + configuration.asText()))
                    .as("%s has %s", manifest, configuration)
                    .isTrue();
        }
        manifest.tree()
                .at("/spec/volumeClaimTemplates")
                .forEach(claim -> volumes.add(claim.at("/metadata/name").asText()));
        for (JsonNode container : spec.path("containers")) {
            JsonNode rights = container.path("securityContext");
            assertThat(rights.path("allowPrivilegeEscalation").asBoolean(true)).isFalse();
            assertThat(rights.path("readOnlyRootFilesystem").asBoolean()).isTrue();
            assertThat(rights.at("/capabilities/drop/0").asText()).isEqualTo("ALL");
            assertThat(container.at("/resources/requests").isObject()).isTrue();
            assertThat(container.at("/resources/limits/memory").isTextual()).isTrue();
            if (!manifest.kind().equals("Job")) {
                assertThat(container.has("livenessProbe") && container.has("readinessProbe"))
                        .as("%s has probes", manifest)
                        .isTrue();
            }
            Set<String> ports = new HashSet<>();
            container.path("ports").forEach(port -> ports.add(port.path("name").asText()));
            for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
                JsonNode port = container.path(probe).at("/httpGet/port");
                assertThat(port.isMissingNode() || ports.contains(port.asText()))
                        .as("%s of %s asks at a port there is", probe, manifest)
                        .isTrue();
            }
            container.path("volumeMounts").forEach(mount -> assertThat(volumes)
                    .contains(mount.path("name").asText()));
        }
    }

    private static void assertSelectsSome(Manifest manifest, List<Manifest> all) {
        JsonNode selector = manifest.tree().at("/spec/selector");
        JsonNode labels = selector.has("matchLabels") ? selector.path("matchLabels") : selector;
        assertThat(all).as("%s selects pods", manifest).anyMatch(each -> each.pods()
                .map(pods -> pods.at("/metadata/labels"))
                .filter(having -> labels.properties().stream()
                        .allMatch(label -> label.getValue().equals(having.get(label.getKey()))))
                .isPresent());
    }

    /** As {@code kubectl apply -k} would send it; components on top of the small overlay, with TLS on one with TLS. */
    private String rendered(String name) throws Exception {
        String components = "components/";
        return kustomized(
                name.startsWith(components)
                        ? with(
                                List.of(name.substring(components.length()).split(",", -1)),
                                name.endsWith("-tls") ? "production" : "small")
                        : FOLDER.resolve(name));
    }

    /** An overlay of one of ours and components. */
    private Path with(List<String> components, String overlay) throws IOException {
        Path made = Files.createDirectory(folder.resolve("overlay"));
        Path home = made.toRealPath().relativize(FOLDER.toRealPath());
        Files.writeString(
                made.resolve("kustomization.yaml"),
                "resources: [" + home + "/overlays/" + overlay + "]\ncomponents:\n"
                        + components.stream()
                                .map(component -> "  - " + home + "/components/" + component + "\n")
                                .collect(Collectors.joining()));
        return made;
    }

    private String kustomized(Path overlay) throws Exception {
        Path errors = folder.resolve("errors");
        Process process;
        try {
            process = new ProcessBuilder("kubectl", "kustomize", overlay.toString())
                    .redirectError(errors.toFile())
                    .start();
        } catch (IOException e) {
            Assumptions.abort("needs kubectl, which renders them: " + e.getMessage());
            throw e;
        }
        String yaml = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
        return yaml;
    }
}
