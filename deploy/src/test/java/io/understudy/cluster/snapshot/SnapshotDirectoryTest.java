package io.understudy.cluster.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.snapshot.SnapshotDirectory.SnapshotFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is deleted, and what is not. */
final class SnapshotDirectoryTest {

    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.678Z");

    @TempDir
    private Path folder;

    @Test
    void thoseBeyondTheCountGoByAge() throws IOException {
        SnapshotDirectory directory = taken(4);
        assertThat(directory.prune(2, Duration.ofMinutes(3), false, NOW)).hasSize(1);
        assertThat(directory.prune(2, Duration.ZERO, false, NOW)).hasSize(1);
        assertThat(directory.list()).hasSize(2);
    }

    @Test
    void whatWasNotUploadedStaysUpToTenTimesTheCount() throws IOException {
        SnapshotDirectory directory = taken(12);
        directory.uploaded(directory.list().get(1));
        List<SnapshotFile> deleted = directory.prune(1, Duration.ZERO, true, NOW);
        assertThat(deleted).extracting(SnapshotFile::taken).containsExactly(ago(1), ago(10), ago(11));
        assertThat(directory.list()).hasSize(9).noneMatch(SnapshotFile::isUploaded);
    }

    @Test
    void thoseOfAWrongClockDoNotCount() throws IOException {
        SnapshotDirectory directory = taken(3);
        Files.createFile(directory.fileOf(ago(-60)));
        assertThat(directory.prune(2, Duration.ZERO, false, NOW))
                .extracting(SnapshotFile::taken)
                .containsExactly(ago(2));
        assertThat(directory.list(NOW)).hasSize(2);
        assertThat(directory.list()).hasSize(3);
    }

    private SnapshotDirectory taken(int count) throws IOException {
        SnapshotDirectory directory = new SnapshotDirectory(folder);
        for (int minutes = 0; minutes < count; minutes++) {
            Files.createFile(directory.fileOf(ago(minutes)));
        }
        return directory;
    }

    private static Instant ago(int minutes) {
        return NOW.minus(Duration.ofMinutes(minutes));
    }
}
