package io.understudy.mirror.status;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The parameters of a request; of several of one name, the last. */
record StatusQuery(Map<String, String> parameters) {

    StatusQuery {
        parameters = Map.copyOf(parameters);
    }

    static StatusQuery of(URI uri) {
        Map<String, String> parameters = new HashMap<>();
        String query = uri.getRawQuery();
        for (String part : (query == null ? "" : query).split("&", -1)) {
            int equals = part.indexOf('=');
            if (equals > 0) {
                parameters.put(decoded(part.substring(0, equals)), decoded(part.substring(equals + 1)));
            }
        }
        return new StatusQuery(parameters);
    }

    Optional<String> text(String name) {
        return Optional.ofNullable(parameters.get(name));
    }

    /** The parameter {@code revision}; empty if it is missing or none. */
    OptionalLong revision() {
        try {
            long revision = Long.parseLong(parameters.getOrDefault("revision", ""));
            return revision < 0 ? OptionalLong.empty() : OptionalLong.of(revision);
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
