package io.understudy.reference;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/internals/invariants.md} is generated from the Javadoc of owners and tests;
 * {@code -Dunderstudy.docs.write=true} writes it.
 */
final class InvariantsPageTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path FOLDER = ROOT.resolve("docs/internals");
    private static final Path PAGE = FOLDER.resolve("invariants.md");
    private static final List<String> MODULES = List.of("common", "gateway", "mirror", "deploy");
    private static final List<String> FOLDERS =
            List.of("src", "local-cluster/src", "kafka-consumer/src", "bench/src", "cluster/src", "lab/src", "cli/src");

    private static final String ID = "[A-Z]+[0-9]+[a-z]?";

    /** Ends at the next paragraph, list or tag, or with the comment. */
    private static final Pattern INVARIANT = Pattern.compile(
            "\\* <p>Invariant (" + ID + "): ([^@<]*?)(?=[\\s*]*(?:\\*/|@|<p>|<[ou]l>))", Pattern.DOTALL);

    private static final Pattern TESTED =
            Pattern.compile("\\* (?:<p>)?Tests invariants? (" + ID + "(?:,[\\s*]+" + ID + ")*)\\.");

    private static final Comparator<String> BY_ID = Comparator.<String, String>comparing(id -> id.split("[0-9]", 2)[0])
            .thenComparing(id -> Integer.valueOf(id.replaceAll("[^0-9]", "")))
            .thenComparing(Comparator.naturalOrder());

    private static final List<Invariant> INVARIANTS = new ArrayList<>();
    private static final Map<String, List<Path>> TESTS = new TreeMap<>(BY_ID);

    private record Invariant(String id, String text, Path owner) {

        String row() {
            String tests = TESTS.getOrDefault(id, List.of()).stream()
                    .map(InvariantsPageTest::code)
                    .collect(Collectors.joining(", "));
            return "| " + id + " | " + text + " | " + code(owner) + " | " + tests + " |\n";
        }
    }

    @BeforeAll
    static void scan() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (String module : MODULES) {
            for (String folder : FOLDERS) {
                Path path = ROOT.resolve(module).resolve(folder);
                if (Files.isDirectory(path)) {
                    try (Stream<Path> files = Files.walk(path)) {
                        sources.addAll(files.filter(file -> file.toString().endsWith(".java"))
                                .toList());
                    }
                }
            }
        }
        sources.sort(Comparator.comparing(InvariantsPageTest::name).thenComparing(Path::toString));
        for (Path file : sources) {
            String source = Files.readString(file);
            if (file.toString().contains("/src/main/java/")) {
                Matcher found = INVARIANT.matcher(source);
                while (found.find()) {
                    String text = found.group(2).replaceAll("\\s*\\n\\s*\\*\\s*", " ");
                    INVARIANTS.add(new Invariant(found.group(1), text, file));
                }
            } else {
                Matcher found = TESTED.matcher(source);
                while (found.find()) {
                    for (String id : found.group(1).split(",[\\s*]+", -1)) {
                        TESTS.computeIfAbsent(id, any -> new ArrayList<>()).add(file);
                    }
                }
            }
        }
        INVARIANTS.sort(Comparator.comparing(Invariant::id, BY_ID));
    }

    @Test
    void thePageIsUpToDate() throws IOException {
        String page = MODULES.stream().map(InvariantsPageTest::section).collect(Collectors.joining());
        if (Boolean.getBoolean("understudy.docs.write")) {
            Files.writeString(PAGE, title() + page);
        }
        assertThat(Files.readString(PAGE))
                .as("write it by: mvn -pl deploy -am test -Dtest=InvariantsPageTest -Dunderstudy.docs.write=true"
                        + " -Dsurefire.failIfNoSpecifiedTests=false")
                .isEqualTo(title() + page);
    }

    @Test
    void eachIdHasOneInvariantOfOneSentence() {
        assertThat(INVARIANTS).extracting(Invariant::id).hasSizeGreaterThan(100).doesNotHaveDuplicates();
        assertThat(INVARIANTS).extracting(Invariant::text).allMatch(text -> text.matches("[^|]+\\."));
    }

    @Test
    void eachInvariantHasATestAndEachIdOfATestExists() {
        assertThat(TESTS.keySet())
                .containsExactlyInAnyOrderElementsOf(
                        INVARIANTS.stream().map(Invariant::id).toList());
    }

    private static String title() {
        return "# Invariants\n\nGenerated by `InvariantsPageTest` from the Javadoc of owners and tests.\n";
    }

    private static String section(String module) {
        return INVARIANTS.stream()
                .filter(each -> each.owner().startsWith(ROOT.resolve(module)))
                .map(Invariant::row)
                .collect(Collectors.joining(
                        "",
                        "\n## " + module + "\n\n| id | invariant | owner | tests |\n| --- | --- | --- | --- |\n",
                        ""));
    }

    private static String name(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }

    /** No link: the page is part of the archive and of the site, and sources are not. */
    private static String code(Path file) {
        return "`" + name(file) + "`";
    }
}
