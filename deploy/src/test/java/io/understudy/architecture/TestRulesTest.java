package io.understudy.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAnnotation;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.properties.HasAnnotations;
import io.understudy.architecture.TestSources.Source;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractDurationAssert;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests wait for conditions, and assert order and counts: a busy machine delays them, and fails none. The list of known
 * failures names tests that exist, once each, with versions and a reason.
 */
final class TestRulesTest {

    private static final JavaClasses TESTS = CompiledClasses.ofTests();

    private static final String INSTEAD = """
            A busy machine breaks a ceiling in milliseconds. Assert an order or a count, set the clock, or move the
            ceiling to a test method of its own with @Tag("speed").""";

    /** Classes with durations that may be compared with a ceiling, each with the reason. */
    private static final Map<String, String> EXCEPTIONS = Map.of(
            "UnreachableSourceTest", "compares heartbeats that are a minute apart, and answers with the bound they met",
            "JoinPaceTest", "computes durations; no clock runs",
            "MisconfiguredAddIT", "that no write stalls for longer than an election is the claim of the scenario",
            "InterruptedChangeIT", "that no write stalls for longer than an election is the claim of the scenario",
            "LearnerDesignIT", "that no write stalls for longer than an election is the claim of each scenario");

    private static final Set<String> UPPER_BOUNDS =
            Set.of("isLessThan", "isLessThanOrEqualTo", "isBetween", "isStrictlyBetween", "isCloseTo");

    private static final Pattern SLEEP = Pattern.compile("until\\(\\s*\\(\\)\\s*->\\s*true\\s*\\)");

    /** The subject of the assertion is a difference of two readings of the clock. */
    private static final Pattern ELAPSED = Pattern.compile(
            "assertThat\\((?:(?!\\.is[A-Z]|;).)*?nanoTime\\(\\)\\s*-(?:(?!\\.is[A-Z]|;).)*\\.is(?:LessThan|Between)\\w*\\(",
            Pattern.DOTALL);

    private static final String BRIEF = "Duration\\s*\\.of(?:Nanos|Millis|Seconds\\(\\s*[1-4]\\s*\\))";
    private static final Pattern BRIEF_CONSTANT = Pattern.compile("Duration\\s+(\\w+)\\s*=\\s*" + BRIEF);

    @Test
    void noTestSleeps() {
        noClasses().should().callMethod(Thread.class, "sleep", long.class).check(TESTS);
        assertThat(sleeps(TestSources.all()))
                .as("wait for a condition: an event, a counter or a metric that proves that the time has passed")
                .isEmpty();
    }

    @Test
    void noTestHasACeilingOfTime() {
        assertThat(ceilings(TestSources.all())).as(INSTEAD).isEmpty();
    }

    @Test
    void noDurationIsComparedWithACeiling() {
        assertThat(comparisons())
                .as(INSTEAD)
                .allSatisfy((type, where) -> assertThat(EXCEPTIONS).as(where).containsKey(type));
    }

    @Test
    void whatIsForbiddenIsFound() {
        assertThat(sleeps(test("await().pollDelay(TIME).until(() -> true);"))).hasSize(1);
        assertThat(sleeps(test("await().until(() -> seen == 1);"))).isEmpty();
        assertThat(ceilings(test("assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(MOST);")))
                .hasSize(1);
        assertThat(ceilings(test("assertThat(System.nanoTime() - began).isBetween(0L, 5L);")))
                .hasSize(1);
        assertThat(ceilings(test("assertThat(silence).isLessThan(System.nanoTime() - began);")))
                .isEmpty();
        assertThat(ceilings(test("assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(LEAST);")))
                .isEmpty();
        assertThat(ceilings(test("await().atMost(Duration.ofMillis(500)).until(seen);")))
                .hasSize(1);
        assertThat(ceilings(test("await().atMost(Duration.ofSeconds(30)).until(seen);")))
                .isEmpty();
        assertThat(ceilings(test("} static final Duration SOON = Duration.ofSeconds(2); { await().atMost(SOON);")))
                .hasSize(1);
    }

    @Test
    void whatIsTaggedAsSpeedAndWhatIsNoCodeIsNot() {
        assertThat(ceilings(
                        test("} @Tag(\"speed\") void soon() { if (a) {} await().atMost(Duration.ofMillis(5)); } {")))
                .isEmpty();
        assertThat(ceilings(test("} @Tag(\"speed\") void soon() {} void other() { atMost(Duration.ofMillis(5)); } {")))
                .hasSize(1);
        assertThat(sleeps(test("// until(() -> true)\n String text = \"until(() -> true)\";")))
                .isEmpty();
    }

    private static Stream<Source> test(String body) {
        return Stream.of(TestSources.of("AnyTest", "class AnyTest { void any() { " + body + " } }"));
    }

    private static Set<String> sleeps(Stream<Source> sources) {
        Set<String> found = new TreeSet<>();
        sources.forEach(source -> addMatches(found, source.name(), SLEEP, source.text()));
        return found;
    }

    private static Set<String> ceilings(Stream<Source> sources) {
        List<Source> all = sources.toList();
        Set<String> brief = new TreeSet<>();
        all.forEach(source -> BRIEF_CONSTANT
                .matcher(source.text())
                .results()
                .forEach(constant -> brief.add(source.name() + "." + constant.group(1))));
        Set<String> found = new TreeSet<>();
        all.stream().filter(source -> !EXCEPTIONS.containsKey(source.name())).forEach(source -> {
            String text = source.withoutSpeed();
            // Its own constants, and those of others that it imports.
            String names = brief.stream()
                    .filter(name -> name.startsWith(source.name() + ".") || text.contains("." + name + ";"))
                    .map(name -> "|" + name.replaceFirst(".*\\.", "") + "\\b")
                    .collect(Collectors.joining());
            addMatches(found, source.name(), ELAPSED, text);
            // What is to become true in less than five seconds, however busy the machine is.
            Pattern within = Pattern.compile(
                    "(?:atMost|(?<!\\.)within|succeedsWithin|failsWithin)\\(\\s*(?:" + BRIEF + names + ")");
            addMatches(found, source.name(), within, text);
        });
        return found;
    }

    private static void addMatches(Set<String> found, String name, Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            found.add(name + ": " + matcher.group().replaceAll("\\s+", " "));
        }
    }

    /** By the class that compares a duration with a ceiling, where it does. */
    private static Map<String, String> comparisons() {
        Map<String, String> found = new TreeMap<>();
        for (JavaClass type : TESTS) {
            for (JavaMethodCall call : type.getMethodCallsFromSelf()) {
                if (call.getTargetOwner().isAssignableTo(AbstractDurationAssert.class)
                        && UPPER_BOUNDS.contains(call.getName())
                        && !isOfSpeed(call.getOrigin())
                        && !isOfSpeed(type)) {
                    found.put(outermost(type).getSimpleName(), call.getDescription());
                }
            }
        }
        return found;
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(TestRulesTest::outermost).orElse(type);
    }

    private static boolean isOfSpeed(HasAnnotations<?> annotated) {
        return annotated.getAnnotations().stream()
                .filter(annotation -> annotation.getRawType().isEquivalentTo(Tag.class))
                .map(annotation -> ((JavaAnnotation<?>) annotation).get("value"))
                .flatMap(Optional::stream)
                .anyMatch("speed"::equals);
    }
}
