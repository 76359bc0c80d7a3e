package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.etcd.jetcd.api.KeyValue;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * One data directory through several runs of the lab, in order: each begins with what the one before left. With {@code
 * -Plong} the first run writes 10,000 keys in place of 2,000.
 *
 * <p>Tests invariants DP3, DP4.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("distribution")
final class LabIT {

    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));
    private static final int KEYS = LONG ? 10_000 : 2_000;
    private static final int KEYS_PER_COMMIT = 100;
    private static final Duration CATCH_UP = Duration.ofSeconds(90);

    @TempDir
    private static Path folder;

    private static FreePorts reserved;
    private static LabPorts ports;
    private static NoSpaceAlarm frozen;

    @BeforeAll
    static void choosePorts() {
        reserved = FreePorts.take(LabPort.values().length);
        Map<LabPort, Integer> chosen = new EnumMap<>(LabPort.class);
        for (LabPort port : LabPort.values()) {
            chosen.put(port, reserved.get(chosen.size()));
        }
        ports = new LabPorts(chosen);
    }

    @AfterAll
    static void freePorts() {
        reserved.close();
    }

    @Test
    @Order(1)
    void everyCopyEqualsTheCoreThoughMirrorAndVoterAreKilledMeanwhile() throws Exception {
        try (RunningLab lab = RunningLab.start("first", data(), ports)) {
            JsonNode check = lab.report().path("check");
            assertThat(check).hasSize(6).allSatisfy(path -> {
                assertThat(path.path("putMillis").asDouble()).isPositive();
                assertThat(path.path("deleteMillis").asDouble()).isPositive();
            });

            writeWhileKilling(lab);

            List<KeyValue> core = Copies.ofCluster(lab.url(LabPort.VOTER_2));
            Map<String, String> values = Copies.values(core);
            assertThat(values).hasSize(KEYS - KEYS / 10);
            await().atMost(CATCH_UP).untilAsserted(() -> assertThat(Copies.ofServer(lab.url(LabPort.GATEWAY)))
                    .isEqualTo(core));
            await().atMost(CATCH_UP).untilAsserted(() -> assertThat(Copies.values(Copies.ofServer(lab.url(LabPort.DR))))
                    .isEqualTo(values));
            await().atMost(CATCH_UP)
                    .untilAsserted(() -> assertThat(Copies.ofTopic(ports.address(LabPort.KAFKA), Configurations.TOPIC))
                            .isEqualTo(values));
            await().atMost(CATCH_UP)
                    .untilAsserted(() -> assertThat(Copies.values(Copies.ofServer(lab.url(LabPort.EDGE))))
                            .isEqualTo(values));
            await().atMost(CATCH_UP).untilAsserted(() -> assertThat(Copies.ofServer(lab.url(LabPort.EDGE_GATEWAY)))
                    .isEqualTo(core));

            lab.interrupt();
            assertThat(lab.awaitExit()).as(lab.output()).isZero();
            assertThat(lab.output())
                    .as("each part stops by itself, in its time")
                    .doesNotContain("did not stop in time");
            lab.assertNothingIsLeft();
        }
    }

    @Test
    @Order(2)
    @Tag("verify")
    void theNextRunResumesAndIfKilledLeavesNothingBehind() throws Exception {
        try (RunningLab lab = RunningLab.start("second", data(), ports)) {
            lab.report();
            try (RunningLab other = RunningLab.start("other", data(), ports)) {
                assertThat(other.awaitExit()).isEqualTo(1);
                assertThat(other.output()).contains("is already running as process ");
            }

            for (String mirror : List.of("dr", "kafka", "edge")) {
                assertThat(lab.mirror(mirror).path("changes").asInt())
                        .as("changes that mirror %s wrote in this run", mirror)
                        .isLessThan(KEYS / 2);
            }

            frozen = NoSpaceAlarm.raise(lab.url(LabPort.VOTER_1));
            lab.killLab();
            lab.assertNothingIsLeft();
        }
    }

    @Test
    @Order(3)
    void theRunAfterAKillTakesOverAndStaysUpThoughTheCoreTakesNoWrites() throws Exception {
        try (RunningLab lab = RunningLab.start("frozen", data(), ports, "--no-kafka")) {
            assertThat(lab.report().path("check")).isEmpty();
            assertThat(lab.output()).contains("taking over " + data());
            assertThat(lab.output())
                    .contains("the core rejects writes (alarm NOSPACE)", "etcdctl alarm disarm", "--fresh")
                    .doesNotContain("Status{");
            assertThat(lab.mirror("dr").path("name").asText()).isEqualTo("dr");

            frozen.lift();
            lab.interrupt();
            assertThat(lab.awaitExit()).as(lab.output()).isZero();
        }
    }

    @Test
    @Order(4)
    void aRunWithoutKafkaExitsAfterItsCheck() throws Exception {
        try (RunningLab lab = RunningLab.start("third", data(), ports, "--exit-after-check", "--no-kafka")) {
            assertThat(lab.awaitExit()).as(lab.output()).isZero();
            assertThat(lab.report().path("check")).hasSize(3);
            assertThat(lab.report().path("endpoints")).isNotEmpty().noneMatch(endpoint -> Set.of(
                            "kafka", "edge-1", "edge-gateway")
                    .contains(endpoint.path("part").asText()));
            lab.assertNothingIsLeft();
        }
    }

    @Test
    @Order(5)
    @Tag("verify")
    void aPortInUseIsNamedAndNothingStarts() throws IOException {
        try (ServerSocket taken = new ServerSocket(ports.number(LabPort.DR), 1, InetAddress.getLoopbackAddress());
                RunningLab lab = RunningLab.start("fourth", folder.resolve("fourth-data"), ports)) {
            assertThat(lab.awaitExit()).isEqualTo(1);
            assertThat(lab.output())
                    .contains(
                            "port " + taken.getLocalPort() + " (dr-1",
                            "--dr-port",
                            "process " + ProcessHandle.current().pid(),
                            "{\"error\":\"port ")
                    .hasLineCount(2);
        }
    }

    private static void writeWhileKilling(RunningLab lab) throws IOException, InterruptedException {
        List<URI> voters = List.of(lab.url(LabPort.VOTER_1), lab.url(LabPort.VOTER_2), lab.url(LabPort.VOTER_3));
        Etcdctl etcdctl = new Etcdctl(voters);
        for (int first = 0; first < KEYS; first += KEYS_PER_COMMIT) {
            if (first == KEYS / 4) {
                lab.kill("mirror");
            }
            if (first == KEYS / 2) {
                lab.kill("core-1");
            }
            etcdctl.transact(puts(first));
            etcdctl.transact(changes(first));
        }
        lab.awaitOutput("mirror (pid " + lab.pid("mirror") + ") was killed by SIGKILL; restarted");
        lab.awaitOutput("core-1 (pid " + lab.pid("core-1") + ") was killed by SIGKILL; restarted");
    }

    private static List<String> puts(int first) {
        return IntStream.range(first, first + KEYS_PER_COMMIT)
                .mapToObj(key -> "put " + name(key) + " first-" + key)
                .toList();
    }

    /** Of ten keys one is deleted and one changed. */
    private static List<String> changes(int first) {
        return IntStream.iterate(first, key -> key < first + KEYS_PER_COMMIT, key -> key + 10)
                .boxed()
                .flatMap(key -> Stream.of("del " + name(key), "put " + name(key + 5) + " second-" + key))
                .toList();
    }

    private static String name(int key) {
        return String.format("lab/key-%05d", key);
    }

    private static Path data() {
        return folder.resolve("data");
    }
}
