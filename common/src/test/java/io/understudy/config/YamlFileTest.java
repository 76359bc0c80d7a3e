package io.understudy.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant CF6. */
final class YamlFileTest {

    @TempDir
    Path folder;

    private final List<Problem> problems = new ArrayList<>();
    private Path file;

    @BeforeEach
    void nameTheFile() {
        file = folder.resolve("config.yaml");
    }

    @Test
    void flattensGroupsAndListsAndKeepsPlaces() throws IOException {
        YamlFile read = read("""
                a:
                  b: 1
                  c: [x, y]
                d.e: 007
                f:
                """);

        assertThat(problems).isEmpty();
        assertThat(read.values()).containsOnlyKeys("a.b", "a.c", "d.e");
        assertThat(read.values().get("a.b")).isEqualTo(new Given("1", file + ":2:3", Given.Origin.FILE, null));
        assertThat(read.values().get("a.c").text()).isEqualTo("x,y");
        assertThat(read.values().get("a.c").elements()).containsExactly("x", "y");
        assertThat(read.values().get("d.e").text()).isEqualTo("007");
        assertThat(read.empty()).containsOnlyKeys("f");
    }

    @Test
    void anEmptyFileHasNothing() throws IOException {
        assertThat(read("").values()).isEmpty();
        assertThat(read("# only a comment\n").values()).isEmpty();
        assertThat(problems).isEmpty();
    }

    @Test
    void aSyntaxErrorIsReportedWithLineAndColumn() throws IOException {
        read("a: 1\nb: [1, 2\nc: 3\n");

        assertThat(problems).singleElement().satisfies(problem -> {
            assertThat(problem.where()).startsWith(file + ":3:");
            assertThat(problem.message()).startsWith("is not valid YAML");
        });
    }

    @Test
    void aKeyGivenTwiceIsRefusedInEitherForm() throws IOException {
        read("a: {b: 1}\na.b: 2\n");
        assertThat(problems).singleElement().hasToString(file + ":2:1: a.b is already set at " + file + ":1:5");

        problems.clear();
        read("a: 1\na: 2\n");
        assertThat(problems).singleElement().satisfies(problem -> assertThat(problem.message())
                .containsIgnoringCase("duplicate"));
    }

    @Test
    void whatConfigurationHasNoUseForIsRefused() throws IOException {
        read("- a\n- b\n");
        read("a: &x 1\nb: *x\n");
        read("a: [{b: 1}, [2]]\n");
        read("a: 1\n---\nb: 2\n");

        assertThat(problems)
                .extracting(Problem::message)
                .containsExactly(
                        "must be a mapping of keys to values",
                        "is an alias, which is not supported; write the value instead",
                        "contains an element that is not a scalar",
                        "contains an element that is not a scalar",
                        "contains a second document; only one is allowed");
    }

    @Test
    void aMissingFileIsNamed() {
        YamlFile.read(file, problems);

        assertThat(problems).singleElement().hasToString(file + ": no such file");
    }

    private YamlFile read(String text) throws IOException {
        return YamlFile.read(Files.writeString(file, text), problems);
    }
}
