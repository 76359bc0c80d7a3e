package io.understudy.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** In etcd's form, byte by byte. */
final class HealthPagesTest {

    private Optional<String> late = Optional.empty();
    private Optional<String> lost = Optional.empty();

    private final HealthPages pages = new HealthPages(
            new HealthChecks(new HealthCheck("feed", Optional::empty)),
            new HealthChecks(List.of(
                    new HealthCheck("feed", () -> lost),
                    new HealthCheck("staleness", () -> late),
                    new HealthCheck("source", Optional::empty, () -> Optional.of("a \"quoted\" remark")))),
            Set.of("staleness"));

    @Test
    void green() {
        assertPage("/readyz", 200, "ok\n");
        assertPage("/livez", 200, "ok\n");
        assertPage("/readyz?verbose", 200, """
                [+]feed ok
                [+]staleness ok
                [+]source ok: a "quoted" remark
                ok
                """);
        assertPage("/health", 200, "{\"health\":\"true\",\"reason\":\"\"}");
    }

    @Test
    void aFailedCheckReportsItsCause_evenWithoutVerbose() {
        late = Optional.of("30 s");
        assertPage("/readyz", 503, """
                [+]feed ok
                [-]staleness failed: 30 s
                [+]source ok: a "quoted" remark

                """);
        assertPage("/readyz/staleness", 503, "[-]staleness failed: 30 s\n\n");
        assertPage("/readyz/feed", 200, "ok\n");
        assertPage("/readyz/feed?verbose", 200, "[+]feed ok\nok\n");
        assertPage("/health", 503, "{\"health\":\"false\",\"reason\":\"staleness: 30 s\"}");
    }

    @Test
    void checksAreLeftOutByName_andNamesThatAreNoChecksArePassedOver() {
        late = Optional.of("30 s");
        lost = Optional.of("gone");
        assertPage("/readyz?exclude=staleness&exclude=feed&exclude=nothing", 200, "ok\n");
        assertPage("/readyz?exclude=staleness,feed", 503, """
                [-]feed failed: gone
                [-]staleness failed: 30 s
                [+]source ok: a "quoted" remark

                """);
        assertPage("/readyz?exclude=", 503, """
                [-]feed failed: gone
                [-]staleness failed: 30 s
                [+]source ok: a "quoted" remark

                """);
        assertPage("/readyz?exclude=staleness&exclude=feed&exclude=source&verbose", 200, "ok\n");
        assertPage("/readyz/feed?exclude=feed", 503, "[-]feed failed: gone\n\n");
        assertPage("/health?exclude=feed", 503, "{\"health\":\"false\",\"reason\":\"staleness: 30 s\"}");
        assertPage("/health?serializable=true", 503, "{\"health\":\"false\",\"reason\":\"feed: gone\"}");
        assertPage("/health?serializable=true&exclude=feed", 200, "{\"health\":\"true\",\"reason\":\"\"}");
    }

    @Test
    void reasonsAreJson() {
        lost = Optional.of("\"\\\n");
        assertPage("/health", 503, "{\"health\":\"false\",\"reason\":\"feed: \\\"\\\\\\u000a\"}");
    }

    @Test
    void onlyGetIsServed() {
        for (String method : List.of("HEAD", "POST", "DELETE")) {
            for (String path : List.of("/livez", "/readyz", "/readyz/feed", "/health")) {
                HealthPages.Answer answer = answer(method, path).orElseThrow();
                assertThat(answer.status()).isEqualTo(405);
                assertThat(answer.head()).containsEntry("allow", "GET");
                assertThat(answer.body()).isEqualTo("Method Not Allowed\n");
            }
        }
    }

    @Test
    void otherPathsAreNotTheirs() {
        for (String path : List.of("/", "/readyz/", "/readyz/nothing", "/livez/staleness", "/health/", "/readyzz")) {
            assertThat(answer("GET", path)).as(path).isEmpty();
            assertThat(answer("POST", path)).as(path).isEmpty();
        }
    }

    private void assertPage(String path, int status, String body) {
        HealthPages.Answer answer = answer("GET", path).orElseThrow();
        assertThat(answer.body()).as(path).isEqualTo(body);
        assertThat(answer.status()).as(path).isEqualTo(status);
    }

    private Optional<HealthPages.Answer> answer(String method, String path) {
        URI uri = URI.create(path);
        return pages.answer(method, uri.getPath(), HealthPages.parameters(uri));
    }
}
