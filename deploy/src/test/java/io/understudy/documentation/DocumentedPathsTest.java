package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.documentation.Document.Link;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Links lead somewhere, and files, classes and tests that the documents name are there. */
final class DocumentedPathsTest {

    private static final Pattern ABROAD = Pattern.compile("[a-z]+:.*");

    /** A path as one writes it that is relative to something. */
    private static final Pattern RELATIVE = Pattern.compile("(?:\\.\\./)*[\\w.*-]+/(?:[\\w.*-]+/?)*");

    /** Made by a build, in the folder of a module or at the top. */
    private static final Pattern BUILT = Pattern.compile("(?:[a-z-]+/)*target/.*");

    /** What looks like one and is something else. */
    private static final Set<String> NO_PATHS = Set.of(
            // of etcd's JSON
            "lease/keepalive",
            "maintenance/snapshot",
            "election/observe",
            // below a lab's directory, and where that is
            "auth/",
            "understudy/lab",
            // a range of keys
            "app/");

    /** One of the system, without a version in it. */
    private static final Pattern ABSOLUTE = Pattern.compile("(?:/(?:etc|opt|proc|tmp|usr|var)|~)(?:/[a-z.-]+)*");

    /** What operators do themselves, and what is put together of parts. */
    private static final Set<String> NOT_WRITTEN = Set.of("/etc/systemd/system", "~/.cache/understudy/etcd");

    private static final Pattern TEST = Pattern.compile("\\b[A-Z]\\w+(?:IT|Test|Benchmark)\\b");

    private static final Pattern METHOD = Pattern.compile("([a-z]+(?:[A-Z][a-z]*){5,})…?");

    private static final Set<String> CLASSES = Repository.files().stream()
            .map(file -> file.getFileName().toString())
            .filter(name -> name.endsWith(".java"))
            .map(name -> name.substring(0, name.length() - ".java".length()))
            .collect(Collectors.toSet());

    @Test
    void linksLeadToFilesAndHeadings() {
        assertThat(Document.allLinks())
                .hasSizeGreaterThan(200)
                .flatMap(DocumentedPathsTest::faults)
                .isEmpty();
    }

    @Test
    void aPageLinksOnlyToWhatTheArchiveContains() {
        Path docs = Repository.ROOT.resolve("docs");
        Set<String> besides = Set.of("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE");
        assertThat(Document.allLinks()
                        .filter(link -> link.place().document().startsWith(docs))
                        .filter(link -> !ABROAD.matcher(link.target()).matches()
                                && !link.target().startsWith("#"))
                        .filter(link -> {
                            Path target = link.place()
                                    .document()
                                    .resolveSibling(link.target().split("#", 2)[0])
                                    .normalize();
                            return !target.startsWith(docs)
                                    && !besides.contains(
                                            Repository.ROOT.relativize(target).toString());
                        }))
                .isEmpty();
    }

    @Test
    void aLinkThatIsNamedAsAClassLeadsToIt() {
        assertThat(Document.allLinks()
                        .filter(link -> link.target().endsWith(".java")
                                && link.text().matches("[A-Z]\\w+")
                                && !link.target().endsWith("/" + link.text() + ".java"))
                        .map(link -> link.place() + ": " + link.text() + " leads to " + link.target()))
                .isEmpty();
    }

    @Test
    void pathsInSentencesAreThere() {
        assertThat(Document.allQuotes()
                        .filter(quote -> RELATIVE.matcher(quote.text()).matches())
                        .filter(quote -> !BUILT.matcher(quote.text()).matches() && !NO_PATHS.contains(quote.text()))
                        .filter(quote -> !isThere(quote.place(), quote.text()))
                        .map(quote -> quote.place() + ": no such path: " + quote.text()))
                .isEmpty();
    }

    @Test
    void pathsOfTheSystemAreThoseThatWeUse() {
        assertThat(Document.allQuotes()
                        .filter(quote -> ABSOLUTE.matcher(quote.text()).matches())
                        .filter(quote -> !NOT_WRITTEN.contains(quote.text())
                                && !Repository.production().contains(quote.text()))
                        .map(quote -> quote.place() + ": nothing uses " + quote.text()))
                .isEmpty();
    }

    @Test
    void testsThatAreNamedAreThere() {
        assertThat(Document.allLines().flatMap(line -> TEST.matcher(line.text())
                        .results()
                        .map(MatchResult::group)
                        .filter(name -> !CLASSES.contains(name))
                        .map(name -> line.place() + ": no such test: " + name)))
                .isEmpty();
    }

    @Test
    void testMethodsThatAreNamedAreThere() {
        String sources = Repository.files().stream()
                .filter(file -> file.toString().endsWith(".java"))
                .map(Repository::text)
                .collect(Collectors.joining());
        assertThat(Document.allQuotes().flatMap(quote -> METHOD.matcher(quote.text())
                        .results()
                        .filter(name -> name.group().equals(quote.text()) && !sources.contains(name.group(1)))
                        .map(name -> quote.place() + ": in no source: " + name.group(1))))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[x](no-such.md)",
                "[x](#no-such-heading)",
                "[x](gateway/README.md#no-such-heading)",
                "![x](deploy/no-such.png)"
            })
    void aLinkToNowhereIsNoticed(String markdown) {
        Document document = Document.of(Repository.ROOT.resolve("README.md"), "# A heading\n\n" + markdown + "\n");
        assertThat(document.links()).flatMap(DocumentedPathsTest::faults).hasSize(1);
    }

    private static List<String> faults(Link link) {
        if (ABROAD.matcher(link.target()).matches()) {
            return List.of();
        }
        String[] parts = link.target().split("#", 2);
        Path own = link.place().document();
        Path file = parts[0].isEmpty()
                ? own
                : link.place().folder().resolve(parts[0]).normalize();
        if (!Files.exists(file)) {
            return List.of(link.place() + ": leads to nothing: " + link.target());
        }
        if (parts.length == 2 && file.toString().endsWith(".md")) {
            Set<String> anchors = Document.all().stream()
                    .filter(document -> document.path().equals(file))
                    .findFirst()
                    .orElseThrow()
                    .anchors();
            if (!anchors.contains(parts[1])) {
                return List.of(link.place() + ": no such heading: " + link.target());
            }
        }
        return List.of();
    }

    /** In the repository, beside the document, or in what is shipped. */
    private static boolean isThere(Place place, String path) {
        return Stream.of(Repository.ROOT, place.folder()).anyMatch(base -> Files.exists(base.resolve(path)))
                || Shipped.has(path)
                || Shipped.folderOf(place.document())
                        .map(folder -> folder.resolve(path).normalize().toString())
                        .filter(Shipped::has)
                        .isPresent();
    }
}
