package io.understudy.documentation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The paths that our processes serve by HTTP: those of the OpenAPI document, which is held against the code elsewhere, and
 * what the other servers compare paths with.
 */
final class Pages {

    private static final Pattern LITERAL = Pattern.compile("\"(/[a-z]+)/?\"");

    private static final Set<String> FIXED = Stream.of(
                    "WebPages.java", "HealthPages.java", "StatusServer.java", "StateServer.java", "Page.java")
            .flatMap(name -> Repository.named(name).stream())
            .flatMap(file -> LITERAL.matcher(Repository.text(file)).results())
            .map((MatchResult literal) -> literal.group(1))
            .collect(Collectors.toCollection(TreeSet::new));

    /** Rows of the table that the gateway serves etcd's JSON by. */
    private static final Set<String> JSON = Pattern.compile("^ +([a-z/-]+)(?: [A-Z]\\w+){2,3}$", Pattern.MULTILINE)
            .matcher(Repository.text(Repository.named("JsonMethod.java").get(0)))
            .results()
            .map(row -> "/v3/" + row.group(1))
            .collect(Collectors.toSet());

    private static final JsonNode OPENAPI = openApi();

    /** As etcd has them: one check alone. */
    private static final List<String> WITH_CHECKS = List.of("/livez/", "/readyz/");

    /** The query parameters of the pages of health. */
    private static final Set<String> OF_HEALTH = Set.of("verbose", "exclude", "serializable");

    private static final Set<String> OF_TRANSLATE = Set.of("mirror", "revision");

    private Pages() {}

    /** What is wrong with a path, which may have a query. */
    static Optional<String> fault(String page) {
        String[] parts = page.split("\\?", 2);
        String path = parts[0];
        Optional<Set<String>> query = query(path);
        if (query.isEmpty()) {
            return Optional.of("nobody serves " + path);
        }
        if (parts.length == 2) {
            for (String parameter : parts[1].split("&", -1)) {
                String name = parameter.split("=", 2)[0];
                if (!query.get().contains(name)) {
                    return Optional.of(path + " knows no " + name);
                }
            }
        }
        return Optional.empty();
    }

    /** The parameters that a page has, empty if there is no such page. */
    private static Optional<Set<String>> query(String path) {
        if (path.equals("/v3/…") || JSON.contains(path)) {
            return Optional.of(Set.of());
        }
        for (var route : OPENAPI.path("paths").properties()) {
            if (path.equals(route.getKey()) || path.matches(route.getKey().replaceAll("\\{[^}]*}", "[^?]+"))) {
                return Optional.of(parameters(route.getValue().path("get")));
            }
        }
        if (FIXED.contains(path) || WITH_CHECKS.stream().anyMatch(path::startsWith)) {
            return Optional.of(path.equals("/translate") ? OF_TRANSLATE : OF_HEALTH);
        }
        return Optional.empty();
    }

    private static Set<String> parameters(JsonNode operation) {
        Set<String> names = new HashSet<>();
        for (JsonNode parameter : operation.path("parameters")) {
            JsonNode resolved = parameter.has("$ref")
                    ? OPENAPI.at(parameter.path("$ref").asText().substring(1))
                    : parameter;
            if (resolved.path("in").asText().equals("query")) {
                names.add(resolved.path("name").asText());
            }
        }
        return names;
    }

    private static JsonNode openApi() {
        try (InputStream in = Pages.class.getResourceAsStream("/io/understudy/gateway/rest/openapi.json")) {
            return new ObjectMapper().readTree(Objects.requireNonNull(in));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
