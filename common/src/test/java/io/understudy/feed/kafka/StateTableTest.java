package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.consumer.format.StateChain;
import io.understudy.consumer.format.StateDigest;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The state topic is compacted, and written on to, between any two records that are read of it.
 *
 * <p>Tests invariant FK3.
 */
class StateTableTest {

    private static final ClusterId CLUSTER = new ClusterId(7);

    /** @param record null for a stray one */
    private record Appended(
            ByteString key,
            @Nullable TopicRecord record,
            long generation,
            @Nullable StateDigest state) {}

    /** A state topic, or the copy of one, its writer and its cleaner. */
    private static final class Topic {
        private final Random random;
        private final RandomHistory history;
        private final TreeMap<Long, Appended> records = new TreeMap<>();
        final Map<Revision, List<KeyValue>> states = new HashMap<>();
        private long end;
        private Revision complete;
        private long generation;
        private StateDigest digest = StateDigest.EMPTY;

        Topic(Random random) {
            this.random = random;
            this.history = new RandomHistory(random.nextLong(), 6);
            history.next(4);
            snapshot(List.of());
        }

        private void append(TopicRecord content) {
            append(content, null);
        }

        private void append(TopicRecord content, @Nullable StateDigest state) {
            records.put(end++, new Appended(key(content), content, generation, state));
        }

        /** Of a key that is there, that is gone or that never was, or in place of the mark. */
        void stray() {
            ByteString key =
                    random.nextInt(4) == 0 ? ByteString.EMPTY : ByteString.copyFromUtf8("key-" + random.nextInt(8));
            records.put(end++, new Appended(key, null, 0, null));
        }

        /** The writer resynchronises. */
        void repair() {
            snapshot(history.state());
        }

        private void snapshot(List<KeyValue> before) {
            Revision revision = history.revision();
            append(new TopicRecord.SnapshotBegin(CLUSTER, revision));
            List<KeyValue> state = history.state();
            state.forEach(entry -> append(new TopicRecord.Found(CLUSTER, entry)));
            Set<ByteString> left = new HashSet<>();
            state.forEach(entry -> left.add(entry.key()));
            long gone = 0;
            for (KeyValue entry : before) {
                if (!left.contains(entry.key())) {
                    gone++;
                    append(new TopicRecord.Gone(CLUSTER, revision, entry.key()));
                }
            }
            digest = StateDigest.EMPTY;
            state.forEach(entry -> digest = digest.with(entry.key().asReadOnlyByteBuffer()));
            append(new TopicRecord.SnapshotEnd(CLUSTER, revision, state.size() + gone), digest);
            end++;
            complete = revision;
            states.put(revision, state);
        }

        void proceed() {
            if (random.nextInt(15) == 0) {
                // The original was created again, and no longer contains which keys are gone.
                generation++;
                history.next(1 + random.nextInt(3));
                snapshot(List.of());
                return;
            }
            if (random.nextInt(12) == 0) {
                List<KeyValue> before = history.state();
                history.next(1 + random.nextInt(3));
                snapshot(before);
                return;
            }
            long count = 0;
            Revision previous = complete;
            List<Commit> commits = history.next(random.nextInt(3));
            for (Commit commit : commits) {
                int size = commit.changes().size();
                for (int i = 0; i < size; i++) {
                    Change change = commit.changes().get(i);
                    append(new TopicRecord.Changed(CLUSTER, commit.revision(), i, size, change));
                    digest = digest.after(
                            change.key().asReadOnlyByteBuffer(),
                            change instanceof Change.Put put ? put.keyValue().version() : 0);
                    count++;
                }
                complete = commit.revision();
            }
            append(new TopicRecord.Complete(CLUSTER, complete, previous, count, null), digest);
            // What Kafka writes at the end of a transaction takes an offset.
            end++;
            states.put(complete, history.state());
        }

        void compact() {
            if (records.isEmpty()) {
                return;
            }
            long clean = random.nextLong(end + 1);
            Map<ByteString, Long> last = new HashMap<>();
            records.headMap(clean).forEach((offset, content) -> last.put(content.key(), offset));
            records.headMap(clean).entrySet().removeIf(record -> !record.getKey()
                    .equals(last.get(record.getValue().key())));
        }

        private static ByteString key(TopicRecord content) {
            if (content instanceof TopicRecord.Changed changed) {
                return changed.change().key();
            } else if (content instanceof TopicRecord.Found found) {
                return found.entry().key();
            }
            return content instanceof TopicRecord.Gone gone ? gone.key() : ByteString.EMPTY;
        }
    }

    @Property
    void whatCompactionTakesIsNoticed(@ForAll long seed) {
        isRead(seed, KeyRange.all(), false);
    }

    /** With stray records, also outside the range that is read, until the writer has restored what they replaced. */
    @Property
    void aStateWithReplacedKeysIsNotTakenForWhole(@ForAll long seed) {
        isRead(seed, new KeyRange(ByteString.copyFromUtf8("key-1"), ByteString.copyFromUtf8("key-4")), true);
    }

    private static void isRead(long seed, KeyRange range, boolean withStrays) {
        Random random = new Random(seed);
        Topic topic = new Topic(random);
        for (int i = random.nextInt(20); i > 0; i--) {
            topic.proceed();
        }
        StateTable table = new StateTable(range);
        long offset = 0;
        long end = -1;
        int writes = 60;
        while (true) {
            if (withStrays && writes > 0 && random.nextInt(4) == 0) {
                topic.stray();
            }
            if (writes == 0 && offset >= topic.end && table.chain().isAtMark() && !table.isWhole()) {
                topic.repair();
            }
            if (writes > 0 && random.nextInt(3) == 0) {
                writes--;
                topic.proceed();
            }
            if (random.nextInt(3) == 0) {
                topic.compact();
            }
            if (table.chain().needsEnd()) {
                end = topic.end;
                table.chain().endsAt(offset, end);
            }
            if (!table.chain().isRead(offset, table.isWhole())) {
                Map.Entry<Long, Appended> next = topic.records.ceilingEntry(offset);
                if (offset < end && next != null && next.getKey() >= end) {
                    // Batches that compaction has emptied are passed without a record.
                    offset = end;
                    continue;
                }
                if (next != null) {
                    give(table, next.getValue());
                }
                offset = next == null ? topic.end : next.getKey() + 1;
            } else if (step(table, offset, false) == StateChain.Step.COMPLETE) {
                break;
            }
        }
        assertThat(List.copyOf(table.entries().values()))
                .as("seed %d", seed)
                .isEqualTo(topic.states.get(table.revision()).stream()
                        .filter(entry -> range.contains(entry.key()))
                        .toList());
    }

    private static StateChain.Step step(StateTable table, long offset, boolean isLate) {
        return table.chain().step(offset, table.isWhole(), isLate);
    }

    private static void give(StateTable table, Appended content) {
        TopicRecord record = content.record();
        if (record == null) {
            table.stray(content.key());
        } else {
            table.accept(record, content.generation(), content.state());
        }
    }

    /** Marks of earlier versions have no digest: then only a stray record that is read shows what it replaced. */
    @Test
    void withoutADigestAKeyThatAStrayRecordRemovesIsMissed() {
        Revision revision = new Revision(5);
        RandomHistory history = new RandomHistory(1, 6);
        history.next(4);
        KeyValue entry = history.state().get(0);
        StateTable table = new StateTable(KeyRange.all());
        table.accept(new TopicRecord.Found(CLUSTER, entry), 1, null);
        table.accept(new TopicRecord.SnapshotEnd(CLUSTER, revision, 1), 1, null);
        table.stray(ByteString.copyFromUtf8("foreign"));
        assertThat(table.isWhole()).isTrue();
        table.stray(entry.key());
        assertThat(table.isWhole()).isFalse();
        table.accept(new TopicRecord.Gone(CLUSTER, revision, entry.key()), 1, null);
        assertThat(table.isWhole()).isTrue();
    }

    @Test
    void theKeysHaveAMemoryLimit() throws Exception {
        Revision revision = new Revision(5);
        KeyRange range = KeyRange.prefix(ByteString.copyFromUtf8("a"));
        StateTable table = new StateTable(range, 2_000);
        KeyValue large = entry("a1", 1_000);
        table.accept(new TopicRecord.Found(CLUSTER, large), 1, null);
        table.accept(new TopicRecord.Found(CLUSTER, large), 1, null);
        table.accept(new TopicRecord.Found(CLUSTER, entry("b", 5_000)), 1, null);
        table.requireFits();
        table.accept(new TopicRecord.Found(CLUSTER, entry("a2", 1_000)), 1, null);
        assertThatThrownBy(table::requireFits)
                .isInstanceOf(Unexplained.class)
                .hasMessageContainingAll("2 keys in the range and 1 others", "allowed: 2000", "-Xmx");
        table.accept(new TopicRecord.Gone(CLUSTER, revision, large.key()), 1, null);
        table.requireFits();
        table.accept(new TopicRecord.Found(CLUSTER, large), 1, null);
        table.stray(large.key());
        table.requireFits();
        table.accept(new TopicRecord.Found(CLUSTER, large), 2, null);
        table.requireFits();
    }

    private static KeyValue entry(String key, int bytes) {
        Revision revision = new Revision(5);
        return new KeyValue(
                ByteString.copyFromUtf8(key), ByteString.copyFrom(new byte[bytes]), revision, revision, 1, 0);
    }

    @Test
    void whatIsTakenTogetherWithItsMarkIsNoticed() {
        StateTable table = new StateTable(KeyRange.all());
        Revision revision = new Revision(5);
        table.accept(new TopicRecord.SnapshotBegin(CLUSTER, revision), 1, null);
        // A key is missing: its record was taken since there is a later one, which is taken, too, before it is read.
        table.accept(new TopicRecord.SnapshotEnd(CLUSTER, revision, 1), 1, null);
        passesTo(table, 2);
        table.chain().endsAt(2, 4);
        assertThat(table.chain().isAtMark()).isTrue();
        passesTo(table, 4);
        table.chain().endsAt(4, 5);
        table.accept(new TopicRecord.Complete(CLUSTER, revision, revision, 0, null), 1, null);
        assertThat(step(table, 5, false)).isEqualTo(StateChain.Step.COMPLETE);
    }

    /** Another pass is needed after the one to that offset. */
    private static void passesTo(StateTable table, long offset) {
        if (table.chain().needsEnd()) {
            table.chain().endsAt(0, offset);
        }
        assertThat(step(table, offset, false)).isEqualTo(StateChain.Step.READ);
        assertThat(table.chain().needsEnd()).isTrue();
    }

    /** A state that is complete only later than tombstones are kept is read once more, not as if reading were slow. */
    @Test
    void onlyACompleteStateIsLate() {
        StateTable table = new StateTable(KeyRange.all());
        Revision revision = new Revision(5);
        table.accept(new TopicRecord.SnapshotBegin(CLUSTER, revision), 1, null);
        passesTo(table, 1);
        table.chain().endsAt(1, 1);
        assertThat(step(table, 1, true)).isEqualTo(StateChain.Step.WAIT);
        RandomHistory history = new RandomHistory(1, 6);
        history.next(4);
        KeyValue entry = history.state().get(0);
        table.accept(new TopicRecord.Found(CLUSTER, entry), 1, null);
        table.accept(new TopicRecord.SnapshotEnd(CLUSTER, revision, 1), 1, null);
        passesTo(table, 3);
        table.chain().endsAt(3, 3);
        assertThat(step(table, 3, true)).isEqualTo(StateChain.Step.LATE);
        assertThat(step(table, 3, false)).isEqualTo(StateChain.Step.COMPLETE);
        table.stray(entry.key());
        assertThat(step(table, 3, false)).isEqualTo(StateChain.Step.WAIT);
        assertThat(step(table, 3, true)).isEqualTo(StateChain.Step.REPEAT);
    }

    /** The end of the first was taken, and the beginning of the second; together they seem to be whole. */
    @Test
    void theRecordsOfTwoSnapshotsAreNotTakenForOneThatIsWhole() {
        Revision first = new Revision(5);
        Revision second = new Revision(9);
        RandomHistory history = new RandomHistory(1, 6);
        history.next(4);
        StateTable table = new StateTable(KeyRange.all());
        table.accept(new TopicRecord.SnapshotBegin(CLUSTER, first), 1, null);
        List<KeyValue> found = history.state();
        table.accept(new TopicRecord.Found(CLUSTER, found.get(0)), 1, null);
        passesTo(table, 2);
        table.chain().endsAt(2, 4);
        table.accept(new TopicRecord.Found(CLUSTER, found.get(1)), 1, null);
        table.accept(new TopicRecord.SnapshotEnd(CLUSTER, second, 2), 1, null);
        passesTo(table, 4);
    }

    /** MirrorMaker goes back to an earlier record at any one. */
    @Property
    void whatIsCopiedAgainIsWaitedFor(@ForAll long seed) {
        Random random = new Random(seed);
        Topic topic = new Topic(random);
        for (int i = random.nextInt(20); i > 0; i--) {
            topic.proceed();
        }
        List<Appended> written = new ArrayList<>(topic.records.values());
        StateTable table = new StateTable(KeyRange.all());
        int next = 0;
        while (next < written.size()) {
            if (random.nextInt(10) == 0) {
                next = random.nextInt(next + 1);
            }
            Appended content = written.get(next++);
            give(table, content);
            if (table.chain().isAtMark()) {
                assertThat(List.copyOf(table.entries().values())).isEqualTo(topic.states.get(table.revision()));
            }
        }
    }
}
