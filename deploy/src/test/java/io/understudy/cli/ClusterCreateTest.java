package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code cluster create} refuses, and what it leaves of a failed start, with a script in place of etcd. */
final class ClusterCreateTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    private final FreePorts ports = FreePorts.take(2);
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Path data;
    private Path file;

    @BeforeEach
    void configure() throws IOException {
        data = folder.resolve("var/etcd/m1");
        file = configuration("127.0.0.1");
        etcd("while :; do sleep 0.1; done");
    }

    @AfterEach
    void end() throws Exception {
        try (ClusterConnection cluster = new ClusterConnection(ClusterSettings.load(file, Map.of(), Map.of()), true)) {
            cluster.machines(line -> {}).stop(cluster.places().get(0));
        }
        ports.close();
    }

    private void etcd(String ending) throws IOException {
        Path script = Files.writeString(folder.resolve("etcd"), """
                #!/bin/sh
                [ "$1" != --version ] || { echo 'etcd Version: 3.6.16'; exit; }
                for argument; do case $argument in --data-dir=*) mkdir -p "${argument#*=}/member";; esac; done
                %s
                """.formatted(ending));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Path configuration(String peer) throws IOException {
        return Files.writeString(folder.resolve("cluster.yaml"), """
                cluster:
                  endpoints: 'http://127.0.0.1:%1$d'
                machines:
                  m1:
                    peerUrls: 'http://%2$s:%3$d'
                    clientUrls: 'http://127.0.0.1:%1$d'
                    process: local
                    program: '%4$s'
                    dataDirectory: '%5$s'
                """.formatted(
                        ports.get(0), peer, ports.get(1), folder.resolve("etcd"), data));
    }

    @ParameterizedTest
    @CsvSource({
        "m2, 'no machine m2 in the configuration (--config); machines: m1'",
        "m1 --auth, 'no terminal for the password of root; specify --user root and --password-file'",
        "m1 --auth --user alice --password-file FILE, '--auth creates the user root, but the user is alice'"
    })
    void aWrongArgumentIsAUsageError(String arguments, String why) throws Exception {
        List<String> before = files();

        assertThat(create(arguments.replace("FILE", file.toString()).split(" ")))
                .as(why)
                .isEqualTo(2);

        assertThat(err.toString()).contains(why);
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void aDryRunPrintsThePlan() throws Exception {
        List<String> before = files();

        assertThat(create("m1", "--auth", "--dry-run", "--output=json"))
                .as("%s", err)
                .isZero();

        assertThat(new JsonMapper().readTree(out.toString()).findValuesAsText("action"))
                .containsExactly(
                        "start m1 as a process, with new data in " + data,
                        "wait until m1 serves at http://127.0.0.1:" + ports.get(0),
                        "create user root and enable authentication");
        assertThat(files()).isEqualTo(before);
    }

    /** An address of 192.0.2.0/24 is of no machine. */
    @ParameterizedTest
    @CsvSource({"192.0.2.1, url-of-machine", "nowhere.invalid, url-of-machine", "0.0.0.0, url-well-formed"})
    void whatCannotStartIsRefusedBeforeAnyEffect(String peer, String rule) throws Exception {
        Files.createDirectories(data);
        Files.writeString(data.resolve("kept"), "");
        Files.delete(folder.resolve("etcd"));
        file = configuration(peer);
        List<String> before = files();
        try (ServerSocket taken = new ServerSocket(ports.get(0), 1, InetAddress.getLoopbackAddress())) {
            for (String mode : List.of("--dry-run", "--output=json")) {
                assertThat(create("m1", mode)).as("%s: %s", taken, err).isEqualTo(1);
            }
        }
        JsonNode refused = new JsonMapper().readTree(out.toString());
        assertThat(refused.path("done").asBoolean(true)).isFalse();
        assertThat(refused.findValuesAsText("rule"))
                .containsExactlyInAnyOrder(rule, "data-directory-free", "program-runs", "port-free");
        assertThat(err.toString())
                .contains("refused (port-free): port " + ports.get(0) + " of http://127.0.0.1:" + ports.get(0)
                        + " is in use by process " + ProcessHandle.current().pid());
        assertThat(files()).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFailedStartLeavesWhatItFound(boolean hasDirectory) throws Exception {
        if (hasDirectory) {
            Files.createDirectories(data);
        }
        etcd("echo 'panic: no space left on device'; exit 1");
        List<String> before = files();

        assertThat(create("m1")).isEqualTo(1);

        assertThat(err.toString())
                .contains(
                        "m1 has exited; etcd reports",
                        "its disk is full",
                        "m1 does not run, and its files were deleted");
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void aMemberThatDoesNotServeInTimeIsStopped() throws Exception {
        List<String> before = files();

        assertThat(create("m1", "--start-timeout=1s")).isEqualTo(1);

        assertThat(err.toString()).contains("m1 does not serve after 1 s");
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void anInterruptedStartLeavesWhatItFound() throws Exception {
        List<String> before = files();
        AtomicReference<Thread> thread = new AtomicReference<>();
        CompletableFuture<Integer> status = CompletableFuture.supplyAsync(() -> {
            thread.set(Thread.currentThread());
            return create("m1");
        });
        await().atMost(PATIENCE).until(() -> Files.exists(data.resolve("member")));

        thread.get().interrupt();

        assertThat(status).succeedsWithin(PATIENCE).isEqualTo(1);
        assertThat(err.toString()).contains("interrupted", "m1 does not run, and its files were deleted");
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void dataOfAnotherCommandAreNotDeleted() throws Exception {
        Path lock =
                Files.createDirectories(data.resolveSibling(".").normalize()).resolve("m1.lock");
        AtomicReference<Thread> thread = new AtomicReference<>();
        CompletableFuture<Integer> status;
        try (FileChannel other = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            FileLock held = other.lock();
            status = CompletableFuture.supplyAsync(() -> {
                thread.set(Thread.currentThread());
                return create("m1");
            });
            await().atMost(PATIENCE).until(() -> err.toString().contains("start m1 as a process"));
            Files.createFile(Files.createDirectories(data).resolve("kept"));
            thread.get().interrupt();
            await().atMost(PATIENCE).until(() -> !thread.get().isInterrupted());
            held.release();
        }

        assertThat(status).succeedsWithin(PATIENCE).isEqualTo(1);
        assertThat(err.toString()).contains("interrupted", "data that it did not make were left in " + data);
        assertThat(data.resolve("kept")).exists();
    }

    /** The other may be a running member of a cluster. */
    @Test
    void aRunningMemberIsNotTouched() throws Exception {
        try (ClusterConnection cluster = new ClusterConnection(ClusterSettings.load(file, Map.of(), Map.of()), true)) {
            cluster.machines(line -> {}).foundAll(cluster.places(), "other");
            await().atMost(PATIENCE).until(() -> Files.exists(data.resolve("member")));
            List<String> before = files();

            assertThat(create("m1")).isEqualTo(1);

            assertThat(err.toString()).contains("refused (member-stopped): m1 is running");
            assertThat(files()).isEqualTo(before);
            assertThat(cluster.machines(line -> {}).isRunning(cluster.places().get(0)))
                    .contains(true);
        }
    }

    private List<String> files() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.map(Path::toString).sorted().toList();
        }
    }

    private int create(String... arguments) {
        return Understudy.run(
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                Stream.concat(Stream.of("cluster", "create", "--config=" + file), Stream.of(arguments))
                        .toArray(String[]::new));
    }
}
