package io.understudy.config;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Flattens one YAML file into dotted keys, with the place of each value.
 *
 * <p>Invariant CF5: any bytes in a configuration file, as in a record of Kafka, are parsed or rejected with a message.
 *
 * <p>Invariant CF6: YAML errors are reported with line and column.
 */
final class YamlFile {

    private static final Pattern PLACE = Pattern.compile("line (\\d+), column (\\d+)");

    private final Path file;
    private final List<Problem> problems;
    private final Map<String, Given> values = new LinkedHashMap<>();
    /** Keys without a value: empty groups, or values left out by mistake. */
    private final Map<String, String> empty = new LinkedHashMap<>();

    private boolean whole = true;

    private YamlFile(Path file, List<Problem> problems) {
        this.file = file;
        this.problems = problems;
    }

    /** Reads the file; YAML errors are added to {@code problems}. */
    static YamlFile read(Path file, List<Problem> problems) {
        YamlFile read = new YamlFile(file, problems);
        YAMLFactory yaml = YAMLFactory.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .build();
        try (YAMLParser parser = yaml.createParser(Files.readString(file))) {
            read.document(parser);
        } catch (JsonProcessingException e) {
            read.unread(read.place(e), "is not valid YAML: " + inOneLine(e.getOriginalMessage()));
        } catch (NoSuchFileException e) {
            read.unread(file.toString(), "no such file");
        } catch (IOException e) {
            read.unread(file.toString(), "cannot be read: " + Unreadable.why(e));
        }
        return read;
    }

    /** Whether it was read to its end. */
    boolean isWhole() {
        return whole;
    }

    private void unread(String where, String why) {
        problems.add(new Problem(where, "", why));
        whole = false;
    }

    /** Returns the last place in the message, which is that of the problem. The parser may be ahead of it or behind. */
    private String place(JsonProcessingException failure) {
        return PLACE.matcher(failure.getOriginalMessage())
                .results()
                .reduce((before, after) -> after)
                .map(found -> file + ":" + found.group(1) + ":" + found.group(2))
                .orElseGet(() -> at(failure.getLocation()));
    }

    /** The message without its indented lines, which have places and parts of the file. */
    private static String inOneLine(String message) {
        return message.lines()
                .filter(line -> !line.isBlank() && !Character.isWhitespace(line.charAt(0)))
                .collect(Collectors.joining(", "));
    }

    /** Values by key, in the order of the file. */
    Map<String, Given> values() {
        return values;
    }

    /** Keys without a value or anything below them, with their places. */
    Map<String, String> empty() {
        return empty;
    }

    private void document(YAMLParser parser) throws IOException {
        JsonToken first = parser.nextToken();
        if (first == null || first == JsonToken.VALUE_NULL) {
            return;
        }
        if (first != JsonToken.START_OBJECT) {
            unread(at(parser.currentTokenLocation()), "must be a mapping of keys to values");
            return;
        }
        mapping(parser, "");
        if (parser.nextToken() != null) {
            problems.add(new Problem(
                    at(parser.currentTokenLocation()), "", "contains a second document; only one is allowed"));
        }
    }

    private void mapping(YAMLParser parser, String prefix) throws IOException {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = prefix + parser.currentName();
            String where = at(parser.currentTokenLocation());
            JsonToken token = parser.nextToken();
            if (parser.isCurrentAlias()) {
                problems.add(new Problem(where, key, "is an alias, which is not supported; write the value instead"));
            } else if (token == JsonToken.START_OBJECT) {
                mapping(parser, key + ".");
            } else if (token == JsonToken.START_ARRAY) {
                sequence(parser, key, where);
            } else if (token == JsonToken.VALUE_NULL || parser.getText().isEmpty()) {
                empty.put(key, where);
            } else {
                put(key, new Given(parser.getText(), where, Given.Origin.FILE, null));
            }
        }
    }

    private void sequence(YAMLParser parser, String key, String where) throws IOException {
        List<String> elements = new ArrayList<>();
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            if (token.isScalarValue() && token != JsonToken.VALUE_NULL && !parser.isCurrentAlias()) {
                elements.add(parser.getText());
            } else {
                problems.add(new Problem(
                        at(parser.currentTokenLocation()), key, "contains an element that is not a scalar"));
                parser.skipChildren();
            }
        }
        put(key, new Given(String.join(",", elements), where, Given.Origin.FILE, List.copyOf(elements)));
    }

    private void put(String key, Given value) {
        Given earlier = values.putIfAbsent(key, value);
        if (earlier != null) {
            problems.add(new Problem(value.where(), key, "is already set at " + earlier.where()));
        }
    }

    private String at(JsonLocation location) {
        return location == null ? file.toString() : file + ":" + location.getLineNr() + ":" + location.getColumnNr();
    }
}
