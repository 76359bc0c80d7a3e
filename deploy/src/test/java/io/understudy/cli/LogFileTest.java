package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

/** Commands may be run by root, and the directory for temporary files is everybody's. */
final class LogFileTest {

    @Test
    void onlyAnEmptyOneIsDeletedAtTheExit() throws IOException {
        Path log = LogFile.temporary();
        assertThat(LogFile.written()).isEmpty();
        Files.writeString(log, "a line");
        LogFile.deleteEmpty(log);
        assertThat(LogFile.written()).contains(log);
        Files.writeString(log, "");
        LogFile.deleteEmpty(log);
        assertThat(log).doesNotExist();
    }

    @Test
    void aTemporaryOneIsNewAndItsUsersAlone() throws IOException {
        Path first = LogFile.temporary();
        Path second = LogFile.temporary();
        try {
            assertThat(first).isNotEqualTo(second).isEmptyFile();
            assertThat(Files.getPosixFilePermissions(first)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        } finally {
            Files.delete(first);
            Files.delete(second);
        }
    }
}
