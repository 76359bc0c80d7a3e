package io.understudy.cluster.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cli.Commands;
import io.understudy.cluster.machine.LocalControl;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.OwnMachines;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.snapshot.SnapshotDirectory.SnapshotFile;
import io.understudy.cluster.snapshot.SnapshotTool.Digest;
import io.understudy.cluster.snapshot.SnapshotTool.SnapshotException;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.StorageStatus;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.process.Command;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.vocabulary.ClusterId;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Snapshots of a real cluster with a learner.
 *
 * <p>Tests invariant DP8.
 */
final class SnapshotIT {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int KEYS = 20;
    private static final int PAGE = 4096;
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    private final EtcdBinaries binaries = EtcdBinaries.find();
    private final SnapshotTool tool = SnapshotTool.of(binaries);
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private LocalEtcd source;
    private EtcdConnections connections;
    private EtcdObserver observer;

    @BeforeEach
    void begin() {
        source = LocalEtcd.builder()
                .name("source")
                .voters(1)
                .learners(1)
                .dataDirectory(folder.resolve("source"))
                .fsync(false)
                .strictReconfiguration(false)
                .build();
        source.start();
        EtcdSettings settings = EtcdSettings.of(source.clientUrls().toArray(URI[]::new));
        connections = EtcdConnections.open(settings);
        observer = new EtcdObserver(settings, connections, meters);
    }

    @AfterEach
    void end() {
        connections.close();
        source.close();
    }

    @Test
    void aRestoredSnapshotOfALearnerEqualsTheSource() throws Exception {
        for (int key = 0; key < KEYS; key++) {
            source.etcdctl("put", "key-" + key, "value-" + key);
        }
        source.etcdctl("del", "key-7");
        String all = source.etcdctl("get", "", "--from-key", "--write-out=json");
        await().untilAsserted(() -> {
            ClusterFacts facts = facts();
            assertThat(facts.lag(facts.learners().get(0))).contains(0L);
        });
        SnapshotDirectory directory = new SnapshotDirectory(folder.resolve("snapshots"));

        SnapshotTaker.Taken taken = taker().take(facts(), directory, Instant.now());

        assertThat(taken.member()).isEqualTo(source.learners().get(0).name());
        assertThat(taken.contents().revision()).isEqualTo(KEYS + 2);
        assertThat(directory.list())
                .extracting(SnapshotFile::path)
                .containsExactly(taken.file().path());

        Instant before = Instant.now();
        try (FreePorts ports = FreePorts.take(6)) {
            List<MachineSettings> machines = machines(ports);
            Machines control = OwnMachines.local(
                    machines, new LocalControl(new LocalProcesses(), binaries::etcd), InstantSource.system());
            List<String> lines = new ArrayList<>();
            // An empty directory is replaced.
            Files.createDirectory(machines.get(1).dataDirectory());
            try {
                Restore restore = new Restore(tool, control, lines::add);
                restore.restore(taken.file().path(), machines, "restored", OptionalLong.empty());
                machines.forEach(machine -> control.start(machine.member()));
                String restored = Command.of(List.of(
                                binaries.etcdctl().toString(),
                                "--endpoints="
                                        + machines.get(2).member().clientUrls().get(0),
                                "get",
                                "",
                                "--from-key",
                                "--write-out=json"))
                        .run(Duration.ofSeconds(20));
                assertThat(keys(restored)).isEqualTo(keys(all));
                assertThat(revision(restored))
                        .as("no client of another cluster can be ahead")
                        .isGreaterThanOrEqualTo(ChronoUnit.MICROS.between(Instant.EPOCH, before));
                ClusterId cluster = new Founding(
                                machines.stream().map(MachineSettings::member).toList(), "restored", 0, true)
                        .cluster();
                assertThat(restored).contains("\"cluster_id\":" + Long.toUnsignedString(cluster.value()));
                assertThatThrownBy(() -> restore.restore(taken.file().path(), machines, "restored", OptionalLong.of(0)))
                        .hasMessageContaining("member new-1 is running");
                machines.forEach(machine -> control.stop(machine.member()));
                assertThatThrownBy(() -> restore.restore(taken.file().path(), machines, "restored", OptionalLong.of(0)))
                        .isInstanceOf(SnapshotException.class)
                        .hasMessageContaining(machines.get(0).dataDirectory() + " is not empty");
            } finally {
                machines.forEach(machine -> control.stop(machine.member()));
            }
        }
    }

    @Test
    void snapshotsAreTakenWhenDueUploadedAndKeptByCountAndAge() throws Exception {
        Path hook = Files.writeString(folder.resolve("upload"), """
                #!/bin/sh
                [ ! -e %1$s/offline ] || { echo "no route to host" >&2; exit 1; }
                echo "$UNDERSTUDY_SNAPSHOT" >> %1$s/uploads
                """.formatted(folder));
        Files.setPosixFilePermissions(hook, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path kept = folder.resolve("kept");
        SnapshotSettings often = new SnapshotSettings(
                Optional.of(kept),
                Duration.ofMinutes(10),
                2,
                Duration.ZERO,
                List.of(hook.toString()),
                Duration.ofSeconds(10));
        SnapshotDirectory directory = new SnapshotDirectory(kept);
        ClusterFacts seen = facts();
        Path offline = Files.createFile(folder.resolve("offline"));
        try (PeriodicSnapshots snapshots = new PeriodicSnapshots(often, taker(), meters)) {
            for (int minutes : List.of(0, 5, 10, 20)) {
                if (minutes == 20) {
                    Files.delete(offline);
                }
                snapshots.tick(at(seen, seen.at().plus(Duration.ofMinutes(minutes))));
                snapshots.idle().get(30, TimeUnit.SECONDS);
            }
            Instant later = seen.at().plus(Duration.ofMinutes(30));
            snapshots.tick(new ClusterFacts(seen.cluster(), seen.members(), true, List.of("CORRUPT of one"), later));
            snapshots.idle().get(30, TimeUnit.SECONDS);
            assertThat(directory.list())
                    .as("a snapshot of corrupt data displaces none from before")
                    .hasSize(3);
            Files.delete(directory.list().get(0).path());
        }
        assertThat(directory.list())
                .extracting(SnapshotFile::taken)
                .containsExactly(
                        millis(seen.at().plus(Duration.ofMinutes(20))),
                        millis(seen.at().plus(Duration.ofMinutes(10))));
        assertThat(directory.list()).allMatch(SnapshotFile::isUploaded);
        assertThat(Files.readAllLines(folder.resolve("uploads")))
                .contains(directory.list().get(0).path().toString());
        assertThat(meters.get("understudy.cluster.snapshots")
                        .tag("outcome", "ok")
                        .timer()
                        .count())
                .isEqualTo(4);
        assertThat(meters.get("understudy.cluster.snapshot.uploads")
                        .tag("outcome", "failed")
                        .timer()
                        .count())
                .as("one attempt per snapshot, so that a hanging upload does not delay the next one by many timeouts")
                .isEqualTo(2);
        assertThat(kept).isDirectoryNotContaining("glob:**.part");
    }

    @Test
    void refusesAFileThatIsCutShortOrDamaged() throws Exception {
        SnapshotDirectory directory = new SnapshotDirectory(folder.resolve("snapshots"));
        Path file = taker().take(facts(), directory, Instant.now()).file().path();
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
        assertThatThrownBy(() -> Digest.require(file)).hasMessageContaining("is damaged");
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 1));
        assertThatThrownBy(() -> Digest.require(file)).hasMessageContaining("is truncated");
    }

    @Test
    void verifiesAFileAsEtcdutlDoes() throws Exception {
        source.etcdctl("put", "key", "value");
        SnapshotTaker.Taken taken =
                taker().take(facts(), new SnapshotDirectory(folder.resolve("snapshots")), Instant.now());
        Path file = taken.file().path();
        JsonNode status = JSON.readTree(Command.of(
                        List.of(tool.program().toString(), "snapshot", "status", file.toString(), "--write-out=json"))
                .run(PATIENCE));

        assertThat(verify(file)).isZero();
        JsonNode result = JSON.readTree(out.toString());
        assertThat(result.path("revision").asLong())
                .isEqualTo(status.path("revision").asLong())
                .isEqualTo(2);
        assertThat(result.path("keys").asLong())
                .isEqualTo(status.path("totalKey").asLong());
        assertThat(result.path("bytes").asLong())
                .as("with its digest")
                .isEqualTo(status.path("totalSize").asLong() + 32);
        assertThat(Long.parseLong(result.path("hash").asText(), 16))
                .isEqualTo(status.path("hash").asLong());
        assertThat(result.path("version").asText())
                .isEqualTo(status.path("version").asText());

        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 32));
        assertThat(verify(file)).isEqualTo(1);
        assertThat(err.toString()).contains("truncated, or has no digest").hasLineCount(1);
        assertThat(JSON.readTree(out.toString()).path("status").asInt()).isEqualTo(1);

        // Every page but the two meta pages, under a digest that matches.
        Arrays.fill(bytes, 2 * PAGE, bytes.length - 32, (byte) 0xFF);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update(bytes, 0, bytes.length - 32);
        System.arraycopy(digest.digest(), 0, bytes, bytes.length - 32, 32);
        Files.write(file, bytes);
        assertThat(verify(file)).isEqualTo(1);
        assertThat(err.toString()).contains(file.toString()).hasLineCount(1);
    }

    private int verify(Path file) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Commands.understudy()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute("cluster", "snapshot", "verify", file.toString(), "--output", "json");
    }

    @Test
    void aMemberBehindTheObservedIndexGivesNoSnapshot() throws Exception {
        source.etcdctl("put", "key", "value");
        SnapshotDirectory directory = new SnapshotDirectory(folder.resolve("snapshots"));
        ClusterFacts seen = facts();
        ClusterFacts further = new ClusterFacts(
                seen.cluster(),
                seen.members().stream().map(SnapshotIT::furtherOn).toList(),
                seen.isConfirmed(),
                seen.alarms(),
                seen.at());
        assertThatThrownBy(() -> taker().take(further, directory, Instant.now()))
                .isInstanceOf(SnapshotException.class)
                .hasMessageContaining("source-1 has not applied raft index")
                .hasMessageContaining("source-2 has not applied raft index");
        assertThat(directory.list()).isEmpty();
    }

    /** No other member would help. */
    @Test
    void aDirectoryThatCannotBeWrittenIsTheReasonOfTheFailure() throws Exception {
        Path file = Files.createFile(folder.resolve("snapshots"));
        Logger logger = (Logger) LoggerFactory.getLogger("io.understudy.cluster.snapshot");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try (PeriodicSnapshots snapshots = new PeriodicSnapshots(
                new SnapshotSettings(
                        Optional.of(file), Duration.ofHours(1), 1, Duration.ZERO, List.of(), Duration.ofSeconds(1)),
                taker(),
                meters)) {
            snapshots.tick(facts());
            snapshots.idle().get(30, TimeUnit.SECONDS);
        } finally {
            logger.detachAppender(log);
        }
        assertThat(log.list).singleElement().satisfies(event -> assertThat(event.getKeyValuePairs())
                .extracting(pair -> String.valueOf(pair.value))
                .anyMatch(value -> value.startsWith("cannot write snapshot " + file) && value.endsWith("file exists")));
    }

    @Test
    void aSnapshotIsItsOwnersAndReplacesIncompleteOnes() throws Exception {
        Path kept = Files.createDirectory(folder.resolve("snapshots"));
        Path incomplete = Files.createFile(kept.resolve("snapshot-20260102T030405.678Z.db.part"));
        Path other = Files.createFile(kept.resolve("other.part"));
        Path lock = kept.resolve(".snapshots.lock");
        SnapshotDirectory directory = new SnapshotDirectory(kept);
        try (FileChannel taking = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            var unused = taking.lock();
            taker().take(facts(), directory, Instant.now());
            assertThat(incomplete).as("another process is taking it").exists();
        }

        Path file = taker().take(facts(), directory, Instant.now()).file().path();

        assertThat(Files.getPosixFilePermissions(file)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(incomplete).doesNotExist();
        assertThat(other).exists();
    }

    /** One of two voting members, and no learner; etcd serves snapshots without a leader. */
    @Test
    void theLastMemberProvidesASnapshotWithoutAQuorum() throws Exception {
        try (LocalEtcd pair = LocalEtcd.builder()
                .name("pair")
                .voters(2)
                .dataDirectory(folder.resolve("pair"))
                .fsync(false)
                .build()) {
            pair.start();
            pair.etcdctl("put", "key", "value");
            List<MachineSettings> machines =
                    pair.voters().stream().map(this::machine).toList();
            SnapshotDirectory directory = new SnapshotDirectory(folder.resolve("snapshots"));
            pair.voters().get(0).kill();

            SnapshotTaker.Taken taken = taker().takeWithoutQuorum(machines, Optional.empty(), directory, Instant.now());

            assertThat(taken.member()).isEqualTo(pair.voters().get(1).name());
            assertThatThrownBy(() -> taker().takeWithoutQuorum(
                                    machines, Optional.of(facts().cluster()), directory, Instant.now()))
                    .isInstanceOf(SnapshotException.class)
                    .hasMessageStartingWith("members of different clusters respond: {pair-2=")
                    .hasMessageContaining("; the endpoints are of cluster " + facts().cluster());
            List<MachineSettings> mixed = Stream.concat(
                            machines.stream(), Stream.of(machine(source.voters().get(0))))
                    .toList();
            assertThatThrownBy(() -> taker().takeWithoutQuorum(mixed, Optional.empty(), directory, Instant.now()))
                    .isInstanceOf(SnapshotException.class)
                    .hasMessageContaining(", source-1=" + facts().cluster());
            assertThat(directory.list()).hasSize(1);
            pair.voters().get(1).kill();
            assertThatThrownBy(() -> taker().takeWithoutQuorum(machines, Optional.empty(), directory, Instant.now()))
                    .hasMessageContaining("no configured machine provides a snapshot: pair-1 at ")
                    .hasMessageContaining("pair-2 at ")
                    .hasMessageContaining("connection refused");
        }
    }

    private MachineSettings machine(EtcdMember member) {
        return MachineSettings.of(
                new MemberSpec(member.name(), List.of(member.clientUrl()), List.of(member.clientUrl())),
                ProcessKind.MANUAL,
                folder);
    }

    /** As if the voter had committed more than it has. */
    private static MemberFacts furtherOn(MemberFacts member) {
        return new MemberFacts(
                member.id(),
                member.name(),
                member.role(),
                member.peerUrls(),
                member.clientUrls(),
                member.answer()
                        .map(lines -> new MemberAnswer(
                                lines.version(),
                                lines.leader(),
                                lines.raftTerm(),
                                lines.raftIndex() + 1_000,
                                lines.appliedIndex(),
                                lines.revision(),
                                lines.databaseBytes(),
                                lines.databaseBytesInUse(),
                                lines.reachesQuorum(),
                                lines.errors(),
                                StorageStatus.NONE)),
                member.measurements());
    }

    private List<MachineSettings> machines(FreePorts ports) {
        return IntStream.range(0, 3)
                .mapToObj(index -> MachineSettings.of(
                        new MemberSpec(
                                "new-" + (index + 1),
                                List.of(URI.create("http://127.0.0.1:" + ports.get(2 * index))),
                                List.of(URI.create("http://127.0.0.1:" + ports.get(2 * index + 1)))),
                        ProcessKind.LOCAL,
                        folder.resolve("new-" + (index + 1))))
                .toList();
    }

    private ClusterFacts facts() throws InterruptedException {
        return observer.observe(PATIENCE);
    }

    private SnapshotTaker taker() {
        return new SnapshotTaker(observer::endpointOf, connections, tool);
    }

    private static ClusterFacts at(ClusterFacts facts, Instant at) {
        return new ClusterFacts(facts.cluster(), facts.members(), facts.isConfirmed(), facts.alarms(), at);
    }

    private static Instant millis(Instant instant) {
        return instant.truncatedTo(ChronoUnit.MILLIS);
    }

    private static long revision(String json) {
        return Long.parseLong(json.replaceAll(".*\"revision\":(\\d+).*", "$1").strip());
    }

    /** All but the header, which names the member that responded. */
    private static String keys(String json) {
        return json.substring(json.indexOf("\"kvs\""));
    }
}
