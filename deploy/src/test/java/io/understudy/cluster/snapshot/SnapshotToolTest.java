package io.understudy.cluster.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.SnapshotTool.SnapshotException;
import io.understudy.etcd.EtcdVersion;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.ProgramVersion;
import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the program for snapshots is found without the others. */
final class SnapshotToolTest {

    @TempDir
    private Path folder;

    @Test
    void theFirstFolderThatHasItWins() throws Exception {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        Path first = program("first");
        Path second = program("second");
        assertThat(SnapshotTool.onPath(String.join(
                        File.pathSeparator,
                        "",
                        empty.toString(),
                        first.getParent().toString(),
                        second.getParent().toString())))
                .contains(new SnapshotTool(first));
    }

    @Test
    void whatCannotBeRunIsNone() throws Exception {
        Path file = program("rights");
        assertThat(file.toFile().setExecutable(false)).isTrue();
        assertThat(SnapshotTool.onPath(file.getParent().toString())).isEmpty();
    }

    /** That of an etcd with its defaults. */
    @Test
    void theIdOfTheRestoredClusterIsComputed() {
        MemberSpec member = new MemberSpec("default", List.of(URI.create("http://localhost:2380")), List.of());
        assertThat(new Founding(List.of(member), "etcd-cluster", 0, true).cluster())
                .hasToString("cdf818194e3a8c32");
    }

    /** Without a search on PATH or a download. */
    @Test
    void theOneBesideAConfiguredProgramComesFirst() throws Exception {
        Path tool = program("configured");
        Path file = Files.writeString(folder.resolve("cluster.yaml"), """
                cluster:
                  endpoints: http://127.0.0.1:1
                machines:
                  m1: {program: %s, peerUrls: "http://127.0.0.1:2", clientUrls: "http://127.0.0.1:1", dataDirectory: m1}
                """.formatted(tool.resolveSibling("etcd")));

        assertThat(SnapshotTool.of(
                        ClusterSettings.load(file, Map.of(), Map.of()).machines()))
                .isEqualTo(new SnapshotTool(tool));
    }

    @Test
    void aMissingEtcdutlIsNamed() {
        assertThatExceptionOfType(SnapshotException.class)
                .isThrownBy(() -> SnapshotTool.of(binaries(6)))
                .withMessageContaining("etcdutl is missing")
                .withMessageContaining("Install etcdutl 3.6.16");
        assertThat(SnapshotTool.of(binaries(5)).program()).hasFileName("etcdctl");
    }

    /** Seen with 3.6.16 and data of 3.7.3. 3.5.33 starts with both, but cannot be upgraded to 3.6.16 with data of 3.7.3. */
    @ParameterizedTest
    @CsvSource({
        "3.7.0,3.6.16,true",
        "3.7.0,3.5.33,true",
        "3.7.0,3.7.3,false",
        "3.6.0,3.7.3,false",
        "3.6.0,3.5.33,false",
        "'',3.6.16,false",
        "3.7.0,unknown,false"
    })
    void aSnapshotThatTheProgramCannotReadIsNotRestored(String storage, String program, boolean isRefused)
            throws Exception {
        Path tool = Files.writeString(program("configured"), """
                #!/bin/sh
                [ $2 = restore ] || exec echo '{"revision": 5, "totalKey": 1, "hash": 1}'
                for each; do case $each in --data-dir=*) mkdir "${each#*=}" ;; esac; done
                """);
        StorageVersionFile.write(folder.resolve("db"), storage);
        Machines machines = new NoMachines() {
            @Override
            public EtcdVersion programVersion(MemberSpec member) {
                return EtcdVersion.parse(program);
            }
        };
        MachineSettings machine = MachineSettings.of(
                new MemberSpec("m1", List.of(URI.create("http://localhost:2380")), List.of()),
                ProcessKind.LOCAL,
                folder.resolve("m1"));
        Restore restore = new Restore(new SnapshotTool(tool), machines, line -> {});
        ThrowingCallable run =
                () -> restore.restoreDatabase(folder.resolve("db"), List.of(machine), "new", OptionalLong.of(0));

        if (isRefused) {
            assertThatExceptionOfType(SnapshotException.class)
                    .isThrownBy(run)
                    .withMessageContaining("has storage version 3.7.0, which the program of m1, etcd " + program
                            + ", does not support");
        } else {
            assertThatNoException().isThrownBy(run);
        }
        assertThat(Files.exists(folder.resolve("m1"))).isEqualTo(!isRefused);
    }

    /** The next attempt refuses a data directory that is not empty. */
    @Test
    void aFailedRestoreLeavesNoData() throws Exception {
        assertThat(failure("", "exit 1")).hasMessageContaining("cannot restore snapshot");

        // A recovery would take an empty one for a file system that is not mounted.
        assertThat(folder.resolve("m1")).doesNotExist();
        assertThat(folder.resolve("m2")).doesNotExist();
    }

    /** It has an owner. */
    @Test
    void aFailedRestoreLeavesAnEmptyDirectoryThatWasThere() throws Exception {
        assertThat(failure("mkdir m1", "exit 1")).hasMessageContaining("cannot restore snapshot");

        assertThat(folder.resolve("m1")).isEmptyDirectory();
    }

    /** Another restore of the same members may end during the verification, and they serve. */
    @Test
    void aSecondRestoreLeavesTheDataOfTheFirst() throws Exception {
        assertThat(failure("mkdir -p m1/member m2/member", "")).hasMessageContaining("m1 is not empty");

        assertThat(folder.resolve("m1/member")).isDirectory();
        assertThat(folder.resolve("m2/member")).isDirectory();
    }

    /** A member may be started by hand. */
    @Test
    void aFailedRestoreLeavesDataThatItDidNotMake() throws Exception {
        assertThat(failure("", "mkdir -p m2/member")).hasMessageContaining("cannot create data directory");

        assertThat(folder.resolve("m1")).doesNotExist();
        assertThat(folder.resolve("m2/member")).isDirectory();
    }

    /**
     * Returns why a restore of two members fails.
     *
     * @param verifying what happens during the verification, as a shell command
     * @param second what happens while the second member's data is made
     */
    private Throwable failure(String verifying, String second) throws Exception {
        Path tool = Files.writeString(program("failing"), """
                #!/bin/sh
                cd %s
                if [ $2 != restore ]; then
                    %s
                    exec echo '{"revision": 5, "totalKey": 1, "hash": 1}'
                fi
                for each; do case $each in --data-dir=*)
                    mkdir -p "${each#*=}/member"
                    case $each in *m2.part) %s ;; esac
                esac; done
                """.formatted(folder, verifying, second));
        StorageVersionFile.write(folder.resolve("db"), "3.6.0");
        List<MachineSettings> machines = Stream.of("m1", "m2")
                .map(name -> MachineSettings.of(
                        new MemberSpec(name, List.of(URI.create("http://localhost:2380")), List.of()),
                        ProcessKind.LOCAL,
                        folder.resolve(name)))
                .toList();
        Restore restore = new Restore(new SnapshotTool(tool), new NoMachines(), line -> {});

        return catchThrowableOfType(
                SnapshotException.class,
                () -> restore.restoreDatabase(folder.resolve("db"), machines, "new", OptionalLong.of(0)));
    }

    private EtcdBinaries binaries(int minor) {
        return new EtcdBinaries(
                folder.resolve("etcd"), folder.resolve("etcdctl"), null, new ProgramVersion(3, minor, 16));
    }

    private Path program(String name) throws Exception {
        Path file =
                Files.writeString(Files.createDirectory(folder.resolve(name)).resolve("etcdutl"), "#!/bin/sh\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }

    /** Else a watcher of the first restored cluster misses changes of the second without an error. */
    @Test
    void aClusterRestoredLaterIsAheadOfOneRestoredFromANewerSnapshot() {
        Instant first = Instant.parse("2026-01-02T03:04:05Z");
        Instant second = first.plusSeconds(60);
        long served = 5_000 + Restore.bump(5_000, first) + 10_000;

        assertThat(4_000 + Restore.bump(4_000, second)).isGreaterThan(served);
        assertThat(5_000 + Restore.bump(5_000, Instant.parse("2255-01-01T00:00:00Z")))
                .isLessThan(1L << 53);
    }

    @Test
    void withAClockBehindTheDataTheRevisionStillIncreases() {
        Instant now = Instant.parse("2026-01-02T03:04:05Z");
        long first = 5_000 + Restore.bump(5_000, now);
        long second = first + Restore.bump(first, now.minusSeconds(3_600));

        assertThat(second).isEqualTo(first + 1_000_000_000);
        assertThat(second + Restore.bump(second, Instant.EPOCH.minusSeconds(1))).isEqualTo(second + 1_000_000_000);
        assertThat(Restore.bump(Long.MAX_VALUE / 2, now)).isEqualTo(1_000_000_000);
    }
}
