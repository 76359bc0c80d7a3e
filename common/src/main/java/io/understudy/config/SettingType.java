package io.understudy.config;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How values of one kind are read and written.
 *
 * @param name for the reference page
 * @param allowed what a value looks like, for error messages
 * @param parser throws an {@link IllegalArgumentException} (or {@link ArithmeticException}) for anything else; the
 *     message of an {@link ExplainedException} is reported
 * @param order null if values can't be bounded
 * @param ofElements parser of a YAML sequence; null if a value is no list
 * @param options all values, where there are few
 */
record SettingType<T>(
        String name,
        String allowed,
        Function<String, T> parser,
        Function<T, String> printer,
        @Nullable Comparator<T> order,
        @Nullable Function<List<String>, T> ofElements,
        List<String> options) {

    static final SettingType<String> STRING = plain("text", "non-empty text", SettingType::notEmpty, text -> text);
    static final SettingType<Integer> INTEGER =
            ordered("integer", "an integer", SettingType::parseInteger, number -> Integer.toString(number));
    static final SettingType<Long> BYTES =
            ordered("bytes", "bytes such as 512KiB or 64MiB", Units::parseBytes, Units::print);
    static final SettingType<Duration> DURATION =
            ordered("duration", "a duration such as 200ms, 5s or 1h30m", Units::parseDuration, Units::print);
    static final SettingType<Boolean> BOOLEAN =
            plain("boolean", "true or false", SettingType::parseBoolean, truth -> Boolean.toString(truth));
    static final SettingType<HostPort> HOST_PORT =
            plain("host:port", "host:port, with an IPv6 address in brackets", HostPort::parse, HostPort::toString);
    static final SettingType<Path> PATH = plain("path", "a file path", text -> Path.of(notEmpty(text)), Path::toString);
    static final SettingType<URI> URL = plain("URL", "a URL", SettingType::parseUri, URI::toString);
    static final SettingType<List<URI>> URIS = new SettingType<>(
            "list of URLs",
            "one or more URLs, as a list or comma-separated",
            SettingType::parseUris,
            uris -> uris.stream().map(URI::toString).collect(Collectors.joining(",")),
            null,
            elements -> parseUris(String.join(",", elements)),
            List.of());

    static final SettingType<List<String>> TEXTS = new SettingType<>(
            "list of texts",
            "one or more strings, as a list or comma-separated",
            SettingType::parseTexts,
            texts -> String.join(",", texts),
            null,
            elements -> elements.stream().map(SettingType::notEmpty).toList(),
            List.of());

    /** A group of any keys. */
    static final SettingType<Map<String, String>> PROPERTIES = plain(
            "properties",
            "properties with their values",
            text -> {
                throw new IllegalArgumentException("not a group: " + text);
            },
            Map::toString);

    /** One of an enum's constants, written in lower case with hyphens. */
    static <E extends Enum<E>> SettingType<E> choice(Class<E> options) {
        Map<String, E> constants = new LinkedHashMap<>();
        Arrays.stream(options.getEnumConstants()).forEach(constant -> constants.put(spelled(constant), constant));
        return new SettingType<>(
                "choice",
                "one of " + String.join(", ", constants.keySet()),
                text -> Optional.ofNullable(constants.get(text))
                        .orElseThrow(() -> new IllegalArgumentException("unknown value")),
                SettingType::spelled,
                null,
                null,
                List.copyOf(constants.keySet()));
    }

    T parse(Given value) {
        return ofElements == null || value.elements() == null
                ? parser.apply(value.text().strip())
                : ofElements.apply(value.elements());
    }

    private static <T> SettingType<T> plain(
            String name, String allowed, Function<String, T> parser, Function<T, String> printer) {
        return new SettingType<>(name, allowed, parser, printer, null, null, List.of());
    }

    private static <T extends Comparable<T>> SettingType<T> ordered(
            String name, String allowed, Function<String, T> parser, Function<T, String> printer) {
        return new SettingType<>(name, allowed, parser, printer, Comparator.naturalOrder(), null, List.of());
    }

    private static String spelled(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String notEmpty(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("empty");
        }
        return text;
    }

    private static Integer parseInteger(String text) {
        return Integer.valueOf(text);
    }

    private static Boolean parseBoolean(String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("not a boolean");
        };
    }

    private static List<String> parseTexts(String text) {
        return Stream.of(text.split(",", -1))
                .map(String::strip)
                .map(SettingType::notEmpty)
                .toList();
    }

    private static List<URI> parseUris(String text) {
        return parseTexts(text).stream().map(SettingType::parseUri).toList();
    }

    private static URI parseUri(String text) {
        if (!text.contains("://")) {
            throw new ExplainedException("missing http:// or https:// before " + text);
        }
        URI uri = URI.create(text);
        if (uri.getScheme() == null || uri.getRawAuthority() == null) {
            throw new IllegalArgumentException("not a URL: " + uri);
        }
        if (uri.getHost() == null) {
            throw new ExplainedException("no valid host or port; a host name must not contain '_'");
        }
        return uri;
    }

    /** Explains why a value is not allowed. */
    static final class ExplainedException extends IllegalArgumentException {
        ExplainedException(String message) {
            super(message);
        }
    }
}
