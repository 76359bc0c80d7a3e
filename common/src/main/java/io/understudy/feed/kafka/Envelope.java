package io.understudy.feed.kafka;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.understudy.vocabulary.KeyValue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * A change in <a href="https://debezium.io/documentation/reference/stable/connectors/mysql.html">Debezium's
 * envelope</a>, as JSON without a schema.
 *
 * <p>{@code op} is {@code c}, {@code u} or {@code d}, and {@code r} in a snapshot. {@code before} is always null: a
 * feed does not contain it. Key and value are base64. {@code ts_ms} is the time of writing, in milliseconds since 1970.
 */
final class Envelope {

    private static final JsonFactory JSON = new JsonFactory();

    private Envelope() {}

    /** The value of a record that is not a mark. */
    static byte[] write(TopicRecord content, long nowMillis) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(bytes)) {
            KeyValue entry = content.entry();
            json.writeStartObject();
            json.writeNullField("before");
            if (entry == null) {
                json.writeNullField("after");
            } else {
                json.writeObjectFieldStart("after");
                json.writeBinaryField("key", entry.key().toByteArray());
                json.writeBinaryField("value", entry.value().toByteArray());
                json.writeNumberField("create_revision", entry.createRevision().value());
                json.writeNumberField("mod_revision", entry.modRevision().value());
                json.writeNumberField("version", entry.version());
                json.writeNumberField("lease", entry.lease());
                json.writeEndObject();
            }
            json.writeObjectFieldStart("source");
            json.writeStringField("connector", "understudy");
            json.writeStringField("cluster", content.cluster().toString());
            json.writeNumberField("revision", content.revision().value());
            if (content instanceof TopicRecord.Changed changed) {
                json.writeNumberField("index", changed.index());
                json.writeNumberField("size", changed.size());
            }
            json.writeStringField("snapshot", Boolean.toString(!(content instanceof TopicRecord.Changed)));
            json.writeEndObject();
            json.writeStringField("op", operation(content, entry));
            json.writeNumberField("ts_ms", nowMillis);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * Returns the etcd value in an envelope; null for a delete.
     *
     * @throws IllegalArgumentException it is none
     */
    static byte @Nullable [] value(byte[] envelope) {
        try (JsonParser json = JSON.createParser(envelope)) {
            JsonToken after = field(json, "after") ? json.nextToken() : null;
            if (after == JsonToken.VALUE_NULL) {
                return null;
            }
            if (after == JsonToken.START_OBJECT
                    && within(json, "value")
                    && json.nextToken() == JsonToken.VALUE_STRING) {
                return json.getBinaryValue();
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("value is not a change event: " + e.getMessage(), e);
        }
        throw new IllegalArgumentException("value is not a change event: field after or after.value is missing");
    }

    private static boolean field(JsonParser json, String name) throws IOException {
        return json.nextToken() == JsonToken.START_OBJECT && within(json, name);
    }

    /** Moves to a field of the current object. */
    private static boolean within(JsonParser json, String name) throws IOException {
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            if (json.currentName().equals(name)) {
                return true;
            }
            json.nextToken();
            json.skipChildren();
        }
        return false;
    }

    private static String operation(TopicRecord content, @Nullable KeyValue entry) {
        if (entry == null) {
            return "d";
        }
        if (content instanceof TopicRecord.Found) {
            return "r";
        }
        return entry.version() == 1 ? "c" : "u";
    }
}
