package io.understudy.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.MirrorRecord.Kind;
import io.understudy.consumer.format.SectionAssembly;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;

/** Tests invariant KC1. */
final class CommitAssemblyTest {

    private static final long CLUSTER = 0xcafe;

    private final long[] offsets = new long[2];
    private final List<Event<String, String>> events = new ArrayList<>();
    private CommitAssembly<String, String> assembly = at(position(4, 4, 0, 0));

    private static Position position(long revision, long mark, Long... offsets) {
        return new Position(CLUSTER, 1, Uuid.ONE_UUID, revision, mark, List.of(offsets));
    }

    private static CommitAssembly<String, String> at(Position position) {
        var text = new StringDeserializer();
        List<SectionAssembly.Start> starts = position.offsets().stream()
                .map(offset -> SectionAssembly.Start.unknown(offset, position.mark()))
                .toList();
        return new CommitAssembly<>(
                starts, position, ConsumerOptions.of(Map.of(), "t", text, text).withLimits(10_000, 10));
    }

    private static Position position(long revision, long mark, int first, int second) {
        return position(revision, mark, Long.valueOf(first), Long.valueOf(second));
    }

    private void change(int partition, long revision, int index, int size, String key) throws RestartException {
        assembly.accept(record(partition, Kind.COMMIT, key, revision, index, size, 0, 0, 1), events);
    }

    private void mark(int partition, long revision, long previous, long records) throws RestartException {
        assembly.accept(record(partition, Kind.COMPLETE, "", revision, 0, 0, previous, records, 1), events);
    }

    private MirrorRecord record(
            int partition,
            Kind kind,
            String key,
            long revision,
            int index,
            int size,
            long previous,
            long records,
            long generation) {
        ConsumerRecord<byte[], byte[]> source = new ConsumerRecord<>(
                "t",
                partition,
                offsets[partition]++,
                revision,
                TimestampType.CREATE_TIME,
                0,
                0,
                key.getBytes(StandardCharsets.UTF_8),
                "v".getBytes(StandardCharsets.UTF_8),
                new RecordHeaders(),
                Optional.empty());
        return new MirrorRecord(
                source, kind, CLUSTER, revision, index, size, 1, 1, 0, previous, records, null, generation);
    }

    private LongStream commits() {
        return events.stream()
                .filter(event -> event instanceof Event.Commit)
                .mapToLong(event -> ((Event.Commit<String, String>) event).revision());
    }

    @Test
    void commitsOfTwoPartitionsAreWholeAndInOrder() throws RestartException {
        change(0, 5, 1, 2, "b");
        change(0, 6, 0, 1, "c");
        mark(0, 6, 4, 2);
        assertThat(events).isEmpty();
        assertThat(assembly.isAhead(0)).isTrue();
        change(1, 5, 0, 2, "a");
        mark(1, 6, 4, 1);
        assertThat(commits()).containsExactly(5L, 6L);
        assertThat(((Event.Commit<String, String>) events.get(0)).changes())
                .extracting(Change::key)
                .containsExactly("a", "b");
        assertThat(((Event.Commit<String, String>) events.get(0)).position()).isEqualTo(position(5, 4, 0, 0));
        assertThat(assembly.position()).isEqualTo(position(6, 6, 3, 2));
    }

    @Test
    void aPositionInsideATransactionResumesAfterItsCommit() throws RestartException {
        assembly = at(Position.parse(position(5, 4, 0, 0).toString()));
        commitsOf5And6();
        assertThat(commits()).containsExactly(6L);
    }

    private void commitsOf5And6() throws RestartException {
        change(0, 5, 0, 1, "b");
        change(0, 6, 0, 1, "c");
        mark(0, 6, 4, 2);
        mark(1, 6, 4, 0);
    }

    @Test
    void repeatedRecordsAreDropped() throws RestartException {
        commitsOf5And6();
        commitsOf5And6();
        assertThat(commits()).containsExactly(5L, 6L);
    }

    @Test
    void missingRecordsAndRewrittenStatesRestart() throws RestartException {
        change(0, 5, 0, 1, "a");
        assertThatThrownBy(() -> mark(0, 5, 4, 2)).isInstanceOf(RestartException.class);
        assembly = at(position(4, 4, 0, 0));
        assertThatThrownBy(() -> mark(0, 7, 6, 0)).isInstanceOf(RestartException.class);
        assembly = at(position(4, 4, 0, 0));
        assertThatThrownBy(() -> assembly.accept(record(0, Kind.SNAPSHOT_BEGIN, "", 9, 0, 0, 0, 0, 1), events))
                .isInstanceOf(RestartException.class);
        assembly = at(position(4, 4, 0, 0));
        assertThatThrownBy(() -> assembly.accept(record(0, Kind.COMPLETE, "", 1, 0, 0, 0, 0, 2), events))
                .isInstanceOf(RestartException.class);
        assembly = at(position(4, 4, 0, 0));
        change(0, 5, 0, 2, "a");
        mark(0, 5, 4, 1);
        assertThatThrownBy(() -> mark(1, 5, 4, 0))
                .isInstanceOf(RestartException.class)
                .hasMessageContaining("missing changes: 1");
    }

    @Test
    void unfinishedCommitsHaveALimit() {
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        change(0, 5, i, 100, "k" + i);
                    }
                })
                .isInstanceOf(RestartException.class)
                .hasMessageContaining("maxCommitBytes");
    }

    @Test
    void otherTextsAreNoPositions() {
        assertThatThrownBy(() -> Position.parse("2:cafe:1:x:5:4:0")).isInstanceOf(IllegalArgumentException.class);
    }
}
