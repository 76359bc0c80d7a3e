package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.hub.HubSettings;
import io.understudy.local.junit.EtcdExtension;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A real kube-apiserver with a gateway of its keys as the only endpoint, as in docs/operate/kube-apiserver.md. */
@Timeout(180)
final class KubeApiServerIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final String MAPS = "/api/v1/namespaces/default/configmaps";
    private static final Pattern REVISION = Pattern.compile("\"resourceVersion\":\"(\\d+)\"");
    private static final Pattern TYPE = Pattern.compile("^\\{\"type\":\"(\\w+)\"");

    @TempDir
    private Path folder;

    @Test
    void objectsAreWrittenListedAndWatched() throws Exception {
        HubSettings usual = HubSettings.DEFAULTS;
        GatewaySettings settings = GatewayFixture.settings(SOURCE.cluster())
                .withPrefix("/registry/")
                .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD))
                .with(new HubSettings(
                        usual.maxWatchers(),
                        usual.maxWatchersPerStream(),
                        usual.catchUpStreams(),
                        Duration.ofSeconds(5),
                        usual.noLeaderTimeout(),
                        usual.bufferBytes()));
        try (GatewayFixture gateway = new GatewayFixture(settings)) {
            gateway.awaitReady();
            try (KubeApiServer kubernetes = new KubeApiServer(gateway.gateway.apiPort(), folder)) {
                drive(kubernetes);
                // compact_rev_key, outside /registry/
                assertThat(gateway.page("/metrics").body()).contains("understudy_gateway_forward_watches{", "} 1.0");
            }
        }
    }

    private static void drive(KubeApiServer kubernetes) throws Exception {
        // Refused unless the version that the endpoint reports supports progress requests.
        List<String> seen = kubernetes.watch(MAPS + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                + "&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Dmap");
        await().atMost(PATIENCE).until(() -> String.join("", seen).contains("k8s.io/initial-events-end"));

        String created = kubernetes.call("POST", MAPS, map("one", ""));
        assertThat(revision(created)).isEqualTo(modified("map"));
        String updated = kubernetes.call("PUT", MAPS + "/map", map("two", revision(created)));
        assertThat(revision(updated)).isEqualTo(modified("map"));
        for (String query : List.of("", "?limit=500", "?resourceVersion=" + revision(updated))) {
            assertThat(kubernetes.call("GET", MAPS + query, "")).contains("\"data\":{\"key\":\"two\"}");
        }
        assertThat(kubernetes.call("GET", MAPS + "/map", "")).contains("\"data\":{\"key\":\"two\"}");
        kubernetes.call("DELETE", MAPS + "/map", "");
        assertThat(kubernetes.call("GET", MAPS, "")).doesNotContain("\"name\":\"map\"");

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(seen)
                .map(line -> first(TYPE, line))
                .filteredOn(type -> !type.equals("BOOKMARK"))
                .containsExactly("ADDED", "MODIFIED", "DELETED"));
        assertThat(kubernetes.call("GET", "/metrics", ""))
                .containsPattern("watch_cache_consistent_read_total\\{fallback=\"false\",[^}]*success=\"true\"} [1-9]");
    }

    private static String map(String value, String revision) {
        return "{\"metadata\":{\"name\":\"map\",\"resourceVersion\":\"" + revision + "\"},\"data\":{\"key\":\"" + value
                + "\"}}";
    }

    /** By etcd itself. */
    private static String modified(String name) {
        String fields = SOURCE.cluster().etcdctl("get", "/registry/configmaps/default/" + name, "-w", "fields");
        return first(Pattern.compile("\"ModRevision\" : (\\d+)"), fields);
    }

    private static String revision(String object) {
        return first(REVISION, object);
    }

    private static String first(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .findFirst()
                .map((MatchResult found) -> found.group(1))
                .orElseThrow(() -> new AssertionError(pattern + " is not in " + text));
    }
}
