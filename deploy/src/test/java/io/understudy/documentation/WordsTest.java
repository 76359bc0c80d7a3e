package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Texts use the terms of etcd, Kafka and Kubernetes. What a user sees has none of the banned words; their number in names and
 * comments of each file may only shrink.
 */
final class WordsTest {

    private static final Path FOLDER = Repository.ROOT.resolve("deploy/src/test/words");
    private static final Path BASELINE = FOLDER.resolve("baseline.tsv");

    /** One alternative per first letter: sources have 20 MB, most words of which need no second look. */
    private static final Pattern BANNED = Pattern.compile(
            Repository.text(FOLDER.resolve("banned.txt"))
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .flatMap(line -> Stream.of(
                            line.split("\t", 2)[0].replace(" ", "\\s+").split("\\|")))
                    .collect(Collectors.groupingBy(
                            word -> word.charAt(0),
                            TreeMap::new,
                            Collectors.mapping(word -> word.substring(1), Collectors.joining("|"))))
                    .entrySet()
                    .stream()
                    .map(letter -> letter.getKey() + "(?:" + letter.getValue() + ")")
                    .collect(Collectors.joining("|", "(?<![a-z-])(?:", ")(?![a-z-])")),
            Pattern.CASE_INSENSITIVE);

    private static final Pattern COMMENT_OR_LITERAL = Pattern.compile(
            "\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\\n])*+'|`(?:\\\\.|[^`\\\\])*+`|//[^\\n]*+|/\\*.*?\\*/",
            Pattern.DOTALL);

    private static final Pattern SHIPPED = Pattern.compile(
            ".*\\.(md|html|js|json|yaml|yml|sh|properties|service|env)|.*/src/main/.*\\.xml|.*/src/main/dist/bin/.*");

    /** A field of JSON that is served under its former name for one release. */
    private static final String FORMER_FIELD = "\"told\"";

    /** How often banned words occur in what a user sees, in names, and in comments. */
    private record Count(int shown, int names, int comments) {

        boolean isNone() {
            return shown + names + comments == 0;
        }

        @Override
        public String toString() {
            return shown + "\t" + names + "\t" + comments;
        }
    }

    @Test
    void textsThatUsersSeeHaveNoBannedWords() {
        assertThat(Repository.files().stream()
                        .filter(WordsTest::isShown)
                        .flatMap(file -> banned(file, shown(file)))
                        .toList())
                .as("what to write instead: deploy/src/test/words/banned.txt")
                .isEmpty();
    }

    @Test
    void namesAndCommentsHaveNoMoreOfThemThanBefore() throws IOException {
        Map<String, Count> counts = new TreeMap<>();
        Repository.files().stream()
                .filter(file -> file.toString().endsWith(".java"))
                .forEach(file -> {
                    Count count = count(Repository.text(file));
                    if (!count.isNone()) {
                        counts.put(Repository.ROOT.relativize(file).toString(), count);
                    }
                });
        String now = counts.entrySet().stream()
                .map(each -> each.getKey() + "\t" + each.getValue().names() + "\t"
                        + each.getValue().comments() + "\n")
                .collect(Collectors.joining());
        Map<String, String[]> baseline = Files.exists(BASELINE)
                ? Repository.text(BASELINE)
                        .lines()
                        .map(line -> line.split("\t"))
                        .collect(Collectors.toMap(cells -> cells[0], cells -> cells))
                : Map.of();
        List<String> grown = new ArrayList<>();
        counts.forEach((file, count) -> {
            String[] before = baseline.getOrDefault(file, new String[] {file, "0", "0"});
            if (count.names() > Integer.parseInt(before[1]) || count.comments() > Integer.parseInt(before[2])) {
                grown.add(file + ": names " + before[1] + " -> " + count.names() + ", comments " + before[2] + " -> "
                        + count.comments());
            }
        });
        boolean write = Boolean.getBoolean("understudy.words.write");
        if (write && (grown.isEmpty() || baseline.isEmpty())) {
            Files.writeString(BASELINE, now);
            return;
        }
        assertThat(grown).as("banned words: deploy/src/test/words/banned.txt").isEmpty();
        assertThat(now)
                .as("fewer than before: lower the baseline by -Dtest=WordsTest -Dunderstudy.words.write=true")
                .isEqualTo(Repository.text(BASELINE));
    }

    @ParameterizedTest
    @CsvSource({
        "'log(\"nobody has told\")', 2, 0, 0",
        "'void toldAnew() {}', 0, 2, 0",
        "'// asks again', 0, 0, 1",
        "'log(\"known task of a stand-alone seller\"); // whole, foretold', 0, 0, 0",
    })
    void bannedWordsAreFound(String java, int shown, int names, int comments) {
        assertThat(count(java)).isEqualTo(new Count(shown, names, comments));
    }

    private static boolean isShown(Path file) {
        String path = Repository.ROOT.relativize(file).toString();
        if (path.endsWith(".java")) {
            return path.contains("src/main/");
        }
        return !path.contains("src/test/")
                && !path.startsWith(".")
                && SHIPPED.matcher(path).matches();
    }

    private static String shown(Path file) {
        String text = Repository.text(file);
        return file.toString().matches(".*\\.(java|js)") ? literals(text) : text;
    }

    private static Stream<String> banned(Path file, String text) {
        return BANNED.matcher(text)
                .results()
                .map((MatchResult found) -> Repository.ROOT.relativize(file) + ": " + found.group() + ": …"
                        + text.substring(Math.max(0, found.start() - 40), Math.min(text.length(), found.end() + 40))
                                .replace('\n', ' ')
                        + "…");
    }

    private static Count count(String java) {
        StringBuilder comments = new StringBuilder();
        StringBuilder names = new StringBuilder();
        Matcher found = COMMENT_OR_LITERAL.matcher(java);
        while (found.find()) {
            if (found.group().startsWith("/")) {
                comments.append(found.group()).append('\n');
            }
            found.appendReplacement(names, ";");
        }
        found.appendTail(names);
        return new Count(matches(literals(java)), matches(words(names)), matches(comments.toString()));
    }

    /** Identifiers as words, which the patterns see as those of a sentence. */
    private static String words(CharSequence names) {
        StringBuilder words = new StringBuilder();
        for (int i = 0; i < names.length(); i++) {
            char now = names.charAt(i);
            char before = i == 0 ? ' ' : names.charAt(i - 1);
            boolean begins = Character.isUpperCase(now) && (Character.isLowerCase(before) || Character.isDigit(before));
            words.append(begins ? " " : "").append(now == '_' ? ' ' : now);
        }
        return words.toString();
    }

    private static int matches(String text) {
        return (int) BANNED.matcher(text).results().count();
    }

    private static String literals(String source) {
        return COMMENT_OR_LITERAL
                .matcher(source)
                .results()
                .map(MatchResult::group)
                .filter(part -> !part.startsWith("/") && !part.equals(FORMER_FIELD))
                .collect(Collectors.joining("\n"));
    }
}
