package io.understudy.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The list of known failures names tests that exist, once each, with versions and a reason. */
final class KnownFailuresTest {

    private static final Path LIST = Path.of("../common/src/test/known-failures.tsv");

    @Test
    void eachLineNamesATest() throws Exception {
        JavaClasses tests = CompiledClasses.ofTests();
        List<String> lines = Files.readAllLines(LIST).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
        assertThat(lines).doesNotHaveDuplicates().allSatisfy(line -> {
            String[] fields = line.split("\t", -1);
            assertThat(fields).hasSize(3);
            assertThat(fields[1]).matches("3\\.\\d(,3\\.\\d)*");
            assertThat(fields[2]).isNotBlank();
            String[] test = fields[0].split("\\.", -1);
            assertThat(tests.stream()
                            .filter(type -> type.getSimpleName().equals(test[0]))
                            .map(JavaClass::getMethods)
                            .flatMap(methods -> methods.stream())
                            .map(method -> method.getName()))
                    .contains(test[1]);
        });
    }
}
