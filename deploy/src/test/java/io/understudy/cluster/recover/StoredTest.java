package io.understudy.cluster.recover;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are no databases; those of real members are read in {@link RecoveryIT}. */
final class StoredTest {

    @TempDir
    private Path folder;

    @Test
    void aFileThatIsNoDatabaseIsRefused() throws IOException {
        Path file = folder.resolve("db");
        assertThatThrownBy(() -> Stored.Database.read(file)).isInstanceOf(IOException.class);
        Files.write(file, new byte[0]);
        assertThatThrownBy(() -> Stored.Database.read(file)).hasMessageContaining("is not a bbolt database");
        Files.write(file, new byte[1 << 17]);
        assertThatThrownBy(() -> Stored.Database.read(file)).hasMessageContaining("is not a bbolt database");
    }
}
