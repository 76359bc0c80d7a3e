package io.understudy.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What no class does, whatever it imports. */
final class HouseRulesTest {

    private static final JavaClasses PRODUCTION = CompiledClasses.ofProduction();

    static Stream<String> packages() {
        return CompiledClasses.packagesOf(PRODUCTION);
    }

    @ParameterizedTest
    @MethodSource("packages")
    void packagesAreDocumentedAndNullMarked(String name) {
        assertThat(PRODUCTION.getPackage(name).isAnnotatedWith(NullMarked.class))
                .isTrue();
    }

    @Test
    void onlyTheCommandLineEndsTheJvm() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.understudy.cli")
                .should()
                .callMethod(System.class, "exit", int.class)
                .orShould()
                .callMethod(Runtime.class, "exit", int.class)
                .orShould()
                .callMethod(Runtime.class, "halt", int.class)
                .check(PRODUCTION);
    }

    @Test
    void noCodeSleepsInsteadOfAwaitingACondition() {
        noClasses().should().callMethod(Thread.class, "sleep", long.class).check(PRODUCTION);
    }

    @Test
    void onlyCommandsWriteToTheTerminal() {
        NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS.check(
                PRODUCTION.that(DescribedPredicate.not(JavaClass.Predicates.resideInAnyPackage(
                        "io.understudy.cli..", "io.understudy.lab..", "io.understudy.local.junit.."))));
    }

    @Test
    void thereIsOneWayToLog() {
        NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING.check(PRODUCTION);
    }

    @Test
    void noStateIsSharedBehindTheScenes() {
        fields().that().areStatic().should().beFinal().check(PRODUCTION);
    }

    @Test
    void nothingButSettingsRecordsIsReachedByReflection() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.understudy.config")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.lang.reflect")
                .check(PRODUCTION);
    }

    /** Of the archive of classes: Java would warn of them at each archiving. */
    @Test
    void theClassListNamesNoClassThatIsGone() throws IOException {
        String list = Files.readString(Path.of("dist/src/main/dist/lib/understudy.classlist"));

        assertThat(Pattern.compile("io/understudy/[\\w/$]+")
                        .matcher(list)
                        .results()
                        .map(MatchResult::group)
                        .map(name -> name.replace('/', '.')))
                .isNotEmpty()
                .allMatch(PRODUCTION::contain);
    }
}
