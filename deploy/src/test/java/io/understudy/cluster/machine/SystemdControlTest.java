package io.understudy.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.local.process.CommandFailedException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a script in place of systemctl. */
final class SystemdControlTest {

    @TempDir
    private Path folder;

    private MachineSettings machine;
    private SystemdControl control;

    @BeforeEach
    void begin() throws IOException {
        Path systemctl = Files.writeString(folder.resolve("systemctl"), """
                #!/bin/sh
                cd "$(dirname "$0")" || exit 1
                echo "$*" >> calls
                case $1 in
                  reset-failed) echo "Failed to reset failed state of unit" >&2; exit 1 ;;
                  start) [ ! -e broken ] || { echo "Job for etcd@one.service failed" >&2; exit 1; }; echo activating > state ;;
                  stop) echo inactive > state ;;
                  show) [ ! -e stuck ] || exec sleep 60
                        case $* in *MainPID*) cp etc/one.env startedWith; echo 4711; exit ;; *LoadState*) cat load; exit ;;
                          *EnvironmentFiles*) cat files; exit ;; *ExecStart*) cat exec; exit ;; esac
                        cat state 2>/dev/null || echo inactive ;;
                esac
                """);
        Files.setPosixFilePermissions(systemctl, PosixFilePermissions.fromString("rwxr-xr-x"));
        control = new SystemdControl(systemctl.toString(), "journalctl");
        machine = new MachineSettings(
                new MemberSpec(
                        "one",
                        List.of(URI.create("http://etcd-1.example:2380")),
                        List.of(URI.create("http://10.0.0.1:2379"))),
                ProcessKind.SYSTEMD,
                Optional.empty(),
                Optional.empty(),
                folder.resolve("data"),
                Optional.empty(),
                folder.resolve("log"),
                "etcd@one.service",
                folder.resolve("etc/one.env"),
                1 << 20,
                List.of("--quota-backend-bytes=1073741824"));
        Files.writeString(folder.resolve("load"), "loaded");
        Files.writeString(folder.resolve("files"), machine.environmentFile() + " (ignore_errors=no)\n");
        Files.writeString(folder.resolve("exec"), "{ path=/usr/bin/etcd ; argv[]=/usr/bin/etcd ; pid=0 }");
    }

    @Test
    void writesTheEnvironmentThenStartsTheUnitWithoutWaiting() throws IOException {
        control.run(machine, EtcdFlags.joining(machine, "one=http://etcd-1.example:2380"));
        assertThat(folder.resolve("etc/one.env")).hasContent("""
                ETCD_NAME="one"
                ETCD_DATA_DIR="%s"
                ETCD_LISTEN_CLIENT_URLS="http://10.0.0.1:2379"
                ETCD_ADVERTISE_CLIENT_URLS="http://10.0.0.1:2379"
                ETCD_LISTEN_PEER_URLS="http://0.0.0.0:2380"
                ETCD_INITIAL_ADVERTISE_PEER_URLS="http://etcd-1.example:2380"
                ETCD_INITIAL_CLUSTER="one=http://etcd-1.example:2380"
                ETCD_INITIAL_CLUSTER_STATE="existing"
                ETCD_QUOTA_BACKEND_BYTES="1073741824"
                """.formatted(folder.resolve("data")));
        assertThat(Files.readAllLines(folder.resolve("calls")))
                .filteredOn(call -> !call.startsWith("show"))
                .containsExactly("reset-failed etcd@one.service", "start --no-block etcd@one.service");
        assertThat(folder.resolve("etc")).isDirectoryNotContaining("glob:**.new");
    }

    /** Else a member starts empty under its ID if its data directory is not mounted at boot. */
    @Test
    void aMemberThatHasDataStartsWithItOnly() throws Exception {
        OwnMachines machines = new OwnMachines(List.of(machine), control, InstantSource.system());
        Path file = machine.environmentFile();
        machines.endFirstStart(machine.member());
        assertThat(file).doesNotExist();
        for (EtcdFlags first : List.of(
                EtcdFlags.founding(machine, "one=http://etcd-1.example:2380", "token"),
                EtcdFlags.joining(machine, "one=http://etcd-1.example:2380"))) {
            control.run(machine, first);
            machines.endFirstStart(machine.member());
            // Until it has a log, etcd needs them.
            assertThat(Files.readAllLines(file)).containsExactlyElementsOf(first.variables());
            Files.writeString(file, "# of an operator\n", StandardOpenOption.APPEND);
            List<String> calls = Files.readAllLines(folder.resolve("calls"));
            Path log =
                    Files.createDirectories(folder.resolve("data/member/wal")).resolve("0.wal");
            Process etcd = FileLocker.start(Files.createFile(log));
            try {
                machines.endFirstStart(machine.member());
                FileTime written = Files.getLastModifiedTime(file);
                machines.endFirstStart(machine.member());
                assertThat(Files.getLastModifiedTime(file)).isEqualTo(written);
            } finally {
                var unused = etcd.destroyForcibly().waitFor();
            }
            List<String> resuming = new ArrayList<>(EtcdFlags.resuming(machine).variables());
            resuming.add("# of an operator");
            assertThat(Files.readAllLines(file)).containsExactlyInAnyOrderElementsOf(resuming);
            assertThat(Files.readAllLines(folder.resolve("calls"))).isEqualTo(calls);
            Files.delete(log);
        }
    }

    @Test
    void aUnitRunsFromTheOrderToStartUntilItHasStopped() {
        assertThat(control.isRunning(machine)).isFalse();
        control.run(machine, EtcdFlags.resuming(machine));
        assertThat(control.isRunning(machine)).isTrue();
        control.stop(machine);
        assertThat(control.isRunning(machine)).isFalse();
    }

    /** Before another member is removed for it. */
    @Test
    void aMissingUnitCannotStart() throws IOException {
        Files.writeString(folder.resolve("load"), "not-found");
        assertThat(control.programFailure(machine))
                .hasValueSatisfying(why -> assertThat(why).contains("unit etcd@one.service is not-found"));
    }

    /** Else the member runs with other data than the command reads and renames. */
    @Test
    void aUnitWithOtherSettingsIsRefused() throws IOException {
        Files.writeString(folder.resolve("files"), "/etc/default/etcd (ignore_errors=yes)\n");
        assertThat(control.programFailure(machine))
                .contains("unit etcd@one.service has no EnvironmentFile=" + machine.environmentFile());
        Files.writeString(folder.resolve("files"), machine.environmentFile() + " (ignore_errors=no)\n");
        Files.writeString(
                folder.resolve("exec"), "{ path=/usr/bin/etcd ; argv[]=/usr/bin/etcd --data-dir=/other ; pid=0 }");
        assertThat(control.programFailure(machine))
                .hasValueSatisfying(why -> assertThat(why).contains("has --data-dir /other in ExecStart"));
        assertThatThrownBy(() -> control.run(machine, EtcdFlags.resuming(machine)))
                .hasMessageContaining("has --data-dir /other in ExecStart");
        assertThat(machine.environmentFile()).doesNotExist();
        Files.writeString(folder.resolve("exec"), "{ path=/usr/bin/etcd ; argv[]=/usr/bin/etcd ; pid=0 }");
        assertThat(control.programFailure(machine)).isEmpty();
    }

    @Test
    void aDirectoryMayHaveABlank() throws IOException {
        MachineSettings blank = machine.withMember(machine.member(), folder.resolve("data of one"));
        Files.writeString(folder.resolve("files"), blank.environmentFile() + " (ignore_errors=no)\n");
        Files.writeString(
                folder.resolve("exec"),
                "{ path=/usr/bin/etcd ; argv[]=/usr/bin/etcd --data-dir=" + blank.dataDirectory()
                        + " --name=one ; pid=0 }");
        assertThat(control.programFailure(blank)).isEmpty();
        assertThat(control.programFailure(machine.withMember(machine.member(), folder.resolve("data"))))
                .isPresent();
    }

    @Test
    void reportsTheErrorsOfSystemctl() throws IOException {
        Files.createFile(folder.resolve("broken"));
        assertThatThrownBy(() -> control.run(machine, EtcdFlags.resuming(machine)))
                .isInstanceOf(CommandFailedException.class)
                .hasMessageContaining("Job for etcd@one.service failed");
    }

    @Test
    void aHangingSystemdTimesOut() throws IOException {
        Files.createFile(folder.resolve("stuck"));
        assertThatThrownBy(() -> control.isRunning(machine)).hasMessageContaining("did not complete within 3 s");
    }
}
