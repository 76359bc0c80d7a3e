package io.understudy.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.local.process.ServerProcess;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * With a script in place of etcd: what it is started with, and what happens to the data.
 *
 * <p>Tests invariants DP7, DP24.
 */
final class OwnMachinesTest {

    private static final MemberSpec MEMBER = new MemberSpec(
            "one", List.of(URI.create("http://127.0.0.1:11")), List.of(URI.create("http://127.0.0.1:1")));

    @TempDir
    private Path folder;

    private MachineSettings machine;
    private Path etcd;
    private OwnMachines machines;

    @BeforeEach
    void begin() throws IOException {
        machine = MachineSettings.of(MEMBER, ProcessKind.LOCAL, folder.resolve("one"));
        etcd = Files.writeString(folder.resolve("etcd"), """
                #!/bin/sh
                for argument; do echo "$argument"; case $argument in --data-dir=*) mkdir -p "${argument#*=}/member";; esac; done
                trap 'exit 0' TERM
                while :; do sleep 0.1; done
                """);
        Files.setPosixFilePermissions(etcd, PosixFilePermissions.fromString("rwxr-xr-x"));
        machines = afterRestart();
    }

    @AfterEach
    void end() {
        machines.stop(MEMBER);
    }

    private OwnMachines afterRestart() {
        return OwnMachines.local(List.of(machine), LocalControl.lasting(() -> etcd), () -> Instant.EPOCH);
    }

    @Test
    void foundsJoinsAndStartsWithTheFlagsThatEtcdWants() throws IOException {
        machines.found(MEMBER, "one=http://127.0.0.1:11", "token");
        assertThat(arguments())
                .containsExactly(
                        "--name=one",
                        "--data-dir=" + machine.dataDirectory(),
                        "--listen-client-urls=http://127.0.0.1:1",
                        "--advertise-client-urls=http://127.0.0.1:1",
                        "--listen-peer-urls=http://127.0.0.1:11",
                        "--initial-advertise-peer-urls=http://127.0.0.1:11",
                        "--initial-cluster=one=http://127.0.0.1:11",
                        "--initial-cluster-token=token",
                        "--initial-cluster-state=new");
        machines.stop(MEMBER);
        machines.start(MEMBER);
        assertThat(arguments())
                .contains("--initial-cluster-state=existing")
                .doesNotContain("--initial-cluster=one=http://127.0.0.1:11");
    }

    /** etcd before 3.6 does not start with the flag; it ignores the variable. */
    @Test
    void passesTheLimitOfLearnersAsAVariable() {
        EtcdFlags flags = EtcdFlags.resuming(machine.withMaxLearners(2));
        assertThat(flags.environment()).containsExactly(Map.entry("ETCD_MAX_LEARNERS", "2"));
        assertThat(flags.arguments()).noneMatch(argument -> argument.contains("max-learners"));
        assertThat(flags.variables()).contains("ETCD_MAX_LEARNERS=\"2\"");
    }

    @Test
    void readsTheLimitOfLearnersOfTheRunningProcess() throws Exception {
        assertThat(machines.maxLearners(MEMBER)).isEmpty();
        machines.found(MEMBER, "one=http://127.0.0.1:11", "token");
        assertThat(arguments()).isNotEmpty();
        assertThat(machines.maxLearners(MEMBER)).contains("1");
    }

    /** As {@code embed/config} of etcd does. */
    @ParameterizedTest
    @CsvSource({
        "etcd --name=a,ETCD_NAME=a,1",
        "etcd --name=a,ETCD_NAME=a ETCD_MAX_LEARNERS=2,2",
        "etcd --max-learners=3,ETCD_MAX_LEARNERS=2,3",
        "etcd -max-learners 4 --name=a,ETCD_MAX_LEARNERS=2,4",
        "etcd --config-file=a,ETCD_MAX_LEARNERS=2,",
        "etcd,ETCD_CONFIG_FILE=a,",
        "'',ETCD_MAX_LEARNERS=2,"
    })
    void theLimitOfLearnersIsReadAsEtcdReadsIt(String line, String environment, @Nullable String limit)
            throws Exception {
        Files.writeString(folder.resolve("cmdline"), line.replace(' ', '\0') + "\0");
        Files.writeString(folder.resolve("environ"), environment.replace(' ', '\0') + "\0");

        assertThat(EtcdFlags.maxLearners(folder)).isEqualTo(Optional.ofNullable(limit));
    }

    @Test
    void aJoiningMemberHasNoDataAndEarlierDataIsKept() throws IOException {
        machines.found(MEMBER, "one=http://127.0.0.1:11", "token");
        assertThat(arguments()).isNotEmpty();
        Files.writeString(machine.dataDirectory().resolve("member/kept"), "data");
        assertThatThrownBy(() -> machines.join(MEMBER, "one=http://127.0.0.1:11"))
                .hasMessageContaining("member one is running");
        assertThat(machine.dataDirectory().resolve("member/kept")).hasContent("data");
        machines.stop(MEMBER);
        machines.join(MEMBER, "one=http://127.0.0.1:11");
        machines.retire(MEMBER);
        assertThat(machines.isRunning(MEMBER)).contains(false);
        List<Path> earlier = new DataDirectory(machine.dataDirectory()).earlier();
        assertThat(earlier).extracting(path -> path.getFileName().toString()).contains("one.old-19700101T000000");
        assertThat(earlier.get(0).resolve("member/kept")).hasContent("data");
        assertThat(machine.dataDirectory()).doesNotExist();
    }

    @Test
    void waitsForAnotherStartOrStopOfTheMember() throws Exception {
        List<CompletableFuture<Void>> started = new ArrayList<>();
        DirectoryLock.holding(machine.dataDirectory(), () -> {
            started.add(CompletableFuture.runAsync(() -> machines.found(MEMBER, "one=http://127.0.0.1:11", "token")));
            await().during(Duration.ofMillis(300))
                    .until(() -> !afterRestart().isRunning(MEMBER).orElseThrow());
        });
        started.get(0).get(10, TimeUnit.SECONDS);
        assertThat(machines.isRunning(MEMBER)).contains(true);
    }

    @Test
    void keepsACopyOfTheDataOfOneThatDoesNotRun() throws IOException {
        Path member = Files.createDirectories(machine.dataDirectory().resolve("member/snap"));
        Files.writeString(member.resolve("db"), "data");
        // Of a copy that was interrupted; a recovery must not take it for one.
        Files.createDirectories(folder.resolve("one.copy-19691231T235959.part/member/wal"));
        Files.writeString(folder.resolve("one.copy-19691231T235959.part/member/wal/0.wal"), "da");
        assertThat(new DataDirectory(machine.dataDirectory()).copyBytes()).isEqualTo(2);
        machines.copyData(MEMBER);
        assertThat(folder.resolve("one.copy-19691231T235959.part")).doesNotExist();
        assertThat(new DataDirectory(machine.dataDirectory()).earlier())
                .containsExactly(folder.resolve("one.copy-19700101T000000"));
        assertThat(folder.resolve("one.copy-19700101T000000/member/snap/db")).hasContent("data");
        machines.start(MEMBER);
        assertThatThrownBy(() -> machines.copyData(MEMBER)).hasMessageContaining("member one is running");
    }

    @Test
    void movesTheDataOfOnePlaceToAnotherOnce() throws IOException {
        MemberSpec other = new MemberSpec(
                "two", List.of(URI.create("http://127.0.0.1:12")), List.of(URI.create("http://127.0.0.1:2")));
        OwnMachines both = OwnMachines.local(
                List.of(machine, MachineSettings.of(other, ProcessKind.LOCAL, folder.resolve("two"))),
                LocalControl.lasting(() -> etcd),
                () -> Instant.EPOCH);
        assertThatThrownBy(() -> both.moveData(MEMBER, other))
                .hasMessageContaining("no data in " + machine.dataDirectory());
        assertThat(both.moveFailure(MEMBER, other))
                .hasValueSatisfying(why -> assertThat(why).contains("no data in " + machine.dataDirectory()));
        Files.writeString(Files.createDirectories(folder.resolve("one/member")).resolve("db"), "of one");
        Files.writeString(Files.createDirectories(folder.resolve("two/member")).resolve("db"), "of two");
        assertThat(both.moveFailure(MEMBER, other)).isEmpty();
        both.start(other);
        assertThat(both.moveFailure(MEMBER, other)).contains("a process uses " + folder.resolve("two") + " of two");
        assertThatThrownBy(() -> both.moveData(MEMBER, other)).hasMessageContaining("a process uses");
        both.stop(other);
        both.moveData(MEMBER, other);
        both.moveData(MEMBER, other);
        assertThat(folder.resolve("two/member/db")).hasContent("of one");
        assertThat(folder.resolve("two.old-19700101T000000/member/db")).hasContent("of two");
        assertThat(folder.resolve("one")).doesNotExist();
    }

    /** A path through a file fails for root too, as one through a folder without permission does for others. */
    @Test
    void dataIsAbsentOnlyWhereItsFolderIsSeen() throws IOException {
        Path unmounted = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("mount/data"));
        Path file = Files.createFile(folder.resolve("file"));

        assertThat(sees(folder.resolve("data"))).contains(false);
        assertThat(sees(Files.createDirectory(folder.resolve("data")))).isEmpty();
        Files.createDirectory(folder.resolve("data/lost+found"));
        assertThat(sees(folder.resolve("data"))).contains(false);
        Files.createDirectory(folder.resolve("data/member"));
        assertThat(sees(folder.resolve("data"))).contains(true);
        assertThat(sees(folder.resolve("mount/data"))).isEmpty();
        assertThat(sees(unmounted)).isEmpty();
        assertThat(sees(file.resolve("data"))).isEmpty();
        Files.createSymbolicLink(Files.createDirectory(folder.resolve("linked")).resolve("member"), unmounted);
        assertThat(sees(folder.resolve("linked"))).isEmpty();
    }

    /** An order to the member of a lost mount creates its lock file. */
    @Test
    void anEmptyFolderMayBeALostMount() throws IOException {
        Path data = Files.createDirectory(folder.resolve("mount")).resolve("data");

        assertThat(sees(data)).isEmpty();
        DirectoryLock.holding(data, () -> assertThat(sees(data)).isEmpty());
        assertThat(folder.resolve("mount/data.lock")).exists();
        assertThat(sees(data)).isEmpty();
        Files.createFile(folder.resolve("mount/other"));
        assertThat(sees(data)).contains(false);
    }

    private static Optional<Boolean> sees(Path data) {
        return new DataDirectory(data).seesMember();
    }

    @Test
    void aMountPointCanOnlyBeUsedEmpty() throws IOException {
        assertThat(new DataDirectory(Path.of("/proc")).setAsideFailure())
                .contains("/proc is a mount point with files in it, which cannot be renamed");
        assertThat(machines.setAsideFailure(MEMBER)).isEmpty();
        Files.createDirectories(machine.dataDirectory().resolve("member"));
        assertThat(machines.setAsideFailure(MEMBER)).isEmpty();
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("/proc"));
        assertThat(new DataDirectory(link).setAsideFailure())
                .as("a link can be renamed")
                .isEmpty();
    }

    @Test
    void doesNotStartWithoutDataOneThatShouldHaveSome() {
        assertThatThrownBy(() -> machines.start(MEMBER))
                .hasMessageContaining("has no data in " + machine.dataDirectory());
    }

    @Test
    void dataMovesOnlyBetweenMachinesOfOneKind() {
        MemberSpec elsewhere = new MemberSpec(
                "two", List.of(URI.create("http://127.0.0.1:12")), List.of(URI.create("http://127.0.0.1:2")));
        ConfiguredMachines configured = ConfiguredMachines.of(
                List.of(machine, MachineSettings.of(elsewhere, ProcessKind.MANUAL, folder.resolve("two"))),
                () -> etcd,
                unused -> {},
                () -> Instant.EPOCH);

        assertThat(configured.moveFailure(MEMBER, elsewhere))
                .contains("members one and two have different process settings (machines.*.process)");
    }

    /** A file of that length needs no room before it is copied. */
    @Test
    void dataMovesToAnotherFileSystemOnlyIfThereIsRoom() throws IOException {
        Path other = Path.of("/dev/shm");
        assumeTrue(Files.isDirectory(other) && !Files.getFileStore(other).equals(Files.getFileStore(folder)));
        Path member = Files.createDirectories(machine.dataDirectory().resolve("member"));
        try (RandomAccessFile file = new RandomAccessFile(member.resolve("db").toFile(), "rw")) {
            file.setLength(1L << 42);
        }
        DataDirectory source = new DataDirectory(machine.dataDirectory());

        assertThat(source.moveFailure(new DataDirectory(other.resolve("absent/two"))))
                .hasValueSatisfying(why -> assertThat(why).contains("cannot move", "needs 4398046511104 bytes"));
        assertThat(source.moveFailure(new DataDirectory(folder.resolve("absent/two"))))
                .isEmpty();
    }

    @Test
    void aProgramThatDoesNotRunIsFoundBeforeTheMemberStops() throws IOException {
        Path missing = folder.resolve("missing/etcd");
        Path other = program("other", "echo usage");
        Path working = program("working", "[ \"$*\" = --version ] && echo etcd Version: 3.7.3");

        assertThat(machines.programFailure(MEMBER, configured -> configured.withProgram(missing)))
                .hasValueSatisfying(why -> assertThat(why).contains("'" + missing + " --version'"));
        assertThat(machines.programFailure(MEMBER, configured -> configured.withProgram(other)))
                .hasValueSatisfying(why -> assertThat(why).contains("prints no version of etcd"));
        assertThat(machines.programFailure(MEMBER, configured -> configured.withProgram(working)))
                .isEmpty();
    }

    private Path program(String name, String script) throws IOException {
        Path program = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + script + "\n");
        return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void findsTheProcessThatAnEarlierLifeHasLeft() {
        machines.found(MEMBER, "one=http://127.0.0.1:11", "token");
        OwnMachines later = afterRestart();
        assertThat(later.isRunning(MEMBER)).contains(true);
        later.stop(MEMBER);
        assertThat(machines.isRunning(MEMBER)).contains(false);
    }

    /** Such as a unit of systemd, or a process that an operator started. */
    @Test
    void aDirectoryThatAnotherProcessUsesIsNeitherStartedNorCopied() throws Exception {
        Path log = Files.createDirectories(machine.dataDirectory().resolve("member/wal"))
                .resolve("0.wal");
        Process other = FileLocker.start(Files.createFile(log));
        try {
            List<ThrowingCallable> orders = List.of(
                    () -> machines.start(MEMBER),
                    () -> machines.copyData(MEMBER),
                    () -> machines.join(MEMBER, "one=http://127.0.0.1:11"),
                    () -> machines.retire(MEMBER));
            for (ThrowingCallable order : orders) {
                assertThatThrownBy(order)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("a process uses " + machine.dataDirectory());
            }
            assertThat(machines.isRunning(MEMBER)).contains(false);
            assertThat(new DataDirectory(machine.dataDirectory()).earlier()).isEmpty();
        } finally {
            var unused = other.destroyForcibly().waitFor();
        }
        machines.start(MEMBER);
        assertThat(machines.isRunning(MEMBER)).contains(true);
    }

    /** Waits until the script has written everything. */
    private List<String> arguments() {
        LocalControl control = LocalControl.lasting(() -> etcd);
        ServerProcess process = control.process(machine);
        await().until(() -> machine.dataDirectory().resolve("member").toFile().isDirectory());
        await().until(() ->
                process.log().tail(1).stream().anyMatch(line -> line.matches("--(initial-cluster-state|force).*")));
        List<String> all = process.log().tail(100);
        return all.subList(all.lastIndexOf("--name=one"), all.size());
    }
}
