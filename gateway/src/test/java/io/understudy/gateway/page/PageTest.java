package io.understudy.gateway.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What the page is made of, as the browser's rules and the promise of no other origin want it.
 *
 * <p>Tests invariant D3.
 */
final class PageTest {

    /** Of what a browser is sent, all together. */
    private static final int MOST_BYTES = 100_000;

    private static final Map<String, Asset> ASSETS = Page.load().assets();

    @Test
    void theTableHasEveryFileThatThereIs() throws Exception {
        try (Stream<Path> files = Files.list(Path.of("src/main/resources/io/understudy/gateway/page"))) {
            Set<String> there = files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.endsWith(".class") && !name.equals("index.html"))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(there).containsExactlyElementsOf(new TreeSet<>(Page.FILES));
        }
    }

    @Test
    void whateverAFileNamesIsServedHere() {
        Set<String> named = new TreeSet<>();
        ASSETS.forEach((path, asset) -> {
            if (path.endsWith(".js") && !isLibrary(path)) {
                found("from '\\./([^']+)'", asset).forEach(name -> named.add(Page.FOLDER + name));
            }
            found("[\"'](/dashboard/[^\"']+)[\"']", asset).forEach(named::add);
            found("icon\\('([a-z]+)'\\)", asset).forEach(name -> assertThat(
                            ASSETS.get(Page.FOLDER + "icons.svg").text())
                    .contains("id=\"icon-" + name + "\""));
        });
        assertThat(named).isNotEmpty().isSubsetOf(ASSETS.keySet());
    }

    @Test
    void nothingIsLoadedFromElsewhere() {
        ASSETS.forEach((path, asset) -> {
            if (!isLibrary(path)) {
                assertThat(found("(https?://[^\"' ]+)", asset))
                        .as(path)
                        .allMatch(url -> url.equals("http://www.w3.org/2000/svg"));
            }
        });
    }

    @Test
    void nothingIsWrittenSoThatThePolicyOfTheBrowserWouldStopIt() {
        assertThat(ASSETS.get("/").text()).doesNotContainPattern("<style|style=|<script>|\\bon[a-z]+=");
        ASSETS.forEach((path, asset) -> {
            if (!isLibrary(path)) {
                assertThat(asset.text())
                        .as(path)
                        .doesNotContain("innerHTML", "insertAdjacentHTML", "document.write", "eval(");
                assertThat(asset.text()).as(path).doesNotContainPattern(" style=");
            }
        });
    }

    @Test
    void allOfItIsSmall() {
        assertThat(ASSETS.values().stream()
                        .mapToInt(asset -> asset.packed().length)
                        .sum())
                .isLessThan(MOST_BYTES);
    }

    @Test
    void anotherContentHasAnotherTag() {
        assertThat(ASSETS.values().stream().flatMap(asset -> Stream.of(asset.tag(), asset.packedTag())))
                .doesNotHaveDuplicates()
                .allMatch(tag -> tag.matches("\"[0-9a-f]{24}(-gzip)?\""));
    }

    @Test
    void whatIsNotInTheTableIsNotServed() {
        Page page = Page.load();
        for (String path :
                List.of("/dashboard/", "/dashboard/Page.class", "/dashboard/../logback.xml", "", "/index.html")) {
            assertThat(page.at(path)).as(path).isEmpty();
        }
        assertThat(Page.none().at("/")).isEmpty();
    }

    private static boolean isLibrary(String path) {
        return path.endsWith("/uplot.js") || path.endsWith("/uplot.css") || path.endsWith("/lit-html.js");
    }

    private static Stream<String> matches(String pattern, Asset asset) {
        return Pattern.compile(pattern).matcher(asset.text()).results().map((MatchResult match) -> match.group(1));
    }

    private static List<String> found(String pattern, Asset asset) {
        return matches(pattern, asset).toList();
    }
}
