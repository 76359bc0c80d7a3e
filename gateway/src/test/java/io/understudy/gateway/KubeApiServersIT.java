package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.ServerProcess;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two kube-apiservers of one cluster, one of them behind a gateway, under writes, compactions and kills of each part: their
 * clients see the same events, and their own writes.
 */
@Tag("schedules")
@Timeout(900)
final class KubeApiServersIT {

    private static final Logger LOG = LoggerFactory.getLogger(KubeApiServersIT.class);

    private static final int KINDS = 20;
    private static final int OBJECTS = 5_000;
    private static final String MAPS = "/api/v1/namespaces/default/configmaps";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    /** A collection that is deleted as a whole. */
    private static final String DELETED = widgets(KINDS - 1);

    /** Leases renewed through each API server per second. */
    private static final int RENEWALS = 25;

    private static final int WRITES_AFTER_KILL = 300;

    @RegisterExtension
    static final EtcdExtension SOURCE =
            EtcdExtension.voters(3).learners(1).named("source").own();

    @TempDir
    private Path folder;

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final List<Watcher> watchers = new ArrayList<>();
    private final List<Writer> writers = new ArrayList<>();
    private int kills;

    /** @param content further fields, each after a comma */
    static String object(String path, String name, @Nullable Long revision, String content) {
        String version = revision == null ? "" : ",\"resourceVersion\":\"" + revision + "\"";
        // Required of custom resources only.
        String type = path.contains("widgets")
                ? "\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget" + path.replaceFirst(".*widgets", "") + "\","
                : "";
        return "{" + type + "\"metadata\":{\"name\":\"" + name + "\"" + version + "}" + content + "}";
    }

    static String widgets(int kind) {
        return "/apis/example.com/v1/namespaces/default/widgets" + kind;
    }

    @Test
    void clientsOfBothSeeTheSameEventsAndTheirOwnWrites() throws Exception {
        LOG.info("seed={}", seed);
        try (FreePorts ports = FreePorts.take(1);
                ServerProcess gateway = GatewayJvm.of(
                        folder,
                        "gateway",
                        "1g",
                        ports.get(0),
                        SOURCE.cluster().followers().get(0).clientUrl())) {
            gateway.start();
            String members = SOURCE.cluster().voters().stream()
                    .map(EtcdMember::clientUrl)
                    .map(URI::toString)
                    .collect(Collectors.joining(","));
            try (KubeApiServer direct = server("direct", members);
                    KubeApiServer behind = server("behind", "http://127.0.0.1:" + ports.get(0))) {
                try {
                    run(gateway, List.of(direct, behind));
                } finally {
                    writers.forEach(Writer::close);
                    watchers.forEach(Watcher::close);
                }
            }
        }
    }

    private KubeApiServer server(String name, String etcd) throws Exception {
        return new KubeApiServer(etcd, Files.createDirectory(folder.resolve(name)), "--etcd-compaction-interval=30s");
    }

    private void run(ServerProcess gateway, List<KubeApiServer> servers) throws Exception {
        for (int kind = 0; kind < KINDS; kind++) {
            define(servers.get(kind % 2), kind);
        }
        List<String> watched = List.of(MAPS, LEASES, widgets(0), DELETED);
        for (String path : watched) {
            long from = SOURCE.cluster().leader().status().revision();
            servers.forEach(server -> watchers.add(new Watcher(server, path, from)));
        }
        for (int i = 0; i < servers.size(); i++) {
            writers.add(new Writer(servers.get(i), "writer-" + i + "-", new Random(seed + i)));
        }
        awaitWrites(OBJECTS / 2);
        for (KubeApiServer server : servers) {
            finalizeNamespace(server, "gone-" + servers.indexOf(server));
            for (int i = 0; i < 100; i++) {
                server.call("POST", DELETED, object(DELETED, "widget-" + i, null, ""));
            }
            server.call("DELETE", DELETED, "");
        }
        awaitWrites(WRITES_AFTER_KILL);
        assertThat(watchers).as("without kills").allMatch(watcher -> watcher.gaps.isEmpty());

        EtcdMember leader = SOURCE.cluster().leader();
        kill("leader", leader.process(), afterWrites(leader), servers);
        EtcdMember learner = SOURCE.cluster().learners().get(0);
        kill("learner", learner.process(), afterWrites(learner), servers);
        kill("gateway", gateway, gateway::start, servers);
        kill(
                "API server of the members",
                servers.get(0).process(),
                servers.get(0).process()::start,
                servers);
        kill(
                "API server behind the gateway",
                servers.get(1).process(),
                servers.get(1).process()::start,
                servers);

        writers.forEach(Writer::close);
        for (Writer writer : writers) {
            assertThat(writer.fault).as("seed %d", seed).isNull();
        }
        for (String path : watched) {
            verify(path, servers);
        }
    }

    static void define(KubeApiServer server, int kind) throws Exception {
        String name = "widgets" + kind;
        server.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", """
                {"metadata":{"name":"%1$s.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
                "names":{"plural":"%1$s","singular":"widget%2$d","kind":"Widget%2$d"},
                "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
                "x-kubernetes-preserve-unknown-fields":true}}}]}}""".formatted(name, kind));
        await().atMost(PATIENCE)
                .until(() -> server.send("GET", widgets(kind), "").statusCode() == 200);
    }

    /** As the controller manager does, which is not there. */
    private static void finalizeNamespace(KubeApiServer server, String name) throws Exception {
        String path = "/api/v1/namespaces/" + name;
        server.call("POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"" + name + "\"}}");
        for (int i = 0; i < 10; i++) {
            server.call("POST", path + "/configmaps", "{\"metadata\":{\"name\":\"map-" + i + "\"}}");
        }
        server.call("DELETE", path, "");
        server.call("DELETE", path + "/configmaps", "");
        JsonObject namespace = new JsonObject(server.call("GET", path, ""));
        namespace.getJsonObject("spec").put("finalizers", new JsonArray());
        server.call("PUT", path + "/finalize", namespace.encode());
        assertThat(server.send("GET", path, "").statusCode()).isEqualTo(404);
    }

    private void kill(String name, ServerProcess part, Runnable start, List<KubeApiServer> servers) {
        kills++;
        writers.forEach(writer -> writer.longestPauseNanos = 0);
        part.kill();
        start.run();
        servers.forEach(KubeApiServer::awaitReady);
        awaitWrites(WRITES_AFTER_KILL);
        for (Watcher watcher : watchers) {
            assertThat(watcher.gaps.size())
                    .as("lists again, of %s", watcher.path)
                    .isLessThanOrEqualTo(kills);
        }
        LOG.info(
                "killed {}: longest pauses of writers {} ms, lists again {}",
                name,
                writers.stream()
                        .map(writer -> writer.longestPauseNanos / 1_000_000)
                        .toList(),
                watchers.stream().map(watcher -> watcher.gaps.size()).toList());
    }

    private Runnable afterWrites(EtcdMember member) {
        return () -> {
            awaitWrites(WRITES_AFTER_KILL);
            member.start();
        };
    }

    private void awaitWrites(int more) {
        List<Integer> goals =
                writers.stream().map(writer -> writer.acknowledged.get() + more).toList();
        await().atMost(PATIENCE.multipliedBy(3))
                .until(() -> IntStream.range(0, goals.size()).allMatch(i -> {
                    Writer writer = writers.get(i);
                    if (writer.fault != null) {
                        throw new AssertionError("seed " + seed, writer.fault);
                    }
                    return writer.acknowledged.get() >= goals.get(i);
                }));
    }

    /** The lists of both and of etcd are equal, and so are the events of both. */
    private void verify(String path, List<KubeApiServer> servers) throws Exception {
        Map<String, Long> objects = objects(servers.get(0), path);
        assertThat(objects(servers.get(1), path)).isEqualTo(objects);
        String kept = path.equals(MAPS)
                ? "/registry/configmaps/default/"
                : path.equals(LEASES)
                        ? "/registry/leases/default/"
                        : "/registry/example.com/" + path.substring(path.lastIndexOf('/') + 1) + "/default/";
        assertThat(SOURCE.cluster()
                        .etcdctl("get", kept, "--prefix", "--keys-only")
                        .lines()
                        .filter(line -> !line.isBlank()))
                .hasSize(objects.size());

        List<Watcher> both =
                watchers.stream().filter(watcher -> watcher.path.equals(path)).toList();
        String last = servers.get(0).call("POST", path, object(path, "last", null, ""));
        long revision = revision(new JsonObject(last));
        both.forEach(watcher -> await().atMost(PATIENCE).until(() -> watcher.last >= revision));
        for (Watcher watcher : both) {
            Watcher other = both.get(watcher == both.get(0) ? 1 : 0);
            assertThat(watcher.events).as("%s, each once", path).doesNotHaveDuplicates();
            assertThat(watcher.events.stream().filter(event -> !other.misses(event)))
                    .as("%s, seed %d", path, seed)
                    .containsExactlyElementsOf(other.events.stream()
                            .filter(event -> !watcher.misses(event))
                            .toList());
        }
        LOG.info(
                "{}: {} objects, {} events",
                path,
                objects.size(),
                both.get(0).events.size());
    }

    private static Map<String, Long> objects(KubeApiServer server, String path) throws Exception {
        Map<String, Long> objects = new TreeMap<>();
        for (Object item : new JsonObject(server.call("GET", path, "")).getJsonArray("items")) {
            objects.put(((JsonObject) item).getJsonObject("metadata").getString("name"), revision((JsonObject) item));
        }
        return objects;
    }

    private static long revision(JsonObject object) {
        return Long.parseLong(object.getJsonObject("metadata").getString("resourceVersion"));
    }

    /** @param revision at which the object changed */
    private record Event(String type, String name, long revision) {}

    /** Revisions after which a list had to be requested, and of that list. */
    private record Gap(long after, long until) {}

    /** A client that watches a collection, and continues after an interruption. */
    private static final class Watcher implements AutoCloseable {

        final List<Event> events = new CopyOnWriteArrayList<>();
        final List<Gap> gaps = new CopyOnWriteArrayList<>();
        final String path;
        private final KubeApiServer server;
        private final Thread thread = new Thread(this::watch, "watcher");
        volatile long last;
        private volatile boolean closed;

        Watcher(KubeApiServer server, String path, long from) {
            this.server = server;
            this.path = path;
            this.last = from;
            thread.setDaemon(true);
            thread.start();
        }

        private void watch() {
            while (!closed) {
                try {
                    HttpResponse<Stream<String>> response =
                            server.stream(path + "?watch=1&allowWatchBookmarks=true&resourceVersion=" + last);
                    if (response.statusCode() == 410) {
                        listAgain();
                    } else if (response.statusCode() == 200) {
                        read(response.body().iterator());
                    } else {
                        server.awaitReady();
                    }
                } catch (IOException | UncheckedIOException e) {
                    // It continues where it was interrupted.
                    server.awaitReady();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        private void read(Iterator<String> lines) throws IOException, InterruptedException {
            while (lines.hasNext() && !closed) {
                JsonObject line = new JsonObject(lines.next());
                JsonObject object = line.getJsonObject("object");
                if (line.getString("type").equals("ERROR")) {
                    if (object.getInteger("code") == 410) {
                        listAgain();
                    }
                    return;
                }
                long revision = KubeApiServersIT.revision(object);
                if (!line.getString("type").equals("BOOKMARK")) {
                    String name = object.getJsonObject("metadata").getString("name");
                    events.add(new Event(line.getString("type"), name, revision));
                }
                last = revision;
            }
        }

        private void listAgain() throws IOException, InterruptedException {
            long listed = KubeApiServersIT.revision(new JsonObject(server.call("GET", path, "")));
            gaps.add(new Gap(last, listed));
            last = listed;
        }

        boolean misses(Event event) {
            return gaps.stream().anyMatch(gap -> event.revision > gap.after && event.revision <= gap.until);
        }

        @Override
        public void close() {
            closed = true;
            thread.interrupt();
        }
    }

    /** A client that creates, changes and deletes objects of its own and reads them back at once. */
    private static final class Writer implements AutoCloseable {

        final AtomicInteger acknowledged = new AtomicInteger();
        volatile long longestPauseNanos;
        volatile @Nullable Throwable fault;
        private final KubeApiServer server;
        private final Random random;
        private final String prefix;
        private final Thread thread = new Thread(this::write, "writer");
        private final List<String> paths;
        private volatile boolean closed;
        private long lastNanos = System.nanoTime();
        private long renewedNanos = lastNanos;

        /** @param prefix of the names of its objects */
        Writer(KubeApiServer server, String prefix, Random random) {
            this.server = server;
            this.prefix = prefix;
            this.random = random;
            paths = Stream.concat(Stream.of(MAPS), IntStream.range(0, KINDS - 1).mapToObj(KubeApiServersIT::widgets))
                    .toList();
            thread.setDaemon(true);
            thread.start();
        }

        private void write() {
            try {
                int created = 0;
                while (!closed) {
                    if (System.nanoTime() - renewedNanos > 1_000_000_000L / RENEWALS) {
                        renewedNanos = System.nanoTime();
                        put(
                                LEASES,
                                prefix + random.nextInt(RENEWALS),
                                ",\"spec\":{\"leaseDurationSeconds\":" + (1 + random.nextInt(3_600)) + "}");
                    }
                    String path = paths.get(random.nextInt(paths.size()));
                    if (created < OBJECTS / 2) {
                        put(path, prefix + created++, data());
                    } else if (random.nextInt(4) == 0) {
                        delete(path, prefix + random.nextInt(created));
                    } else {
                        put(path, prefix + random.nextInt(created), data());
                    }
                }
            } catch (InterruptedException e) {
                // Closed.
            } catch (Exception | AssertionError e) {
                fault = e;
            }
        }

        private String data() {
            return ",\"data\":{\"key\":\"" + random.nextInt() + "\"}";
        }

        /** Creates or replaces it. */
        private void put(String path, String name, String content) throws InterruptedException {
            Long present = known(path, name);
            String object = object(path, name, present, content);
            String body = present == null
                    ? acknowledged("POST", path, object)
                    : acknowledged("PUT", path + "/" + name, object);
            if (body != null) {
                long revision = revision(new JsonObject(body));
                assertThat(known(path, name))
                        .as("%s %s after its write", path, name)
                        .isEqualTo(revision);
                if (random.nextInt(50) == 0) {
                    assertThat(listed(path)).containsEntry(name, revision);
                }
            }
        }

        private void delete(String path, String name) throws InterruptedException {
            if (known(path, name) != null && acknowledged("DELETE", path + "/" + name, "") != null) {
                assertThat(known(path, name))
                        .as("%s %s after its deletion", path, name)
                        .isNull();
                if (random.nextInt(50) == 0) {
                    assertThat(listed(path)).doesNotContainKey(name);
                }
            }
        }

        /** Returns null if its outcome is unknown. */
        private @Nullable String acknowledged(String method, String path, String body) throws InterruptedException {
            try {
                HttpResponse<String> response = server.send(method, path, body);
                if (response.statusCode() == 409 || response.statusCode() >= 500) {
                    // Of an earlier request of unknown outcome, or without etcd.
                    return null;
                }
                assertThat(response.statusCode())
                        .as("%s %s: %s", method, path, response.body())
                        .isBetween(200, 299);
                long now = System.nanoTime();
                longestPauseNanos = Math.max(longestPauseNanos, now - lastNanos);
                lastNanos = now;
                acknowledged.incrementAndGet();
                return response.body();
            } catch (IOException e) {
                return null;
            }
        }

        /** Returns the revision by a consistent read; null if it is absent. */
        private @Nullable Long known(String path, String name) throws InterruptedException {
            while (true) {
                try {
                    HttpResponse<String> response = server.send("GET", path + "/" + name, "");
                    if (response.statusCode() == 404 && response.body().contains("NotFound")) {
                        return null;
                    }
                    if (response.statusCode() == 200) {
                        return revision(new JsonObject(response.body()));
                    }
                } catch (IOException e) {
                    // Killed.
                }
                server.awaitReady();
            }
        }

        private Map<String, Long> listed(String path) throws InterruptedException {
            while (true) {
                try {
                    return objects(server, path);
                } catch (InterruptedException e) {
                    throw e;
                } catch (Exception | AssertionError e) {
                    server.awaitReady();
                }
            }
        }

        @Override
        public void close() {
            closed = true;
            try {
                thread.join(PATIENCE.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
