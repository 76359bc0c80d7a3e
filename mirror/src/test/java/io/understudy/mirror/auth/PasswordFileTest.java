package io.understudy.mirror.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.mirror.auth.PasswordFile.PasswordHash;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PasswordFileTest {

    private static final String SECRET = "CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
    private static final String HASH = "$2y$05$" + SECRET;

    @TempDir
    private Path folder;

    @Test
    void namesMayHaveColonsAndCommentsAreIgnored() throws IOException {
        var read = PasswordFile.read(file("# by hand\n\nann:" + HASH + "\nteam:ben:$2a$12$" + SECRET + "\n"));
        assertThat(read).containsOnlyKeys("ann", "team:ben").containsEntry("ann", PasswordHash.of(HASH));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ann",
                ":" + HASH,
                "ann:" + SECRET,
                "ann:$2x$05$" + SECRET,
                "ann:$2y$32$" + SECRET,
                "ann:" + HASH + "A",
                "ann:secret password",
                "ben:" + HASH
            })
    void anInvalidLineIsReportedByNumberWithoutItsContent(String line) throws IOException {
        Path file = file("ben:" + HASH + "\n" + line + "\n");
        assertThatThrownBy(() -> PasswordFile.require(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file + " line 2: ")
                .message()
                .doesNotContain(SECRET, "secret password");
    }

    @Test
    void aMissingFileIsReportedByName() {
        Path file = folder.resolve("none");
        assertThatThrownBy(() -> PasswordFile.require(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file.toString());
    }

    @Test
    void aHashIsNeverShown() {
        PasswordHash hash = PasswordHash.of(HASH);
        assertThat(hash.toString()).doesNotContain(SECRET);
        assertThat(hash.digest())
                .isNotEqualTo(PasswordHash.of("$2a$05$" + SECRET).digest())
                .doesNotContain(SECRET);
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("passwords"), text);
    }
}
