package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Texts, names and comments use the terms of etcd, Kafka and Kubernetes, and none of the banned words. Literals of tests are
 * exempt.
 */
final class WordsTest {

    /** One alternative per first letter: sources have 20 MB, most words of which need no second look. */
    private static final Pattern BANNED = Pattern.compile(
            Repository.text(Repository.ROOT.resolve("deploy/src/test/words/banned.txt"))
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
    void namesAndCommentsHaveNoBannedWords() {
        assertThat(Repository.files().stream()
                        .filter(file -> file.toString().endsWith(".java"))
                        .flatMap(file -> banned(file, names(Repository.text(file)) + comments(Repository.text(file))))
                        .toList())
                .as("what to write instead: deploy/src/test/words/banned.txt")
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "'log(\"nobody has told\")', 2, 0, 0",
        "'void toldAnew() {}', 0, 2, 0",
        "'// asks again', 0, 0, 1",
        "'int NOBODY; void ofANewOne() {}', 0, 1, 0",
        "'log(\"known task of a stand-alone seller\"); // whole, foretold', 0, 0, 0",
    })
    void bannedWordsAreFound(String java, int inLiterals, int inNames, int inComments) {
        assertThat(BANNED.matcher(literals(java)).results()).hasSize(inLiterals);
        assertThat(BANNED.matcher(names(java)).results()).hasSize(inNames);
        assertThat(BANNED.matcher(comments(java)).results()).hasSize(inComments);
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

    private static String comments(String source) {
        return parts(source, part -> part.startsWith("/"));
    }

    private static String names(String source) {
        return words(COMMENT_OR_LITERAL.matcher(source).replaceAll(";"));
    }

    /** Identifiers as words, which the patterns see as those of a sentence. */
    private static String words(CharSequence names) {
        StringBuilder words = new StringBuilder();
        for (int i = 0; i < names.length(); i++) {
            char now = names.charAt(i);
            char before = i == 0 ? ' ' : names.charAt(i - 1);
            boolean isFollowedByLower = i + 1 < names.length() && Character.isLowerCase(names.charAt(i + 1));
            boolean begins = Character.isUpperCase(now)
                    && (Character.isLowerCase(before)
                            || Character.isDigit(before)
                            || (Character.isUpperCase(before) && isFollowedByLower));
            words.append(begins ? " " : "").append(now == '_' ? ' ' : now);
        }
        return words.toString();
    }

    private static String literals(String source) {
        return parts(source, part -> !part.startsWith("/") && !part.equals(FORMER_FIELD));
    }

    private static String parts(String source, Predicate<String> wanted) {
        return COMMENT_OR_LITERAL
                .matcher(source)
                .results()
                .map(MatchResult::group)
                .filter(wanted)
                .collect(Collectors.joining("\n"));
    }
}
