package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.StateDigest;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invariant FK1. */
class RecordFormatTest {

    private static final ClusterId CLUSTER = new ClusterId(0x8000_0000_0000_00abL);
    private static final TopicOrigin ORIGIN = new TopicOrigin(1, TopicScope.all(), 4);
    private static final TopicOrigin ENVELOPED = new TopicOrigin(1, TopicScope.all(), 4, ValueFormat.DEBEZIUM);
    private static final TopicRecord.Changed DELETED =
            new TopicRecord.Changed(CLUSTER, new Revision(9), 1, 2, new Change.Delete(ByteString.copyFromUtf8("key")));

    /** Of any kind, with any bytes in key and value. */
    @Property
    void whatIsWrittenIsRead(@ForAll long seed) throws Exception {
        TopicRecord content = any(new Random(seed));
        assertThat(RecordFormat.read(received(RecordFormat.write("t", 3, content, ORIGIN))))
                .isEqualTo(content);
        ProducerRecord<byte[], byte[]> enveloped = RecordFormat.write("t", 3, content, ENVELOPED);
        assertThat(RecordFormat.read(received(enveloped))).isEqualTo(content);
        assertThat(RecordFormat.read(received(RecordFormat.ofChanges("t", 3, enveloped, content, ENVELOPED))))
                .isEqualTo(content);
    }

    @Test
    void anEnvelopeIsDebeziums() {
        KeyValue entry = new KeyValue(
                ByteString.copyFromUtf8("key"),
                ByteString.copyFromUtf8("value"),
                new Revision(3),
                new Revision(9),
                2,
                7);
        String after = "{\"key\":\"a2V5\",\"value\":\"dmFsdWU=\",\"create_revision\":3,\"mod_revision\":9,"
                + "\"version\":2,\"lease\":7}";
        TopicRecord put = new TopicRecord.Changed(CLUSTER, new Revision(9), 0, 2, new Change.Put(entry));
        String commit =
                "\"cluster\":\"80000000000000ab\",\"revision\":9,\"index\":%d,\"size\":2,\"snapshot\":\"false\"";
        assertEnvelope(put, after, commit.formatted(0), "u");
        assertEnvelope(DELETED, "null", commit.formatted(1), "d");
        String snapshot = "\"cluster\":\"80000000000000ab\",\"revision\":9,\"snapshot\":\"true\"";
        assertEnvelope(new TopicRecord.Found(CLUSTER, entry), after, snapshot, "r");
        assertEnvelope(new TopicRecord.Gone(CLUSTER, new Revision(9), entry.key()), "null", snapshot, "d");
        // In the compacted topic a delete is a tombstone.
        assertThat(RecordFormat.write("t", 0, DELETED, ENVELOPED).value()).isNull();
    }

    private static void assertEnvelope(TopicRecord content, String after, String source, String op) {
        ProducerRecord<byte[], byte[]> state = RecordFormat.write("t.state", 0, content, ENVELOPED);
        ProducerRecord<byte[], byte[]> record = RecordFormat.ofChanges("t", 0, state, content, ENVELOPED);
        assertThat(new String(record.value(), StandardCharsets.UTF_8))
                .matches(Pattern.quote(
                                "{\"before\":null,\"after\":" + after + ",\"source\":{\"connector\":\"understudy\","
                                        + source + "},\"op\":\"" + op + "\",\"ts_ms\":")
                        + "\\d+}");
        assertThat(record.headers()).isEqualTo(state.headers());
        assertThat(ValueFormat.DEBEZIUM.size(ByteString.copyFrom(record.key()), 8))
                .isGreaterThanOrEqualTo(record.key().length + record.value().length);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "{}", "[]", "{\"after\":{}}", "{\"after\":{\"value\":1}}", "{\"after\":{\"value\":\"*\"}}"})
    void aValueThatIsNoEnvelopeIsStray(String value) throws Exception {
        AtomicInteger count = new AtomicInteger();
        ProducerRecord<byte[], byte[]> written = RecordFormat.write("t", 3, DELETED, ENVELOPED);
        ProducerRecord<byte[], byte[]> other =
                new ProducerRecord<>("t", 3, written.key(), value.getBytes(StandardCharsets.UTF_8), written.headers());
        assertThat(RecordFormat.readOwn(received(other), new StrayRecords(count::incrementAndGet)))
                .isNull();
        assertThat(count).hasValue(1);
    }

    /** Whatever bytes prefixes have. */
    @Property
    void aMarkStatesTheOriginOfItsTopics(@ForAll long seed) throws Exception {
        Random random = new Random(seed);
        TopicOrigin origin = new TopicOrigin(
                random.nextLong() >>> 1,
                new TopicScope(keys(random), random.nextBoolean() ? List.of() : keys(random)),
                1 + random.nextInt(100));
        TopicRecord mark = new TopicRecord.SnapshotBegin(CLUSTER, revision(random));
        assertThat(RecordFormat.origin(received(RecordFormat.write("t", 3, mark, origin))))
                .isEqualTo(origin);
    }

    @Test
    void aMarkOfAnEarlierVersionHasNoOrigin() throws Exception {
        ProducerRecord<byte[], byte[]> mark =
                RecordFormat.write("t", 3, new TopicRecord.SnapshotBegin(CLUSTER, new Revision(9)), ORIGIN);
        mark.headers().remove("understudy.scope").remove("understudy.partitions");
        assertThat(RecordFormat.origin(received(mark))).isNull();
        assertThat(RecordFormat.read(received(mark))).isInstanceOf(TopicRecord.SnapshotBegin.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"/app/", "+%2", "+%zz", "''"})
    void anUnreadableScopeIsReportedWithItsPlace(String scope) {
        ProducerRecord<byte[], byte[]> mark =
                RecordFormat.write("t", 3, new TopicRecord.SnapshotBegin(CLUSTER, new Revision(9)), ORIGIN);
        mark.headers().remove("understudy.scope").add("understudy.scope", scope.getBytes(StandardCharsets.US_ASCII));
        assertThatThrownBy(() -> RecordFormat.origin(received(mark)))
                .isInstanceOf(MalformedRecordException.class)
                .hasMessageContaining("offset 17 of partition t-3");
    }

    @Test
    void aMarkOfTheStateTopicHasItsDigest() throws Exception {
        TopicRecord mark = new TopicRecord.SnapshotEnd(CLUSTER, new Revision(9), 1);
        StateDigest digest = StateDigest.EMPTY
                .with(ByteString.copyFromUtf8("a").asReadOnlyByteBuffer())
                .with(ByteString.copyFromUtf8("b").asReadOnlyByteBuffer())
                .without(ByteString.copyFromUtf8("a").asReadOnlyByteBuffer());
        assertThat(digest).hasToString("1:3e23e8160039594a");
        assertThat(MirrorRecord.state(received(RecordFormat.write("t", mark, ORIGIN, digest))))
                .isEqualTo(digest);
        assertThat(MirrorRecord.state(received(RecordFormat.write("t", 3, mark, ORIGIN))))
                .isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "understudy.format,",
        "understudy.format, x",
        "understudy.revision, nine",
        "understudy.generation, x",
        "understudy.scope, ''",
        "understudy.partitions, x",
        "understudy.state, 1",
        "understudy.state, 1:x"
    })
    void aStrayRecordIsSkippedAndCounted(String header, String value) throws Exception {
        AtomicInteger count = new AtomicInteger();
        StrayRecords strays = new StrayRecords(count::incrementAndGet);
        TopicRecord mark = new TopicRecord.SnapshotEnd(CLUSTER, new Revision(9), 1);
        ProducerRecord<byte[], byte[]> written = RecordFormat.write("t", mark, ORIGIN, StateDigest.EMPTY);
        assertThat(RecordFormat.readOwn(received(written), strays)).isEqualTo(mark);
        written.headers().remove(header);
        if (value != null) {
            written.headers().add(header, value.getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(RecordFormat.readOwn(received(written), strays)).isNull();
        assertThat(count).hasValue(1);
    }

    /** A reader that skipped it would lose what a newer mirror wrote. */
    @Test
    void aRecordOfAnotherFormatIsNotStray() {
        ProducerRecord<byte[], byte[]> written = RecordFormat.write("t", 3, DELETED, ORIGIN);
        written.headers().remove("understudy.format").add("understudy.format", new byte[] {'4'});
        assertThatThrownBy(() -> RecordFormat.readOwn(received(written), null))
                .isInstanceOf(MalformedRecordException.class)
                .hasMessageContaining("offset 17 of partition t-3")
                .hasMessageContaining("understudy.format is 4, required: 2 or 3");
    }

    @Test
    void anEmptyValueIsNotADelete() {
        KeyValue entry =
                new KeyValue(ByteString.copyFromUtf8("key"), ByteString.EMPTY, new Revision(3), new Revision(4), 2, 0);
        assertThat(RecordFormat.write("t", 0, new TopicRecord.Found(CLUSTER, entry), ORIGIN)
                        .value())
                .isEmpty();
        assertThat(RecordFormat.write("t", 0, DELETED, ORIGIN).value()).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "understudy.format, 1",
        "understudy.format,",
        "understudy.kind, complete",
        "understudy.kind, other",
        "understudy.revision, -1",
        "understudy.revision, nine",
        "understudy.index, 2",
        "understudy.size,",
        "understudy.cluster, xyz"
    })
    void aForeignRecordIsReportedWithItsPlace(String header, String value) {
        ProducerRecord<byte[], byte[]> written = RecordFormat.write("t", 3, DELETED, ORIGIN);
        written.headers().remove(header);
        if (value != null) {
            written.headers().add(header, value.getBytes(StandardCharsets.US_ASCII));
        }
        assertThatThrownBy(() -> RecordFormat.read(received(written)))
                .isInstanceOf(MalformedRecordException.class)
                .hasMessageContaining("offset 17 of partition t-3");
    }

    @Test
    void aRecordWithoutAKeyIsNoMirrors() {
        ProducerRecord<byte[], byte[]> written = RecordFormat.write("t", 3, DELETED, ORIGIN);
        byte[] none = null;
        ProducerRecord<byte[], byte[]> keyless = new ProducerRecord<>("t", 3, none, none, written.headers());
        assertThatThrownBy(() -> RecordFormat.read(received(keyless)))
                .isInstanceOf(MalformedRecordException.class)
                .hasMessageContaining("missing key");
    }

    private static TopicRecord any(Random random) {
        ClusterId cluster = new ClusterId(random.nextLong());
        Revision revision = revision(random);
        return switch (random.nextInt(6)) {
            case 0 -> changed(cluster, revision, random);
            case 1 -> new TopicRecord.Found(cluster, entry(revision, random));
            case 2 -> new TopicRecord.Gone(cluster, revision, key(random));
            case 3 -> new TopicRecord.SnapshotBegin(cluster, revision);
            case 4 -> new TopicRecord.SnapshotEnd(cluster, revision, random.nextInt(1 << 20));
            default ->
                new TopicRecord.Complete(
                        cluster,
                        revision,
                        revision(random),
                        random.nextInt(1 << 20),
                        random.nextBoolean() ? Instant.ofEpochMilli(random.nextLong() >>> 20) : null);
        };
    }

    private static TopicRecord changed(ClusterId cluster, Revision revision, Random random) {
        int index = random.nextInt(1 << 20);
        Change change = random.nextBoolean() ? new Change.Delete(key(random)) : new Change.Put(entry(revision, random));
        return new TopicRecord.Changed(cluster, revision, index, index + 1 + random.nextInt(9), change);
    }

    private static KeyValue entry(Revision revision, Random random) {
        return new KeyValue(
                key(random),
                bytes(random, random.nextInt(40)),
                revision(random),
                revision,
                1 + random.nextInt(1 << 20),
                random.nextLong());
    }

    private static List<ByteString> keys(Random random) {
        return Stream.generate(() -> key(random)).limit(1 + random.nextInt(3)).toList();
    }

    private static ByteString key(Random random) {
        return bytes(random, 1 + random.nextInt(40));
    }

    private static ByteString bytes(Random random, int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return ByteString.copyFrom(bytes);
    }

    private static Revision revision(Random random) {
        return new Revision(random.nextLong() >>> 1);
    }

    private static ConsumerRecord<byte[], byte[]> received(ProducerRecord<byte[], byte[]> sent) {
        return new ConsumerRecord<>(
                sent.topic(),
                sent.partition(),
                17,
                1_000,
                TimestampType.CREATE_TIME,
                0,
                0,
                sent.key(),
                sent.value(),
                new RecordHeaders(sent.headers()),
                Optional.empty());
    }
}
