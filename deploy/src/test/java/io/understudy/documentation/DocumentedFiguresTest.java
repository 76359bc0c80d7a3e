package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Measured figures are in a section that names the measurement, and repetitions elsewhere are equal.
 *
 * <p>Whether they are right, only another measurement can show.
 */
final class DocumentedFiguresTest {

    /** Of what takes a machine to find out, not of what is configured. */
    private static final Pattern MEASURED =
            Pattern.compile("(\\d[\\d,]*(?:\\.\\d+)?) ?(µs|us CPU|keys/s|changes/s|requests/s|events/s)");

    /** A figure of a peer, or a share of one. */
    private static final Pattern BESIDE =
            Pattern.compile("\\((?:learner|leader|follower) (\\d[\\d,.]*)\\)|\\b1/\\d+\\.\\d\\b");

    /** A benchmark of ours, a test, or a script. */
    private static final Pattern MEASURED_BY =
            Pattern.compile("\\bbench \\w+|\\w+(?:Test|IT|Benchmark)\\b|acceptance/");

    private static final String COMPARISON = "Beside others";

    /** The text below one heading of the second level. */
    private record Section(Place place, String title, String text) {

        boolean isTabular() {
            return text.lines().anyMatch(line -> line.startsWith("|"));
        }
    }

    @Test
    void tablesOfFiguresNameTheirMeasurement() {
        List<Section> measured = sections()
                .filter(section -> section.isTabular()
                        && !section.title().equals(COMPARISON)
                        && MEASURED.matcher(section.text()).find())
                .toList();
        assertThat(measured).hasSizeGreaterThan(3);
        assertThat(measured.stream()
                        .filter(section -> !MEASURED_BY.matcher(section.text()).find())
                        .map(section -> section.place() + ": " + section.title()))
                .isEmpty();
    }

    @Test
    void theComparisonHasTheFiguresOfTheModules() {
        Section comparison = sections()
                .filter(section -> section.title().equals(COMPARISON))
                .findFirst()
                .orElseThrow();
        String modules = sections()
                .filter(section -> !section.title().equals(COMPARISON))
                .map(Section::text)
                .collect(Collectors.joining("\n"));
        List<String> figures = figures(comparison.text());
        assertThat(figures).hasSizeGreaterThan(10);
        assertThat(figures.stream().filter(figure -> !isIn(modules, figure))).isEmpty();
    }

    @Test
    void aFigureThatNoModuleHasIsNoticed() {
        assertThat(figures("| 6.3 µs (learner 22.4) | 1/1.6 |")).containsExactly("6.3", "22.4", "1/1.6");
        assertThat(isIn("took 30.1 µs", "30")).isTrue();
        assertThat(isIn("took 30.1 µs, or 130 µs", "31")).isFalse();
        assertThat(isIn("took 130 µs", "30")).isFalse();
    }

    private static List<String> figures(String text) {
        List<String> found = new ArrayList<>();
        for (Pattern pattern : List.of(MEASURED, BESIDE)) {
            Matcher figure = pattern.matcher(text);
            while (figure.find()) {
                found.add(figure.group(1) == null ? figure.group() : figure.group(1));
            }
        }
        return found;
    }

    /** Perhaps with more digits. */
    private static boolean isIn(String text, String figure) {
        return Pattern.compile("(?<![\\d.,])" + Pattern.quote(figure) + "(?:\\.\\d+)?(?!\\d)")
                .matcher(text)
                .find();
    }

    private static Stream<Section> sections() {
        List<Section> all = new ArrayList<>();
        Place begin = null;
        String title = "";
        StringBuilder text = new StringBuilder();
        for (Document.Line line : Document.allLines().toList()) {
            boolean other =
                    begin == null || !begin.document().equals(line.place().document());
            if (other || line.text().startsWith("## ")) {
                if (begin != null) {
                    all.add(new Section(begin, title, text.toString()));
                }
                begin = line.place();
                title = line.text().replaceFirst("^#+ ", "");
                text.setLength(0);
            }
            text.append(line.text()).append('\n');
        }
        if (begin != null) {
            all.add(new Section(begin, title, text.toString()));
        }
        return all.stream();
    }
}
