package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * How a change looks as a Kafka record, format 1. The record's key is etcd's key; its value is etcd's value, or null for
 * a delete: an empty value is not null. So the last record per key is the state, and compaction keeps it.
 *
 * <p>Headers are text: numbers in decimal, the cluster id in hexadecimal as etcd prints it.
 *
 * <table>
 *   <caption>Headers</caption>
 *   <tr><td>{@code understudy.format}</td><td>{@code 1}</td></tr>
 *   <tr><td>{@code understudy.cluster}</td><td>id of the source cluster</td></tr>
 *   <tr><td>{@code understudy.kind}</td><td>{@code commit}: a change as it happened, or {@code snapshot}: the state as it
 *       was found, when commits before it may be missing</td></tr>
 *   <tr><td>{@code understudy.revision}</td><td>of a put, its mod revision; of a delete, the commit's revision, or the
 *       snapshot's, by which the key was gone</td></tr>
 *   <tr><td>{@code understudy.index}, {@code understudy.size}</td><td>of kind {@code commit}: place of the change in its
 *       commit, from 0, and number of changes in it</td></tr>
 *   <tr><td>{@code understudy.create-revision}, {@code understudy.version}, {@code understudy.lease}</td><td>of puts:
 *       as in etcd; lease 0 for none</td></tr>
 * </table>
 */
final class RecordFormat {

    static final String FORMAT = "understudy.format";
    static final String CLUSTER = "understudy.cluster";
    static final String KIND = "understudy.kind";
    static final String REVISION = "understudy.revision";
    static final String INDEX = "understudy.index";
    static final String SIZE = "understudy.size";
    static final String CREATE_REVISION = "understudy.create-revision";
    static final String VERSION = "understudy.version";
    static final String LEASE = "understudy.lease";

    private static final String CURRENT_FORMAT = "1";
    private static final String COMMIT = "commit";
    private static final String SNAPSHOT = "snapshot";

    private RecordFormat() {}

    /** The change at {@code index} of the {@code size} that the commit at {@code revision} has. */
    static ProducerRecord<byte[], byte[]> ofCommit(
            String topic, ClusterId cluster, Revision revision, Change change, int index, int size) {
        KeyValue entry = change instanceof Change.Put put ? put.keyValue() : null;
        ProducerRecord<byte[], byte[]> record = record(topic, cluster, COMMIT, revision, change.key(), entry);
        add(record.headers(), INDEX, Integer.toString(index));
        add(record.headers(), SIZE, Integer.toString(size));
        return record;
    }

    /** A key as a snapshot found it. */
    static ProducerRecord<byte[], byte[]> ofSnapshot(String topic, ClusterId cluster, KeyValue entry) {
        return record(topic, cluster, SNAPSHOT, entry.modRevision(), entry.key(), entry);
    }

    /** A key that a snapshot at {@code revision} no longer found. */
    static ProducerRecord<byte[], byte[]> goneAtSnapshot(
            String topic, ClusterId cluster, Revision revision, ByteString key) {
        return record(topic, cluster, SNAPSHOT, revision, key, null);
    }

    /**
     * Revision of a record written by this class.
     *
     * @throws IllegalArgumentException the record is of another format
     */
    static long revision(Headers headers) {
        if (!CURRENT_FORMAT.equals(text(headers, FORMAT))) {
            throw new IllegalArgumentException(
                    "header " + FORMAT + " is " + text(headers, FORMAT) + ", not " + CURRENT_FORMAT);
        }
        return Long.parseLong(String.valueOf(text(headers, REVISION)));
    }

    private static ProducerRecord<byte[], byte[]> record(
            String topic, ClusterId cluster, String kind, Revision revision, ByteString key, @Nullable KeyValue entry) {
        byte @Nullable [] value = entry == null ? null : entry.value().toByteArray();
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 0, key.toByteArray(), value);
        add(record.headers(), FORMAT, CURRENT_FORMAT);
        add(record.headers(), CLUSTER, cluster.toString());
        add(record.headers(), KIND, kind);
        add(record.headers(), REVISION, revision.toString());
        if (entry != null) {
            add(record.headers(), CREATE_REVISION, entry.createRevision().toString());
            add(record.headers(), VERSION, Long.toString(entry.version()));
            add(record.headers(), LEASE, Long.toString(entry.lease()));
        }
        return record;
    }

    private static void add(Headers headers, String name, String text) {
        headers.add(name, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static @Nullable String text(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.US_ASCII);
    }
}
