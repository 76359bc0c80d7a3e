package io.understudy.consumer.format;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * One record of a mirror's topics, format 2.
 *
 * <p>The record key is etcd's key; the value is etcd's value, null for a delete. A record with an empty key is a mark. All
 * else is in headers, as ASCII text; {@code docs/reference/kafka-records.md} lists them. A record without these headers is
 * stray. A record of another format is not.
 *
 * @param source the record itself, with key and value
 * @param cluster ID of the source cluster
 * @param revision of a put, its mod revision; of a mark, the revision up to which the topic is complete
 * @param index of the change in its commit, from 0; 0 unless {@link Kind#COMMIT}
 * @param size number of changes of the commit; 0 unless {@link Kind#COMMIT}
 * @param createRevision of a put, else 0
 * @param version of a put, from 1, else 0
 * @param lease of a put, 0 for none
 * @param previous revision of the previous mark; 0 unless {@link Kind#COMPLETE}
 * @param records number of records since the previous mark; 0 unless {@link Kind#COMPLETE} or {@link Kind#SNAPSHOT_END}
 * @param asOf time at which the source had nothing newer, null if unknown
 * @param generation increases when topics are written from scratch
 */
public record MirrorRecord(
        ConsumerRecord<byte[], byte[]> source,
        Kind kind,
        long cluster,
        long revision,
        int index,
        int size,
        long createRevision,
        long version,
        long lease,
        long previous,
        long records,
        @Nullable Instant asOf,
        long generation) {

    /** The values of {@link #KIND}. */
    public enum Kind {
        /** One change of a commit. */
        COMMIT,
        /** A put of a snapshot, or a delete of a key that it lacks. */
        SNAPSHOT,
        /** Mark before a snapshot. */
        SNAPSHOT_BEGIN,
        /** Mark after a snapshot. */
        SNAPSHOT_END,
        /** Mark at the end of each transaction, and at each heartbeat. */
        COMPLETE;

        private final String text = name().toLowerCase(Locale.ROOT).replace('_', '-');

        /** The header's value. */
        public byte[] bytes() {
            return text.getBytes(StandardCharsets.US_ASCII);
        }

        private boolean isMark() {
            return this != COMMIT && this != SNAPSHOT;
        }

        private static Kind parse(String text, boolean isMark) {
            for (Kind kind : values()) {
                if (kind.text.equals(text) && kind.isMark() == isMark) {
                    return kind;
                }
            }
            throw new IllegalArgumentException(
                    KIND + " of a record with " + (isMark ? "an empty key" : "a key") + " is "
                            + text + "; allowed: "
                            + (isMark ? "complete, snapshot-begin, snapshot-end" : "commit, snapshot"));
        }
    }

    public static final String FORMAT = "understudy.format";
    public static final String CLUSTER = "understudy.cluster";
    public static final String KIND = "understudy.kind";
    public static final String REVISION = "understudy.revision";
    public static final String INDEX = "understudy.index";
    public static final String SIZE = "understudy.size";
    public static final String CREATE_REVISION = "understudy.create-revision";
    public static final String VERSION = "understudy.version";
    public static final String LEASE = "understudy.lease";
    public static final String PREVIOUS = "understudy.previous";
    public static final String RECORDS = "understudy.records";
    public static final String AS_OF = "understudy.as-of";
    public static final String GENERATION = "understudy.generation";
    public static final String SCOPE = "understudy.scope";
    public static final String PARTITIONS = "understudy.partitions";
    public static final String STATE = "understudy.state";

    /** The value of {@link #FORMAT}. */
    public static final String CURRENT_FORMAT = "2";

    private static final Pattern ANY_FORMAT = Pattern.compile("\\d{1,9}");
    private static final int HEXADECIMAL = 16;

    /** Whether the record has no key of its own. */
    public boolean isMark() {
        return kind.isMark();
    }

    /** Whether the record deletes its key. */
    public boolean isDelete() {
        return !isMark() && (source.value() == null || createRevision == 0);
    }

    /** The key, for digests. */
    public ByteBuffer key() {
        return ByteBuffer.wrap(source.key());
    }

    /**
     * Reads a record of {@link #CURRENT_FORMAT}.
     *
     * @throws MalformedRecordException the record is stray, or of another format
     */
    public static MirrorRecord read(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        return read(record, Set.of(CURRENT_FORMAT));
    }

    /**
     * The same of any of {@code formats}, which differ in values only.
     *
     * @throws MalformedRecordException the record is stray, or of another format
     */
    public static MirrorRecord read(ConsumerRecord<byte[], byte[]> record, Set<String> formats)
            throws MalformedRecordException {
        requireFormat(record, formats);
        try {
            return parse(record);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw stray(record, e);
        }
    }

    private static MirrorRecord parse(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        if (record.key() == null) {
            throw new IllegalArgumentException("missing key");
        }
        Headers headers = record.headers();
        Kind kind = Kind.parse(text(headers, KIND), record.key().length == 0);
        // A delete may have a value in another format than the current one.
        boolean isPut = !kind.isMark() && record.value() != null && !isDelete(headers);
        boolean isCommit = kind == Kind.COMMIT;
        boolean isComplete = kind == Kind.COMPLETE;
        MirrorRecord read = new MirrorRecord(
                record,
                kind,
                Long.parseUnsignedLong(text(headers, CLUSTER), HEXADECIMAL),
                natural(headers, REVISION),
                isCommit ? Math.toIntExact(number(headers, INDEX)) : 0,
                isCommit ? Math.toIntExact(number(headers, SIZE)) : 0,
                isPut ? natural(headers, CREATE_REVISION) : 0,
                isPut ? number(headers, VERSION) : 0,
                isPut ? number(headers, LEASE) : 0,
                isComplete ? natural(headers, PREVIOUS) : 0,
                isComplete || kind == Kind.SNAPSHOT_END ? number(headers, RECORDS) : 0,
                isComplete && headers.lastHeader(AS_OF) != null ? Instant.ofEpochMilli(number(headers, AS_OF)) : null,
                generation(record));
        if (isCommit && (read.index < 0 || read.index >= read.size)) {
            throw new IllegalArgumentException(INDEX + " is " + read.index + "; must be at least 0 and less than "
                    + SIZE + ", which is " + read.size);
        }
        if (kind.isMark()) {
            StateDigest unused = state(record);
        }
        return read;
    }

    private static boolean isDelete(Headers headers) {
        return headers.lastHeader(CREATE_REVISION) == null
                && !text(headers, FORMAT).equals(CURRENT_FORMAT);
    }

    private static void requireFormat(ConsumerRecord<byte[], byte[]> record, Set<String> formats)
            throws MalformedRecordException {
        Header header = record.headers().lastHeader(FORMAT);
        String format = header == null || header.value() == null
                ? "missing"
                : new String(header.value(), StandardCharsets.US_ASCII);
        if (!formats.contains(format)) {
            throw new MalformedRecordException(
                    at(record) + " was not written by a mirror of this version: header " + FORMAT + " is " + format
                            + ", required: " + String.join(" or ", new TreeSet<>(formats))
                            + " (2 is raw, 3 is debezium)",
                    ANY_FORMAT.matcher(format).matches());
        }
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
            throw stray(mark, e);
        }
    }

    /**
     * Generation of a record; 0 if an earlier version wrote it.
     *
     * @throws MalformedRecordException the header is malformed
     */
    public static long generation(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        try {
            return record.headers().lastHeader(GENERATION) == null ? 0 : number(record.headers(), GENERATION);
        } catch (IllegalArgumentException e) {
            throw stray(record, e);
        }
    }

    /** The error of a stray record. */
    public static MalformedRecordException stray(ConsumerRecord<byte[], byte[]> record, RuntimeException why) {
        return new MalformedRecordException(at(record) + " was not written by a mirror: " + why.getMessage(), false);
    }

    private static String at(ConsumerRecord<byte[], byte[]> record) {
        return "record at offset " + record.offset() + " of partition " + record.topic() + "-" + record.partition();
    }

    private static long natural(Headers headers, String name) {
        long number = number(headers, name);
        if (number < 0) {
            throw new IllegalArgumentException("revision must not be negative: " + number);
        }
        return number;
    }

    /** A header that is a number. */
    public static long number(Headers headers, String name) {
        return Long.parseLong(text(headers, name));
    }

    /** A header as text. */
    public static String text(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        if (header == null || header.value() == null) {
            throw new IllegalArgumentException("missing header " + name);
        }
        return new String(header.value(), StandardCharsets.US_ASCII);
    }
}
