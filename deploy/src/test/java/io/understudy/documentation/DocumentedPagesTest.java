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

/** What the documents ask our processes for by HTTP is served. */
final class DocumentedPagesTest {

    /** As curl is told one of ours; what a variable stands for may be anybody's. */
    private static final Pattern URL =
            Pattern.compile("(?:http://)?(?:127\\.0\\.0\\.1|GATEWAY|MIRROR|SUPERVISOR):\\d+(/[^'\"\\s>]*)");

    private static final Pattern REQUEST = Pattern.compile("(?:GET|POST) (/\\S*)");

    private static final Pattern ALONE = Pattern.compile("/[a-z][^\\s]*");

    /** Paths of a file system, and keys of examples. */
    private static final Pattern NO_PAGE =
            Pattern.compile("/(?:etc|opt|proc|tmp|usr|var)(?:/.*)?|/(?:drill|in/|registry/)");

    /** Pages of etcd's own that are told of. */
    private static final Pattern OF_ETCD = Pattern.compile("/v3/auth/.*|/readyz/linearizable_read");

    /** What is asked for, and where. */
    private record Asked(Place place, String page) {

        Stream<String> faults() {
            return OF_ETCD.matcher(page).matches()
                    ? Stream.empty()
                    : Pages.fault(page).map(fault -> place + ": " + fault).stream();
        }
    }

    @Test
    void whatCurlIsToldIsServed() {
        List<Asked> asked = everywhere(text -> URL.matcher(text).results().map(url -> url.group(1)));
        assertThat(asked).hasSizeGreaterThan(5);
        assertThat(asked.stream().filter(each -> !each.page().equals("/")).flatMap(Asked::faults))
                .isEmpty();
    }

    @Test
    void requestsAndPathsInSentencesAreServed() {
        List<Asked> asked = everywhere(text -> path(text).stream());
        assertThat(asked).hasSizeGreaterThan(20);
        assertThat(asked.stream().flatMap(Asked::faults)).isEmpty();
    }

    /** In commands and within sentences. */
    private static List<Asked> everywhere(Function<String, Stream<String>> pages) {
        return Stream.concat(
                        Document.allBlocks().flatMap(block -> BlockKind.commands(block).stream()
                                .flatMap(pages)
                                .map(page -> new Asked(block.place(), page))),
                        Document.allQuotes().flatMap(quote -> pages.apply(quote.text())
                                .map(page -> new Asked(quote.place(), page))))
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
    void whatNobodyServesIsNoticed(String page) {
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
