package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.ServerProcess;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prints what requests cost at a kube-apiserver of the members and at one behind a gateway, in interleaved rounds: latency, CPU
 * time of the voting members and of the gateway, and the time in which 100 watch caches synchronize.
 */
@Tag("speed")
@Timeout(900)
final class KubeApiServerFiguresIT {

    private static final Logger LOG = LoggerFactory.getLogger(KubeApiServerFiguresIT.class);

    private static final int ROUNDS = Integer.getInteger("understudy.rounds", 3);
    private static final int KINDS = 100;
    private static final int OBJECTS_OF_KIND = 20;
    private static final int NAMESPACES = 50;
    private static final int MAPS_OF_NAMESPACE = 10;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(3).named("source").own();

    @TempDir
    private Path folder;

    private final Map<String, List<Figure>> figures = new TreeMap<>();

    /**
     * @param median latency in milliseconds
     * @param high 99th percentile
     * @param members milliseconds of CPU per 1,000 requests
     * @param gateway milliseconds of CPU per 1,000 requests
     */
    private record Figure(double median, double high, double members, double gateway) {}

    /** A request by its number. */
    private interface Request {
        void send(int number) throws Exception;
    }

    @Test
    void figures() throws Exception {
        try (FreePorts ports = FreePorts.take(1);
                ServerProcess gateway = GatewayJvm.of(
                        folder,
                        "gateway",
                        "1g",
                        ports.get(0),
                        SOURCE.cluster().followers().get(0).clientUrl())) {
            gateway.start();
            String members = SOURCE.cluster().voters().stream()
                    .map(member -> member.clientUrl().toString())
                    .collect(Collectors.joining(","));
            try (KubeApiServer direct = server("direct", members);
                    KubeApiServer behind = server("behind", "http://127.0.0.1:" + ports.get(0))) {
                Map<String, KubeApiServer> servers = new TreeMap<>(Map.of("direct", direct, "behind", behind));
                fill(direct);
                for (int round = 0; round <= ROUNDS; round++) {
                    if (round == 1) {
                        // The first round was for warming up.
                        figures.clear();
                    }
                    for (String name : servers.keySet()) {
                        round(name, servers.get(name), gateway);
                    }
                }
            }
        }
        figures.forEach((name, each) -> System.out.printf(
                Locale.ROOT,
                "%-32s median %6.2f ms, 99th %7.2f ms, CPU per 1,000: members %6.0f ms, gateway %6.0f ms; medians %s%n",
                name,
                middle(each.stream().map(Figure::median)),
                middle(each.stream().map(Figure::high)),
                middle(each.stream().map(Figure::members)),
                middle(each.stream().map(Figure::gateway)),
                each.stream().map(figure -> "%.2f".formatted(figure.median)).toList()));
    }

    private KubeApiServer server(String name, String etcd) throws Exception {
        return new KubeApiServer(etcd, Files.createDirectory(folder.resolve(name)));
    }

    private static void fill(KubeApiServer server) throws Exception {
        String value = "x".repeat(1_000);
        for (int namespace = 0; namespace < NAMESPACES; namespace++) {
            server.call("POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"space-" + namespace + "\"}}");
            for (int map = 0; map < MAPS_OF_NAMESPACE; map++) {
                server.call("POST", maps(namespace), map("map-" + map, value));
            }
        }
        each(16, KINDS, kind -> {
            KubeApiServersIT.define(server, kind);
            String path = KubeApiServersIT.widgets(kind);
            for (int i = 0; i < OBJECTS_OF_KIND; i++) {
                server.call("POST", path, KubeApiServersIT.object(path, "widget-" + i, null, ""));
            }
        });
    }

    private static String maps(int namespace) {
        return "/api/v1/namespaces/space-" + namespace % NAMESPACES + "/configmaps";
    }

    private static String map(String name, String value) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"data\":{\"key\":\"" + value + "\"}}";
    }

    private void round(String name, KubeApiServer server, ServerProcess gateway) throws Exception {
        measure("list, 4 in flight, " + name, gateway, 4, 2_000, i -> server.call("GET", maps(i), ""));
        measure("list, 32 in flight, " + name, gateway, 32, 4_000, i -> server.call("GET", maps(i), ""));
        measure(
                "get, 16 in flight, " + name,
                gateway,
                16,
                4_000,
                i -> server.call("GET", maps(i) + "/map-" + i % MAPS_OF_NAMESPACE, ""));
        for (int inFlight : new int[] {1, 16}) {
            String value = "y".repeat(1_000);
            measure(
                    "put, " + inFlight + " in flight, " + name,
                    gateway,
                    inFlight,
                    1_000,
                    i -> server.call(
                            "PUT",
                            maps(i) + "/map-" + i / NAMESPACES % MAPS_OF_NAMESPACE,
                            map("map-" + i / NAMESPACES % MAPS_OF_NAMESPACE, value + i)));
        }
        measure("watch with list, 16 at once, " + name, gateway, 16, 1_000, i -> watch(server, i));
        server.process().stop();
        long[] before = cpu(gateway);
        long began = System.nanoTime();
        server.process().start();
        server.awaitReady();
        long ready = System.nanoTime();
        long[] cpuReady = cpu(gateway);
        // Refused with 429 until the cache is synchronized.
        each(8, KINDS, i -> await().pollInterval(Duration.ofMillis(20))
                .until(() -> server.send("GET", KubeApiServersIT.widgets(i) + "?resourceVersion=0", "")
                                .statusCode()
                        == 200));
        figures.computeIfAbsent("start, " + name, key -> new ArrayList<>())
                .add(figure(new double[] {(ready - began) / 1e6}, before, cpuReady, 1_000));
        figures.computeIfAbsent(KINDS + " watch caches, " + name, key -> new ArrayList<>())
                .add(figure(new double[] {(System.nanoTime() - ready) / 1e6}, cpuReady, cpu(gateway), 1_000));
    }

    private static void watch(KubeApiServer server, int number) throws Exception {
        HttpResponse<Stream<String>> response = server.stream(maps(number)
                + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
        assertThat(response.statusCode()).isEqualTo(200);
        try (Stream<String> lines = response.body()) {
            Iterator<String> line = lines.iterator();
            int events = 0;
            while (!new JsonObject(line.next()).getString("type").equals("BOOKMARK")) {
                events++;
            }
            assertThat(events).isEqualTo(MAPS_OF_NAMESPACE);
        }
    }

    private void measure(String name, ServerProcess gateway, int inFlight, int count, Request request)
            throws Exception {
        double[] millis = new double[count];
        long[] before = cpu(gateway);
        each(inFlight, count, i -> {
            long began = System.nanoTime();
            request.send(i);
            millis[i] = (System.nanoTime() - began) / 1e6;
        });
        Figure figure = figure(millis, before, cpu(gateway), count);
        LOG.info("{}: {}", name, figure);
        figures.computeIfAbsent(name, key -> new ArrayList<>()).add(figure);
    }

    private static void each(int inFlight, int count, Request request) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(inFlight);
        try {
            List<Future<?>> all = IntStream.range(0, count)
                    .<Future<?>>mapToObj(i -> threads.submit(() -> {
                        request.send(i);
                        return null;
                    }))
                    .toList();
            for (Future<?> each : all) {
                each.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static Figure figure(double[] millis, long[] before, long[] after, int count) {
        double[] sorted = millis.clone();
        Arrays.sort(sorted);
        return new Figure(
                sorted[sorted.length / 2],
                sorted[sorted.length * 99 / 100],
                (after[0] - before[0]) * 1_000.0 / count,
                (after[1] - before[1]) * 1_000.0 / count);
    }

    /** CPU time of the members, and of the gateway, in milliseconds. */
    private static long[] cpu(ServerProcess gateway) {
        return new long[] {
            SOURCE.cluster().voters().stream()
                    .map(EtcdMember::process)
                    .mapToLong(KubeApiServerFiguresIT::cpuMillis)
                    .sum(),
            cpuMillis(gateway)
        };
    }

    private static long cpuMillis(ServerProcess process) {
        return ProcessHandle.of(process.pid().orElseThrow())
                .flatMap(handle -> handle.info().totalCpuDuration())
                .map(Duration::toMillis)
                .orElseThrow();
    }

    private static double middle(Stream<Double> values) {
        List<Double> sorted = values.sorted().toList();
        return sorted.get(sorted.size() / 2);
    }
}
