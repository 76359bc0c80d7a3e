package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTP requests to our processes in the documents are served. */
final class DocumentedPagesTest {

    /** URLs of our processes in curl commands; a variable may be any host. */
    private static final Pattern URL =
            Pattern.compile("(?:http://)?(?:127\\.0\\.0\\.1|GATEWAY|MIRROR|SUPERVISOR):\\d+(/[^'\"\\s>]*)");

    private static final Pattern REQUEST = Pattern.compile("(?:GET|POST) (/\\S*)");

    private static final Pattern ALONE = Pattern.compile("/[a-z][^\\s]*");

    /** Paths of a file system, and keys of examples. */
    private static final Pattern NO_PAGE =
            Pattern.compile("/(?:etc|opt|proc|tmp|usr|var)(?:/.*)?|/(?:drill|in/|registry/)");

    /** Pages of etcd's own in the documents. */
    private static final Pattern OF_ETCD = Pattern.compile("/v3/auth/.*|/readyz/linearizable_read");

    /** A page in a document, and its place. */
    private record Requested(Place place, String page) {

        Stream<String> faults() {
            return OF_ETCD.matcher(page).matches()
                    ? Stream.empty()
                    : Pages.fault(page).map(fault -> place + ": " + fault).stream();
        }
    }

    @Test
    void pagesInCurlCommandsAreServed() {
        List<Requested> requested =
                everywhere(text -> URL.matcher(text).results().map(url -> url.group(1)));
        assertThat(requested).hasSizeGreaterThan(5);
        assertThat(requested.stream().filter(each -> !each.page().equals("/")).flatMap(Requested::faults))
                .isEmpty();
    }

    @Test
    void requestsAndPathsInSentencesAreServed() {
        List<Requested> requested = everywhere(text -> path(text).stream());
        assertThat(requested).hasSizeGreaterThan(20);
        assertThat(requested.stream().flatMap(Requested::faults)).isEmpty();
    }

    /** In commands and within sentences. */
    private static List<Requested> everywhere(Function<String, Stream<String>> pages) {
        return Stream.concat(
                        Document.allBlocks().flatMap(block -> BlockKind.commands(block).stream()
                                .flatMap(pages)
                                .map(page -> new Requested(block.place(), page))),
                        Document.allQuotes().flatMap(quote -> pages.apply(quote.text())
                                .map(page -> new Requested(quote.place(), page))))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v2/kv/x",
                "/statuz",
                "/v1/kv?prefix=a&limits=2",
                "/v3/kv/rang",
                "/translate?rev=1",
                "/v1/watch/x"
            })
    void aPageThatIsNotServedIsReported(String page) {
        assertThat(Pages.fault(page)).isPresent();
    }

    private static Optional<String> path(String text) {
        Matcher request = REQUEST.matcher(text);
        if (request.matches()) {
            return Optional.of(request.group(1));
        }
        return ALONE.matcher(text).matches() && !NO_PAGE.matcher(text).matches() ? Optional.of(text) : Optional.empty();
    }
}
