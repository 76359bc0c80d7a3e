package io.understudy.lab.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.lab.directory.LabDirectory.Marker;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant DP5. */
final class LabDirectoryTest {

    @TempDir
    private Path folder;

    @Test
    void aNewDirectoryIsMadeAndNotResumed() {
        try (LabDirectory directory = LabDirectory.open(folder.resolve("a/b"), false)) {
            assertThat(directory.path()).isDirectory();
            assertThat(directory.resumed()).isFalse();
            assertThat(directory.ports(Map.of())).isEqualTo(LabPorts.standard());
        }
    }

    @Test
    void theNextRunResumesWithTheSamePorts() {
        used(Map.of(LabPort.DR, 5000));

        try (LabDirectory directory = LabDirectory.open(folder, false)) {
            assertThat(directory.resumed()).isTrue();
            assertThat(directory.ports(Map.of()).number(LabPort.DR)).isEqualTo(5000);
        }
    }

    @Test
    void aClientPortMayChangeBetweenRuns() {
        used(Map.of(LabPort.DR, 5000));

        try (LabDirectory directory = LabDirectory.open(folder, false)) {
            assertThat(directory.ports(Map.of(LabPort.DR, 5001)).number(LabPort.DR))
                    .isEqualTo(5001);
        }
    }

    @Test
    void aPortByWhichServersKnowEachOtherMayNot() {
        used(Map.of(LabPort.DR_PEER, 5000));

        try (LabDirectory directory = LabDirectory.open(folder, false)) {
            assertThatThrownBy(() -> directory.ports(Map.of(LabPort.DR_PEER, 5001)))
                    .isInstanceOf(LabException.class)
                    .hasMessageContainingAll("--dr-peer-port", "5001", "5000", "--fresh");
        }
    }

    @Test
    void freshWipesEverythingALabLeft() throws IOException {
        used(Map.of(LabPort.DR_PEER, 5000));
        Files.createDirectories(folder.resolve("core/core-1"));
        Files.writeString(folder.resolve("core/core-1/etcd.log"), "old");

        try (LabDirectory directory = LabDirectory.open(folder, true)) {
            assertThat(directory.resumed()).isFalse();
            assertThat(directory.ports(Map.of(LabPort.DR_PEER, 5001)).number(LabPort.DR_PEER))
                    .isEqualTo(5001);
            assertThat(folder.resolve("core")).doesNotExist();
        }
    }

    @Test
    void freshFollowsNoSymbolicLink(@TempDir Path elsewhere) throws IOException {
        Files.writeString(elsewhere.resolve("precious"), "x");
        used(Map.of());
        Files.createSymbolicLink(folder.resolve("link"), elsewhere);

        LabDirectory.open(folder, true).close();

        assertThat(elsewhere.resolve("precious")).exists();
        assertThat(folder.resolve("link")).doesNotExist();
    }

    @Test
    void someoneElsesDirectoryIsRefusedAndNotWiped() throws IOException {
        Files.writeString(folder.resolve("thesis.tex"), "x");

        assertThatThrownBy(() -> LabDirectory.open(folder, true))
                .isInstanceOf(LabException.class)
                .hasMessageContainingAll(folder.toString(), "thesis.tex", "--data-dir");
        assertThat(folder.resolve("thesis.tex")).exists();
    }

    @Test
    void aFileIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "x");

        assertThatThrownBy(() -> LabDirectory.open(file, false))
                .isInstanceOf(LabException.class)
                .hasMessageContainingAll(file.toString(), "not a directory");
    }

    @Test
    void aPlaceThatCannotBeWrittenIsNamed() {
        assertThatThrownBy(() -> LabDirectory.open(Path.of("/proc/understudy"), false))
                .isInstanceOf(LabException.class)
                .hasMessageContaining("/proc/understudy");
    }

    @Test
    void aSecondLabIsRefusedNamingTheFirst() {
        LabDirectory first = LabDirectory.open(folder, false);
        try (first) {
            assertThatThrownBy(() -> LabDirectory.open(folder, false))
                    .isInstanceOf(LabException.class)
                    .hasMessageContainingAll(
                            "already running",
                            Long.toString(ProcessHandle.current().pid()),
                            "--data-dir");
        }
    }

    @Test
    void theLockOfADeadLabIsTakenOverAndItsProcessNamed() throws IOException {
        used(Map.of());
        Files.writeString(folder.resolve("lock"), "999999999\n");

        try (LabDirectory directory = LabDirectory.open(folder, false)) {
            assertThat(directory.abandonedBy()).hasValue(999_999_999L);
        }
    }

    @Test
    void aLabThatEndedInOrderLeavesNoLock() {
        used(Map.of());

        try (LabDirectory directory = LabDirectory.open(folder, false)) {
            assertThat(directory.abandonedBy()).isEmpty();
        }
    }

    @Test
    void anotherVersionsLayoutIsRefused() throws IOException {
        Files.writeString(folder.resolve(Marker.FILE_NAME), "format=2\n");

        assertThatThrownBy(() -> LabDirectory.open(folder, false))
                .isInstanceOf(LabException.class)
                .hasMessageContainingAll("format 2", "format 1");
        // Nor is it left locked.
        assertThatThrownBy(() -> LabDirectory.open(folder, false)).hasMessageContaining("format 2");
    }

    @Test
    void theStandardPlaceIsBelowTheUsersStateFolder() {
        assertThat(LabDirectory.standard(Map.of(), Path.of("/home/u")))
                .isEqualTo(Path.of("/home/u/.local/state/understudy/lab"));
        assertThat(LabDirectory.standard(Map.of("XDG_STATE_HOME", "/s"), Path.of("/home/u")))
                .isEqualTo(Path.of("/s/understudy/lab"));
    }

    private void used(Map<LabPort, Integer> ports) {
        try (LabDirectory directory = LabDirectory.open(folder, false)) {
            directory.remember(directory.ports(ports));
        }
    }
}
