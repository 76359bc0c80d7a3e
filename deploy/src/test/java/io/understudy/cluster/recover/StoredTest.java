package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is no whole database tells nothing; what real ones tell is for RecoveryIT. */
final class StoredTest {

    @TempDir
    private Path folder;

    @Test
    void whatIsNoDatabaseListsNobody() throws IOException {
        Path file = folder.resolve("db");
        assertThat(Stored.voters(file)).isEmpty();
        Files.write(file, new byte[0]);
        assertThat(Stored.voters(file)).isEmpty();
        Files.write(file, new byte[1 << 17]);
        assertThat(Stored.voters(file)).isEmpty();
        assertThatThrownBy(() -> BoltFile.open(file)).hasMessageContaining("is not a bbolt database");
    }
}
