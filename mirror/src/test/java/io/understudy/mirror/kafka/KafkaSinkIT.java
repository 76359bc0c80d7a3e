package io.understudy.mirror.kafka;

import static io.understudy.mirror.kafka.SinkFixture.CLUSTER;
import static io.understudy.mirror.kafka.SinkFixture.at;
import static io.understudy.mirror.kafka.SinkFixture.commit;
import static io.understudy.mirror.kafka.SinkFixture.entry;
import static io.understudy.mirror.kafka.SinkFixture.give;
import static io.understudy.mirror.kafka.SinkFixture.key;
import static io.understudy.mirror.kafka.SinkFixture.put;
import static io.understudy.mirror.kafka.SinkFixture.range;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.config.Binder;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.fixture.TopicHistory;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * One sink at a real broker, given commits by hand: {@code read_committed} readers see each once, whole and in order.
 *
 * <p>Tests invariants M27, M28, M29.
 */
final class KafkaSinkIT {

    private static final Duration PATIENCE = SinkFixture.PATIENCE;

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    @RegisterExtension
    final SinkFixture fixture = new SinkFixture(KAFKA);

    @Test
    void commitsAreWholeAndInOrderAcrossThreePartitions() {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Random random = new Random(seed);
        fixture.options(fixture.options().withPartitions(3));
        KafkaSink sink = fixture.begun(10);
        List<Commit> given = new ArrayList<>();
        for (int revision = 11; revision <= 200; revision++) {
            Commit commit = commit(
                    revision,
                    IntStream.range(0, random.nextInt(1, 20))
                            .mapToObj(i -> "k" + i)
                            .toArray(String[]::new));
            given.add(commit);
            sink.commit(commit, at(commit));
            if (random.nextInt(10) == 0) {
                sink.settle();
            }
        }
        sink.settle();
        TopicHistory history = fixture.history();
        assertThat(history.commits()).as("seed %d", seed).isEqualTo(given);
        assertThat(history.complete()).isEqualTo(200);
        assertThat(sink.complete()).isEqualTo(new Revision(200));
    }

    @Test
    void uncommittedRecordsAreInvisibleAndWrittenByTheNextSink() {
        KafkaSink killed = fixture.begun(10);
        give(killed, commit(11, "a"));
        killed.settle();
        killed.commit(commit(12, "a", "b"), at(commit(12, "a", "b")));
        assertThat(fixture.aborts()).isZero();
        killed.close();
        assertThat(fixture.aborts()).isEqualTo(1);
        assertThat(fixture.history().complete()).isEqualTo(11);
        KafkaSink next = fixture.sink();
        assertThat(next.open()).isEqualTo(at(commit(11, "a")));
        give(next, commit(12, "a", "b"));
        next.settle();
        next.close();
        assertThat(fixture.aborts()).isEqualTo(1);
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "a"), commit(12, "a", "b")));
    }

    @Test
    void aSecondMirrorFencesTheFirst() {
        KafkaSink first = fixture.begun(10);
        KafkaSink second = fixture.sink();
        assertThat(second.open()).isEqualTo(at(10));
        assertThatThrownBy(() -> {
                    give(first, commit(11, "a"));
                    first.settle();
                })
                .isInstanceOf(SinkException.Fenced.class)
                .hasMessageContaining(
                        "another mirror writes to topic " + fixture.options().topic())
                .hasMessageContaining("understudy." + fixture.options().topic());
        give(second, commit(11, "b"));
        second.settle();
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "b")));
    }

    /** Both begin at epoch 1. */
    @Test
    void ofTwoNewMirrorsTheFirstIsFenced() {
        KafkaSink first = fixture.sink("log", "test/1");
        assertThat(first.open()).isNull();
        KafkaSink second = fixture.sink("log", "test/2");
        assertThat(second.open()).isNull();
        second.snapshotStarted(CLUSTER, new Revision(10));
        assertThatThrownBy(() -> first.snapshotStarted(CLUSTER, new Revision(10)))
                .isInstanceOf(SinkException.Fenced.class)
                .hasMessageContaining("test/2 with epoch 1");
    }

    @Test
    void resumesAfterAnAbortWithoutAnotherWriter() throws Exception {
        KafkaSink suspended = fixture.begun(10);
        suspended.commit(commit(11, "a"), at(commit(11, "a")));
        fixture.admin()
                .fenceProducers(List.of(fixture.options().transactionalId()))
                .all()
                .get();
        assertThatThrownBy(suspended::caughtUp)
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessageContaining("No other mirror has written since");
        suspended.close();
        KafkaSink next = fixture.sink();
        assertThat(next.open()).isEqualTo(at(10));
        give(next, commit(11, "a"));
        next.caughtUp();
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "a")));
    }

    @Test
    void aTransactionThatTakesTooLongGetsMoreTime() throws Exception {
        fixture.begun(10).close();
        fixture.timeout(Duration.ofSeconds(1));
        KafkaSink slow = openedInTime();
        long timeout = transaction().transactionTimeoutMs();
        slow.commit(commit(11, "a"), at(commit(11, "a")));
        await().atMost(PATIENCE).until(() -> transaction().state() == TransactionState.COMPLETE_ABORT);
        assertThatThrownBy(slow::caughtUp)
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessageContaining("timeout of " + timeout + " ms; retrying with " + 2 * timeout + " ms");
        slow.close();
        KafkaSink next = openedInTime();
        assertThat(next.complete()).isEqualTo(new Revision(10));
        assertThat(transaction().transactionTimeoutMs()).isGreaterThanOrEqualTo(2 * timeout);
    }

    /** On a busy machine the first timeout may be too short for a checkpoint. */
    private KafkaSink openedInTime() {
        while (true) {
            KafkaSink sink = fixture.sink();
            try {
                assertThat(sink.open()).isEqualTo(at(10));
                return sink;
            } catch (SinkException.Unavailable e) {
                sink.close();
            }
        }
    }

    @Test
    void takesTheLargestTimeoutThatTheBrokerAccepts() throws Exception {
        fixture.timeout(Duration.ofMinutes(10));
        fixture.begun(10).close();
        var unused = fixture.timeout().exceeded("writing", 1, 1, new IllegalStateException("aborted"));
        assertThat(fixture.timeout().current()).isEqualTo(Duration.ofMinutes(20));
        assertThat(fixture.sink().open()).isEqualTo(at(10));
        assertThat(transaction().transactionTimeoutMs()).isEqualTo(900_000);
        fixture.timeout(Duration.ofMinutes(20));
        assertThatThrownBy(() -> fixture.sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("transactionTimeout of 1200000 ms exceeds transaction.max.timeout.ms");
    }

    private TransactionDescription transaction() throws Exception {
        String id = fixture.options().transactionalId();
        return fixture.admin().describeTransactions(List.of(id)).all().get().get(id);
    }

    @Test
    void closeAbortsTheOpenTransactionSoThatReadersContinue() throws Exception {
        KafkaSink sink = fixture.begun(10);
        sink.commit(commit(11, "a"), at(commit(11, "a")));
        TopicPartition partition = new TopicPartition(fixture.options().topic(), 0);
        await().atMost(PATIENCE)
                .until(() -> end(partition, IsolationLevel.READ_UNCOMMITTED)
                        > end(partition, IsolationLevel.READ_COMMITTED));
        sink.close();
        await().atMost(Duration.ofSeconds(10))
                .until(() -> end(partition, IsolationLevel.READ_UNCOMMITTED)
                        == end(partition, IsolationLevel.READ_COMMITTED));
        assertThat(fixture.history().complete()).isEqualTo(10);
    }

    private long end(TopicPartition partition, IsolationLevel isolation) throws Exception {
        return fixture.admin()
                .listOffsets(Map.of(partition, OffsetSpec.latest()), new ListOffsetsOptions(isolation))
                .partitionResult(partition)
                .get()
                .offset();
    }

    @Test
    @Tag("volume")
    void aCommitOfManyDeletesIsOneTransaction() {
        KafkaSink sink = fixture.begun(10);
        List<Change> deletes = IntStream.range(0, 200_000)
                .<Change>mapToObj(i -> new Change.Delete(key("/many/" + i)))
                .toList();
        Commit commit = new Commit(new Revision(11), deletes);
        give(sink, commit);
        sink.settle();
        TopicHistory history = fixture.history();
        assertThat(history.commits()).hasSize(1);
        assertThat(history.commits().get(0).changes()).hasSize(200_000);
        assertThat(history.marks()).hasSize(3);
    }

    @Test
    void rejectsAnOversizedValueBeforeItsCommitIsWritten() {
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "before"));
        Commit large =
                new Commit(new Revision(12), List.of(put(12, "small", "1"), put(12, "large", "x".repeat(2 << 20))));
        assertThatThrownBy(() -> give(sink, large))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("key \"large\" at revision 12")
                .hasMessageContaining(
                        "max.message.bytes of " + fixture.options().topic())
                .hasMessageContaining("is 2097152");
        sink.close();
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "before")));
    }

    @Test
    void onlyKeysOfTheScopeAreWritten() {
        fixture.scope(MirrorScope.prefix("/in/"));
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "/in/a", "/out", "/in/b"));
        give(sink, commit(12, "/out"));
        give(sink, commit(13, "/in/a"));
        sink.settle();
        TopicHistory history = fixture.history();
        assertThat(history.commits()).isEqualTo(List.of(commit(11, "/in/a", "/in/b"), commit(13, "/in/a")));
        assertThat(history.complete()).isEqualTo(13);
    }

    @Test
    void anInterruptedSnapshotIsContinued() {
        KafkaSink killed = fixture.sink();
        killed.open();
        killed.snapshotStarted(CLUSTER, new Revision(10));
        killed.snapshotPage(range("a", "m"), List.of(entry(5, "a"), entry(6, "b")));
        killed.settle();
        killed.close();
        KafkaSink next = fixture.sink();
        assertThat(next.open()).isNull();
        next.snapshotStarted(CLUSTER, new Revision(20));
        next.snapshotPage(KeyRange.all(), List.of(entry(6, "b"), entry(15, "c")));
        next.snapshotCompleted(at(20));
        assertThat(fixture.history().state().keySet()).containsExactly(key("b"), key("c"));
        assertThat(fixture.state()).containsOnlyKeys("b", "c");
        assertThat(fixture.history().marks())
                .extracting(mark -> mark.getClass().getSimpleName())
                .containsExactly("SnapshotBegin", "SnapshotBegin", "SnapshotEnd");
        assertThat(fixture.written())
                .as("each entry once, then the removed key")
                .containsExactly("a", "b", "c", "a");
    }

    @Test
    void writesAnEntryOfAnotherHistoryAtTheSameRevision() {
        KafkaSink sink = fixture.begun(10);
        // A gap: what is merged is of a source that was restored, and has passed the mirror's revision since.
        sink.snapshotStarted(CLUSTER, new Revision(20));
        Revision revision = new Revision(9);
        KeyValue other = new KeyValue(key("first"), ByteString.copyFromUtf8("other"), new Revision(1), revision, 1, 0);
        sink.snapshotPage(KeyRange.all(), List.of(other));
        sink.snapshotCompleted(at(20));
        assertThat(fixture.state()).containsOnly(Map.entry("first", "other"));
    }

    @Test
    void aSnapshotIsMergedByPartsOfTheKeysThatMemoryHolds() {
        fixture.options(Binder.with(fixture.options(), "maxMergeKeys", 2));
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "a", "b", "c", "d", "f", "g", "x", "y"));
        sink.settle();
        int before = fixture.written().size();
        // A gap: "b" and "y" were deleted, "c" and "z" written. The keys between "e" and "m" are beside the scope.
        sink.snapshotStarted(CLUSTER, new Revision(20));
        sink.snapshotPage(range("a", "e"), List.of(entry(11, "a"), entry(15, "c"), entry(11, "d")));
        sink.snapshotPage(range("m", null), List.of(entry(11, "x"), entry(16, "z")));
        sink.snapshotCompleted(at(20));
        assertThat(fixture.state()).containsOnlyKeys("a", "c", "d", "x", "z");
        List<String> written = fixture.written();
        assertThat(written.subList(before, written.size()))
                .containsExactlyInAnyOrder("b", "c", "f", "first", "g", "y", "z");
    }

    @Test
    void progressWithoutChangesIsRecorded() {
        KafkaSink sink = fixture.begun(10);
        Instant asOf = Instant.ofEpochMilli(1_700_000_000_123L);
        sink.asOf(asOf);
        await().atMost(PATIENCE).until(() -> {
            sink.settle();
            return fixture.history().marks().size() == 3;
        });
        assertThat(fixture.history().marks().get(2))
                .isEqualTo(new TopicRecord.Complete(CLUSTER, new Revision(10), new Revision(10), 0, asOf));
        sink.progress(at(15));
        await().atMost(PATIENCE).until(() -> {
            sink.settle();
            return fixture.history().complete() == 15;
        });
        sink.close();
        assertThat(fixture.sink().open()).isEqualTo(at(15));
    }
}
