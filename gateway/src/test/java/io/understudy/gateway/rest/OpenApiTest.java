package io.understudy.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The document matches the code. Its responses are checked by the tests of their routes.
 *
 * <p>Tests invariant H1.
 */
final class OpenApiTest {

    private static final String TEXT = text();
    private static final JsonObject DOCUMENT = new JsonObject(TEXT);

    @Test
    void everyRouteIsDocumentedAndEveryDocumentedRouteServed() {
        assertThat(DOCUMENT.getJsonObject("paths").fieldNames()).isEqualTo(RestApi.ROUTES);
    }

    @Test
    void everyReferenceLeadsSomewhere() {
        Set<String> references = Pattern.compile("\"#/components/([a-zA-Z]+)/([a-zA-Z]+)\"")
                .matcher(TEXT)
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toSet());
        assertThat(references).isNotEmpty().allSatisfy(reference -> {
            String[] path = reference.replace("\"", "").split("/", -1);
            assertThat(DOCUMENT.getJsonObject("components")
                            .getJsonObject(path[2])
                            .containsKey(path[3]))
                    .isTrue();
        });
    }

    private static String text() {
        try (InputStream in = RestApi.class.getResourceAsStream("openapi.json")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
