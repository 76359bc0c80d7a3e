package io.understudy.feed.kafka;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.protobuf.ByteString;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.MirrorRecord.Kind;
import io.understudy.consumer.format.StateDigest;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The format of a mirror's records. The key is etcd's, the value etcd's, null for a deleted key; an empty value is a
 * put of an empty value. Everything else is in headers, as text of ASCII. Records with an empty key, which no key of
 * etcd is, are marks: they describe the records around them.
 *
 * <p>The change topic has every record, in order. The state topic has the same ones, and is compacted: the last of each
 * key is left, and the last mark describes the rest.
 *
 * <p>{@link MirrorRecord} reads the headers, here they are written and become a {@link TopicRecord}. Values of format 3
 * are {@linkplain Envelope envelopes}, also of deletes in the change topic.
 *
 * <p>A stray record has no such headers, or malformed ones. Readers skip it; in the state topic its key counts as
 * absent, whether or not compaction has removed the mirror's record. A record of another format is not stray.
 *
 * <p>Invariant FK1: a record is read back as written, of any kind and with any bytes; a stray record is skipped and
 * reported with its offset.
 */
public final class RecordFormat {

    /** The key of what isn't about one of etcd's. */
    private static final byte[] NO_KEY = {};

    private static final Set<String> FORMATS =
            Stream.of(ValueFormat.values()).map(ValueFormat::number).collect(Collectors.toUnmodifiableSet());

    private RecordFormat() {}

    /** A mark for the state topic, of which {@code state} is known. */
    public static ProducerRecord<byte[], byte[]> write(
            String topic, TopicRecord mark, TopicOrigin origin, StateDigest state) {
        ProducerRecord<byte[], byte[]> record = write(topic, 0, mark, origin);
        record.headers().add(MirrorRecord.STATE, ascii(state.toString()));
        return record;
    }

    /** The record of that content. */
    public static ProducerRecord<byte[], byte[]> write(
            String topic, int partition, TopicRecord content, TopicOrigin origin) {
        ProducerRecord<byte[], byte[]> plain = write(topic, partition, content, origin.format());
        boolean isEnveloped = origin.format() == ValueFormat.DEBEZIUM && plain.value() != null && !content.isMark();
        ProducerRecord<byte[], byte[]> record =
                isEnveloped ? with(Envelope.write(content, System.currentTimeMillis()), plain) : plain;
        if (origin.generation() > 0) {
            add(record.headers(), MirrorRecord.GENERATION, origin.generation());
        }
        if (record.key().length == 0) {
            record.headers().add(MirrorRecord.SCOPE, ascii(origin.scope().toString()));
            add(record.headers(), MirrorRecord.PARTITIONS, origin.partitions());
        }
        return record;
    }

    /**
     * The same record for the change topic, where a delete may have a value.
     *
     * @param state record that is written to the state topic
     */
    public static ProducerRecord<byte[], byte[]> ofChanges(
            String topic,
            int partition,
            ProducerRecord<byte[], byte[]> state,
            TopicRecord content,
            TopicOrigin origin) {
        byte[] value = origin.format() == ValueFormat.DEBEZIUM && state.value() == null
                ? Envelope.write(content, System.currentTimeMillis())
                : state.value();
        return new ProducerRecord<>(topic, partition, state.key(), value, state.headers());
    }

    private static ProducerRecord<byte[], byte[]> with(byte[] value, ProducerRecord<byte[], byte[]> record) {
        return new ProducerRecord<>(record.topic(), record.partition(), record.key(), value, record.headers());
    }

    private static ProducerRecord<byte[], byte[]> write(
            String topic, int partition, TopicRecord content, ValueFormat format) {
        ByteString key = content.key();
        KeyValue entry = content.entry();
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic,
                partition,
                key == null ? NO_KEY : key.toByteArray(),
                key == null ? NO_KEY : entry == null ? null : entry.value().toByteArray());
        Headers headers = record.headers();
        headers.add(MirrorRecord.FORMAT, ascii(format.number()));
        headers.add(MirrorRecord.CLUSTER, ascii(content.cluster().toString()));
        headers.add(MirrorRecord.KIND, kind(content).bytes());
        add(headers, MirrorRecord.REVISION, content.revision().value());
        if (entry != null) {
            add(headers, MirrorRecord.CREATE_REVISION, entry.createRevision().value());
            add(headers, MirrorRecord.VERSION, entry.version());
            add(headers, MirrorRecord.LEASE, entry.lease());
        }
        if (content instanceof TopicRecord.Changed changed) {
            add(headers, MirrorRecord.INDEX, changed.index());
            add(headers, MirrorRecord.SIZE, changed.size());
        } else if (content instanceof TopicRecord.SnapshotEnd end) {
            add(headers, MirrorRecord.RECORDS, end.records());
        } else if (content instanceof TopicRecord.Complete complete) {
            add(headers, MirrorRecord.PREVIOUS, complete.previous().value());
            add(headers, MirrorRecord.RECORDS, complete.records());
            Instant asOf = complete.asOf();
            if (asOf != null) {
                add(headers, MirrorRecord.AS_OF, asOf.toEpochMilli());
            }
        }
        return record;
    }

    private static Kind kind(TopicRecord content) {
        if (content instanceof TopicRecord.Changed) {
            return Kind.COMMIT;
        } else if (content instanceof TopicRecord.SnapshotBegin) {
            return Kind.SNAPSHOT_BEGIN;
        } else if (content instanceof TopicRecord.SnapshotEnd) {
            return Kind.SNAPSHOT_END;
        }
        return content instanceof TopicRecord.Complete ? Kind.COMPLETE : Kind.SNAPSHOT;
    }

    /**
     * Returns the content of a record.
     *
     * @throws MalformedRecordException it is none of this format
     */
    public static TopicRecord read(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        MirrorRecord read = MirrorRecord.read(record, FORMATS);
        if (read.isMark()) {
            TopicOrigin unused = origin(record);
        }
        try {
            return content(read);
        } catch (IllegalArgumentException e) {
            throw MirrorRecord.stray(record, e);
        }
    }

    /**
     * The content of a record of the mirror; null if the record is stray.
     *
     * @param strays receives a stray record; null if another read of the same record reports it
     * @throws MalformedRecordException a mirror of another format wrote it
     */
    public static @Nullable TopicRecord readOwn(ConsumerRecord<byte[], byte[]> record, @Nullable StrayRecords strays)
            throws MalformedRecordException {
        try {
            return read(record);
        } catch (MalformedRecordException e) {
            if (e.isOtherFormat()) {
                throw e;
            }
            if (strays != null) {
                strays.skipped(record, e.getMessage());
            }
            return null;
        }
    }

    private static ValueFormat format(ConsumerRecord<byte[], byte[]> record) {
        String number = MirrorRecord.text(record.headers(), MirrorRecord.FORMAT);
        return Stream.of(ValueFormat.values())
                .filter(each -> each.number().equals(number))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown format " + number));
    }

    /**
     * The origin that a mark states; null if an earlier version wrote it, without one.
     *
     * @throws MalformedRecordException it can't be read
     */
    static @Nullable TopicOrigin origin(ConsumerRecord<byte[], byte[]> mark) throws MalformedRecordException {
        Headers headers = mark.headers();
        try {
            return headers.lastHeader(MirrorRecord.SCOPE) == null
                    ? null
                    : new TopicOrigin(
                            MirrorRecord.generation(mark),
                            TopicScope.parse(MirrorRecord.text(headers, MirrorRecord.SCOPE)),
                            Math.toIntExact(MirrorRecord.number(headers, MirrorRecord.PARTITIONS)),
                            format(mark));
        } catch (IllegalArgumentException | IndexOutOfBoundsException | ArithmeticException e) {
            throw MirrorRecord.stray(mark, e);
        }
    }

    private static TopicRecord content(MirrorRecord read) {
        ClusterId cluster = new ClusterId(read.cluster());
        Revision revision = new Revision(read.revision());
        return switch (read.kind()) {
            case SNAPSHOT_BEGIN -> new TopicRecord.SnapshotBegin(cluster, revision);
            case SNAPSHOT_END -> new TopicRecord.SnapshotEnd(cluster, revision, read.records());
            case COMPLETE ->
                new TopicRecord.Complete(cluster, revision, new Revision(read.previous()), read.records(), read.asOf());
            case COMMIT, SNAPSHOT -> ofKey(read, cluster, revision);
        };
    }

    private static TopicRecord ofKey(MirrorRecord read, ClusterId cluster, Revision revision) {
        ByteString key = ByteString.copyFrom(read.source().key());
        byte[] written = read.source().value();
        byte[] value = written == null || format(read.source()) == ValueFormat.RAW ? written : Envelope.value(written);
        KeyValue entry = value == null
                ? null
                : new KeyValue(
                        key,
                        ByteString.copyFrom(value),
                        new Revision(read.createRevision()),
                        revision,
                        read.version(),
                        read.lease());
        if (read.kind() == Kind.COMMIT) {
            Change change = entry == null ? new Change.Delete(key) : new Change.Put(entry);
            return new TopicRecord.Changed(cluster, revision, read.index(), read.size(), change);
        }
        return entry == null ? new TopicRecord.Gone(cluster, revision, key) : new TopicRecord.Found(cluster, entry);
    }

    private static void add(Headers headers, String name, long number) {
        headers.add(name, ascii(Long.toString(number)));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * A change in <a href="https://debezium.io/documentation/reference/stable/connectors/mysql.html">Debezium's
     * envelope</a>, as JSON without a schema.
     *
     * <p>{@code op} is {@code c}, {@code u} or {@code d}, and {@code r} in a snapshot. {@code before} is always null: a
     * feed does not contain it. Key and value are base64. {@code ts_ms} is the time of writing, in milliseconds since 1970.
     */
    private static final class Envelope {

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
                    json.writeNumberField(
                            "create_revision", entry.createRevision().value());
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
}
