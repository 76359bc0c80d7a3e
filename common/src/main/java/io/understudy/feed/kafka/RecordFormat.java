package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * How a mirror's records look. The key is etcd's, the value etcd's, null for a deleted key; an empty value is a put of an
 * empty value. Everything else is in headers, as text of ASCII. Records with an empty key, which no key of etcd is, tell
 * of the records around them.
 *
 * <p>The change topic has every record, in order. The state topic has the same ones, and is compacted: the last of each
 * key is left, and the last with an empty key tells what the rest amounts to.
 *
 * <table>
 *   <caption>Headers</caption>
 *   <tr><td>{@code understudy.format}</td><td>{@code 2}; {@code 3} if values are {@linkplain Envelope envelopes}, also of
 *       deletes in the change topic</td></tr>
 *   <tr><td>{@code understudy.cluster}</td><td>the source's cluster id, hexadecimal</td></tr>
 *   <tr><td>{@code understudy.kind}</td><td>{@code commit}: one change of a commit. {@code snapshot}: a key as a snapshot
 *       found it, or a key it no longer found. With an empty key: {@code snapshot-begin}, {@code snapshot-end}, {@code
 *       complete}, see {@link TopicRecord}</td></tr>
 *   <tr><td>{@code understudy.revision}</td><td>of a put, its mod revision; of a delete, the commit's revision, or the
 *       snapshot's, by which the key was gone; with an empty key, up to which all is told</td></tr>
 *   <tr><td>{@code understudy.index}, {@code understudy.size}</td><td>of kind {@code commit}: place of the change in its
 *       commit, from 0, and number of changes in it</td></tr>
 *   <tr><td>{@code understudy.create-revision}, {@code understudy.version}, {@code understudy.lease}</td><td>of puts:
 *       as in etcd; lease 0 for none</td></tr>
 *   <tr><td>{@code understudy.previous}</td><td>of kind {@code complete}: revision of the mark before it</td></tr>
 *   <tr><td>{@code understudy.records}</td><td>of kinds {@code complete} and {@code snapshot-end}: records in the
 *       partition since the mark before</td></tr>
 *   <tr><td>{@code understudy.as-of}</td><td>of kind {@code complete}, if known: when the source had nothing beyond, in
 *       milliseconds since 1970 by the mirror's clock</td></tr>
 *   <tr><td>{@code understudy.generation}</td><td>of which {@linkplain TopicOrigin generation} it is</td></tr>
 *   <tr><td>{@code understudy.scope}</td><td>with an empty key: which keys the topics tell of, see {@link TopicScope}</td></tr>
 *   <tr><td>{@code understudy.partitions}</td><td>with an empty key: how many partitions of the change topic the mirror writes
 *       to</td></tr>
 *   <tr><td>{@code understudy.state}</td><td>of kinds {@code complete} and {@code snapshot-end} in the state topic, if known:
 *       {@link StateDigest} of the state at the mark</td></tr>
 * </table>
 *
 * <p>A stray record has no such headers, or malformed ones. Readers skip it; in the state topic its key counts as absent,
 * whether or not compaction has removed the mirror's record. A record of another format is not stray.
 *
 * <p>Invariant FK1: a record is read back as written, of any kind and with any bytes; a stray record is skipped and
 * reported with its offset.
 */
public final class RecordFormat {

    private static final String FORMAT = "understudy.format";
    private static final String CLUSTER = "understudy.cluster";
    private static final String KIND = "understudy.kind";
    private static final String REVISION = "understudy.revision";
    private static final String INDEX = "understudy.index";
    private static final String SIZE = "understudy.size";
    private static final String CREATE_REVISION = "understudy.create-revision";
    private static final String VERSION = "understudy.version";
    private static final String LEASE = "understudy.lease";
    private static final String PREVIOUS = "understudy.previous";
    private static final String RECORDS = "understudy.records";
    private static final String AS_OF = "understudy.as-of";
    private static final String GENERATION = "understudy.generation";
    private static final String SCOPE = "understudy.scope";
    private static final String PARTITIONS = "understudy.partitions";
    private static final String STATE = "understudy.state";

    private static final Pattern ANY_FORMAT = Pattern.compile("\\d{1,9}");
    private static final byte[] COMMIT = ascii("commit");
    private static final byte[] SNAPSHOT = ascii("snapshot");
    private static final byte[] SNAPSHOT_BEGIN = ascii("snapshot-begin");
    private static final byte[] SNAPSHOT_END = ascii("snapshot-end");
    private static final byte[] COMPLETE = ascii("complete");

    /** The key of what isn't about one of etcd's. */
    private static final byte[] NO_KEY = {};

    private RecordFormat() {}

    /** A mark for the state topic, of which {@code state} is known. */
    public static ProducerRecord<byte[], byte[]> write(
            String topic, TopicRecord mark, TopicOrigin origin, StateDigest state) {
        ProducerRecord<byte[], byte[]> record = write(topic, 0, mark, origin);
        record.headers().add(STATE, ascii(state.toString()));
        return record;
    }

    /** As a record for that topic. */
    public static ProducerRecord<byte[], byte[]> write(
            String topic, int partition, TopicRecord content, TopicOrigin origin) {
        ProducerRecord<byte[], byte[]> plain = write(topic, partition, content, origin.format());
        boolean isEnveloped = origin.format() == ValueFormat.DEBEZIUM && plain.value() != null && !content.isMark();
        ProducerRecord<byte[], byte[]> record =
                isEnveloped ? with(Envelope.write(content, System.currentTimeMillis()), plain) : plain;
        if (origin.generation() > 0) {
            add(record.headers(), GENERATION, origin.generation());
        }
        if (record.key().length == 0) {
            record.headers().add(SCOPE, ascii(origin.scope().toString()));
            add(record.headers(), PARTITIONS, origin.partitions());
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
        byte[] cluster = ascii(content.cluster().toString());
        if (content instanceof TopicRecord.Changed changed) {
            KeyValue entry = changed.change() instanceof Change.Put put ? put.keyValue() : null;
            ProducerRecord<byte[], byte[]> record = record(
                    topic,
                    partition,
                    format,
                    cluster,
                    COMMIT,
                    changed.revision(),
                    changed.change().key(),
                    entry);
            add(record.headers(), INDEX, changed.index());
            add(record.headers(), SIZE, changed.size());
            return record;
        } else if (content instanceof TopicRecord.Found found) {
            KeyValue entry = found.entry();
            return record(topic, partition, format, cluster, SNAPSHOT, entry.modRevision(), entry.key(), entry);
        } else if (content instanceof TopicRecord.Gone gone) {
            return record(topic, partition, format, cluster, SNAPSHOT, gone.revision(), gone.key(), null);
        } else if (content instanceof TopicRecord.SnapshotBegin begin) {
            return mark(topic, partition, format, cluster, SNAPSHOT_BEGIN, begin.revision());
        } else if (content instanceof TopicRecord.SnapshotEnd end) {
            ProducerRecord<byte[], byte[]> record =
                    mark(topic, partition, format, cluster, SNAPSHOT_END, end.revision());
            add(record.headers(), RECORDS, end.records());
            return record;
        }
        TopicRecord.Complete complete = (TopicRecord.Complete) content;
        ProducerRecord<byte[], byte[]> record = mark(topic, partition, format, cluster, COMPLETE, complete.revision());
        add(record.headers(), PREVIOUS, complete.previous().value());
        add(record.headers(), RECORDS, complete.records());
        Instant asOf = complete.asOf();
        if (asOf != null) {
            add(record.headers(), AS_OF, asOf.toEpochMilli());
        }
        return record;
    }

    /**
     * Returns the content of a record.
     *
     * @throws MalformedRecordException it is none of this format
     */
    public static TopicRecord read(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        ValueFormat format = format(record);
        try {
            TopicRecord content = content(record, format);
            long unused = generation(record);
            if (content.isMark()) {
                TopicOrigin unusedOrigin = origin(record);
                StateDigest unusedState = state(record);
            }
            return content;
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw malformed(record, e);
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

    private static ValueFormat format(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        Header header = record.headers().lastHeader(FORMAT);
        String format = header == null || header.value() == null
                ? "missing"
                : new String(header.value(), StandardCharsets.US_ASCII);
        for (ValueFormat known : ValueFormat.values()) {
            if (known.number().equals(format)) {
                return known;
            }
        }
        throw new MalformedRecordException(
                at(record) + " was not written by a mirror of this version: header " + FORMAT + " is " + format
                        + ", required: 2 or 3",
                ANY_FORMAT.matcher(format).matches());
    }

    /**
     * Digest of the state at a mark of the state topic; null if its mirror did not know it.
     *
     * @throws MalformedRecordException the header is malformed
     */
    public static @Nullable StateDigest state(ConsumerRecord<byte[], byte[]> mark) throws MalformedRecordException {
        try {
            return mark.headers().lastHeader(STATE) == null ? null : StateDigest.parse(text(mark.headers(), STATE));
        } catch (IllegalArgumentException e) {
            throw malformed(mark, e);
        }
    }

    /**
     * What a mark tells of the topics; null if an earlier version wrote it, which did not.
     *
     * @throws MalformedRecordException it can't be read
     */
    static @Nullable TopicOrigin origin(ConsumerRecord<byte[], byte[]> mark) throws MalformedRecordException {
        Headers headers = mark.headers();
        try {
            return headers.lastHeader(SCOPE) == null
                    ? null
                    : new TopicOrigin(
                            generation(mark),
                            TopicScope.parse(text(headers, SCOPE)),
                            Math.toIntExact(number(headers, PARTITIONS)),
                            format(mark));
        } catch (IllegalArgumentException | IndexOutOfBoundsException | ArithmeticException e) {
            throw malformed(mark, e);
        }
    }

    /**
     * Of which generation a record is, see {@link TopicOrigin}.
     *
     * @throws MalformedRecordException it can't be read
     */
    public static long generation(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        try {
            return record.headers().lastHeader(GENERATION) == null ? 0 : number(record.headers(), GENERATION);
        } catch (IllegalArgumentException e) {
            throw malformed(record, e);
        }
    }

    private static MalformedRecordException malformed(ConsumerRecord<byte[], byte[]> record, RuntimeException why) {
        return new MalformedRecordException(at(record) + " was not written by a mirror: " + why.getMessage(), false);
    }

    private static String at(ConsumerRecord<byte[], byte[]> record) {
        return "record at offset " + record.offset() + " of partition " + record.topic() + "-" + record.partition();
    }

    private static TopicRecord content(ConsumerRecord<byte[], byte[]> record, ValueFormat format) {
        Headers headers = record.headers();
        byte[] key = record.key();
        if (key == null) {
            throw new IllegalArgumentException("missing key");
        }
        ClusterId cluster = new ClusterId(Long.parseUnsignedLong(text(headers, CLUSTER), 16));
        Revision revision = new Revision(number(headers, REVISION));
        byte[] kind = bytes(headers, KIND);
        if (key.length == 0) {
            return mark(headers, kind, cluster, revision);
        }
        ByteString name = ByteString.copyFrom(key);
        byte[] written = record.value();
        byte[] value = written == null || format == ValueFormat.RAW ? written : Envelope.value(written);
        KeyValue entry = value == null
                ? null
                : new KeyValue(
                        name,
                        ByteString.copyFrom(value),
                        new Revision(number(headers, CREATE_REVISION)),
                        revision,
                        number(headers, VERSION),
                        number(headers, LEASE));
        if (Arrays.equals(kind, COMMIT)) {
            int index = Math.toIntExact(number(headers, INDEX));
            int size = Math.toIntExact(number(headers, SIZE));
            if (index < 0 || index >= size) {
                throw new IllegalArgumentException(
                        INDEX + " is " + index + "; must be at least 0 and less than " + SIZE + ", which is " + size);
            }
            return new TopicRecord.Changed(
                    cluster, revision, index, size, entry == null ? new Change.Delete(name) : new Change.Put(entry));
        }
        if (Arrays.equals(kind, SNAPSHOT)) {
            return entry == null
                    ? new TopicRecord.Gone(cluster, revision, name)
                    : new TopicRecord.Found(cluster, entry);
        }
        throw new IllegalArgumentException(
                KIND + " of a record with a key is " + text(headers, KIND) + "; allowed: commit, snapshot");
    }

    private static TopicRecord mark(Headers headers, byte[] kind, ClusterId cluster, Revision revision) {
        if (Arrays.equals(kind, COMPLETE)) {
            return new TopicRecord.Complete(
                    cluster,
                    revision,
                    new Revision(number(headers, PREVIOUS)),
                    number(headers, RECORDS),
                    headers.lastHeader(AS_OF) == null ? null : Instant.ofEpochMilli(number(headers, AS_OF)));
        }
        if (Arrays.equals(kind, SNAPSHOT_BEGIN)) {
            return new TopicRecord.SnapshotBegin(cluster, revision);
        }
        if (Arrays.equals(kind, SNAPSHOT_END)) {
            return new TopicRecord.SnapshotEnd(cluster, revision, number(headers, RECORDS));
        }
        throw new IllegalArgumentException(KIND + " of a record with an empty key is " + text(headers, KIND)
                + "; allowed: complete, snapshot-begin, snapshot-end");
    }

    private static ProducerRecord<byte[], byte[]> record(
            String topic,
            int partition,
            ValueFormat format,
            byte[] cluster,
            byte[] kind,
            Revision revision,
            ByteString key,
            @Nullable KeyValue entry) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic,
                partition,
                key.toByteArray(),
                entry == null ? null : entry.value().toByteArray());
        addCommon(record.headers(), format, cluster, kind, revision);
        if (entry != null) {
            add(record.headers(), CREATE_REVISION, entry.createRevision().value());
            add(record.headers(), VERSION, entry.version());
            add(record.headers(), LEASE, entry.lease());
        }
        return record;
    }

    private static ProducerRecord<byte[], byte[]> mark(
            String topic, int partition, ValueFormat format, byte[] cluster, byte[] kind, Revision revision) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, partition, NO_KEY, NO_KEY);
        addCommon(record.headers(), format, cluster, kind, revision);
        return record;
    }

    private static void addCommon(Headers headers, ValueFormat format, byte[] cluster, byte[] kind, Revision revision) {
        headers.add(FORMAT, ascii(format.number()));
        headers.add(CLUSTER, cluster);
        headers.add(KIND, kind);
        add(headers, REVISION, revision.value());
    }

    private static void add(Headers headers, String name, long number) {
        headers.add(name, ascii(Long.toString(number)));
    }

    private static long number(Headers headers, String name) {
        return Long.parseLong(text(headers, name));
    }

    private static String text(Headers headers, String name) {
        return new String(bytes(headers, name), StandardCharsets.US_ASCII);
    }

    private static byte[] bytes(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        if (header == null || header.value() == null) {
            throw new IllegalArgumentException("missing header " + name);
        }
        return header.value();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
