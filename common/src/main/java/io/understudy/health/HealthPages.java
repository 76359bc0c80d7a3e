package io.understudy.health;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * {@code /livez}, {@code /readyz}, single checks below them, and {@code /health}, answered as etcd 3.5 answers them.
 * Any thread.
 *
 * @param live what only a restart, or an operator, can mend
 * @param ready whether the process does what it is there for; {@code /health} is this one too
 * @param notSerializable checks that {@code /health?serializable=true} leaves out: those of what needs a quorum
 */
public record HealthPages(HealthChecks live, HealthChecks ready, Set<String> notSerializable) {

    /** The text of an answer to a method that isn't served, as etcd has it. */
    public static final String METHOD_NOT_ALLOWED = "Method Not Allowed\n";

    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final int OK = 200;
    private static final int NOT_ALLOWED = 405;
    private static final int UNAVAILABLE = 503;
    private static final Map<String, String> NO_SNIFFING = Map.of("x-content-type-options", "nosniff");

    /** Pages of checks that need no quorum. */
    public HealthPages(HealthChecks live, HealthChecks ready) {
        this(live, ready, Set.of());
    }

    public HealthPages {
        notSerializable = Set.copyOf(notSerializable);
    }

    /** A page. The fields of its head are in lower case. */
    public record Answer(int status, String contentType, Map<String, String> head, String body) {

        public Answer {
            head = Map.copyOf(head);
        }

        public Answer(int status, String contentType, String body) {
            this(status, contentType, Map.of(), body);
        }
    }

    /**
     * What a request is answered with; empty if the path is none of theirs.
     *
     * @param query parameters behind the path, decoded
     */
    public Optional<Answer> answer(String method, String path, Map<String, List<String>> query) {
        return page(path, query).map(page -> method.equals("GET") ? page.get() : notAllowed());
    }

    private Optional<Supplier<Answer>> page(String path, Map<String, List<String>> query) {
        if (path.equals("/health")) {
            return Optional.of(() -> health(query));
        }
        return checks(path, "/livez", live, query)
                .or(() -> checks(path, "/readyz", ready, query))
                .map(checks -> () -> report(checks, query.containsKey("verbose")));
    }

    private static Optional<HealthChecks> checks(
            String path, String root, HealthChecks checks, Map<String, List<String>> query) {
        if (path.equals(root)) {
            return Optional.of(checks.without(excluded(query)));
        }
        return path.startsWith(root + "/") ? checks.only(path.substring(root.length() + 1)) : Optional.empty();
    }

    private static Set<String> excluded(Map<String, List<String>> query) {
        return Set.copyOf(query.getOrDefault("exclude", List.of()));
    }

    private static Answer report(HealthChecks checks, boolean verbose) {
        HealthChecks.Report report = checks.run();
        if (!report.healthy()) {
            return new Answer(UNAVAILABLE, TEXT, NO_SNIFFING, report.lines() + "\n");
        }
        return new Answer(OK, TEXT, NO_SNIFFING, verbose ? report.lines() + "ok\n" : "ok\n");
    }

    private Answer health(Map<String, List<String>> query) {
        boolean serializable =
                query.getOrDefault("serializable", List.of("")).get(0).equals("true");
        HealthChecks checks = ready.without(excluded(query));
        Optional<String> problem = (serializable ? checks.without(notSerializable) : checks).problem();
        String body = "{\"health\":\"" + problem.isEmpty() + "\",\"reason\":\"" + quoted(problem.orElse("")) + "\"}";
        return new Answer(problem.isEmpty() ? OK : UNAVAILABLE, JSON, NO_SNIFFING, body);
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder();
        text.chars().forEach(each -> {
            if (each == '"' || each == '\\') {
                quoted.append('\\').append((char) each);
            } else if (each < ' ') {
                quoted.append("\\u%04x".formatted(each));
            } else {
                quoted.append((char) each);
            }
        });
        return quoted.toString();
    }

    private static Answer notAllowed() {
        return new Answer(
                NOT_ALLOWED, TEXT, Map.of("allow", "GET", "x-content-type-options", "nosniff"), METHOD_NOT_ALLOWED);
    }

    /** The parameters behind a path, for servers that don't take them apart. */
    public static Map<String, List<String>> parameters(URI uri) {
        Map<String, List<String>> parameters = new HashMap<>();
        String query = uri.getRawQuery();
        for (String part : (query == null ? "" : query).split("&", -1)) {
            int equals = part.indexOf('=');
            String name = equals < 0 ? part : part.substring(0, equals);
            String value = equals < 0 ? "" : part.substring(equals + 1);
            if (!name.isEmpty()) {
                parameters
                        .computeIfAbsent(decoded(name), absent -> new ArrayList<>())
                        .add(decoded(value));
            }
        }
        return parameters;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
