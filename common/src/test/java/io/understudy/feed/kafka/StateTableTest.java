package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
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
import org.junit.jupiter.api.Test;

/**
 * The state topic is compacted, and written on to, between any two records that are read of it.
 *
 * <p>Tests invariant FK3.
 */
class StateTableTest {

    private static final ClusterId CLUSTER = new ClusterId(7);

    private record Told(TopicRecord record, long generation) {}

    /** A state topic, or the copy of one, its writer and its cleaner. */
    private static final class Topic {
        private final Random random;
        private final RandomHistory history;
        private final TreeMap<Long, Told> records = new TreeMap<>();
        final Map<Revision, List<KeyValue>> states = new HashMap<>();
        private long end;
        private Revision complete;
        private long generation;

        Topic(Random random) {
            this.random = random;
            this.history = new RandomHistory(random.nextLong(), 6);
            history.next(4);
            snapshot(List.of());
        }

        private void append(TopicRecord told) {
            records.put(end++, new Told(told, generation));
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
            append(new TopicRecord.SnapshotEnd(CLUSTER, revision, state.size() + gone));
            end++;
            complete = revision;
            states.put(revision, state);
        }

        void goOn() {
            if (random.nextInt(15) == 0) {
                // The original was made anew, and no longer tells which keys are gone.
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
                    count++;
                }
                complete = commit.revision();
            }
            append(new TopicRecord.Complete(CLUSTER, complete, previous, count, null));
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
            records.headMap(clean).forEach((offset, told) -> last.put(key(told.record()), offset));
            records.headMap(clean).entrySet().removeIf(record -> !record.getKey()
                    .equals(last.get(key(record.getValue().record()))));
        }

        private static ByteString key(TopicRecord told) {
            if (told instanceof TopicRecord.Changed changed) {
                return changed.change().key();
            } else if (told instanceof TopicRecord.Found found) {
                return found.entry().key();
            }
            return told instanceof TopicRecord.Gone gone ? gone.key() : ByteString.EMPTY;
        }
    }

    @Property
    void whatCompactionTakesIsNoticed(@ForAll long seed) {
        Random random = new Random(seed);
        Topic topic = new Topic(random);
        for (int i = random.nextInt(20); i > 0; i--) {
            topic.goOn();
        }
        StateTable table = new StateTable(KeyRange.all());
        long offset = 0;
        long end = topic.end;
        boolean passed = false;
        int writes = 60;
        while (true) {
            if (writes > 0 && random.nextInt(3) == 0) {
                writes--;
                topic.goOn();
            }
            if (random.nextInt(3) == 0) {
                topic.compact();
            }
            if (offset < end || (passed && !table.isAtMark())) {
                Map.Entry<Long, Told> next = topic.records.ceilingEntry(offset);
                if (offset < end && next != null && next.getKey() >= end) {
                    // Batches that compaction has emptied are passed without a record.
                    offset = end;
                    continue;
                }
                if (next != null) {
                    table.accept(next.getValue().record(), next.getValue().generation());
                }
                offset = next == null ? topic.end : next.getKey() + 1;
            } else if (!passed || !table.isUnbroken()) {
                passed = true;
                table.beginVerified();
                end = topic.end;
                if (offset < end) {
                    table.expectMark();
                }
            } else {
                break;
            }
        }
        assertThat(List.copyOf(table.entries().values())).isEqualTo(topic.states.get(table.revision()));
    }

    @Test
    void whatIsTakenTogetherWithItsMarkIsNoticed() {
        StateTable table = new StateTable(KeyRange.all());
        Revision revision = new Revision(5);
        table.accept(new TopicRecord.SnapshotBegin(CLUSTER, revision), 1);
        // A key is missing: its record was taken since there is a later one, which is taken, too, before it is read.
        table.accept(new TopicRecord.SnapshotEnd(CLUSTER, revision, 1), 1);
        table.beginVerified();
        assertThat(table.isUnbroken()).isTrue();
        table.expectMark();
        assertThat(table.isAtMark()).isTrue();
        assertThat(table.isUnbroken()).isFalse();
        table.beginVerified();
        table.expectMark();
        table.accept(new TopicRecord.Complete(CLUSTER, revision, revision, 0, null), 1);
        assertThat(table.isUnbroken()).isTrue();
    }

    /** The end of the first was taken, and the beginning of the second; together they seem to be whole. */
    @Test
    void theRecordsOfTwoSnapshotsAreNotTakenForOneThatIsWhole() {
        Revision first = new Revision(5);
        Revision second = new Revision(9);
        RandomHistory history = new RandomHistory(1, 6);
        history.next(4);
        StateTable table = new StateTable(KeyRange.all());
        table.accept(new TopicRecord.SnapshotBegin(CLUSTER, first), 1);
        List<KeyValue> found = history.state();
        table.accept(new TopicRecord.Found(CLUSTER, found.get(0)), 1);
        table.beginVerified();
        table.accept(new TopicRecord.Found(CLUSTER, found.get(1)), 1);
        table.accept(new TopicRecord.SnapshotEnd(CLUSTER, second, 2), 1);

        assertThat(table.isUnbroken()).isFalse();
    }

    /** MirrorMaker goes back to an earlier record at any one. */
    @Property
    void whatIsCopiedAgainIsWaitedFor(@ForAll long seed) {
        Random random = new Random(seed);
        Topic topic = new Topic(random);
        for (int i = random.nextInt(20); i > 0; i--) {
            topic.goOn();
        }
        List<Told> written = new ArrayList<>(topic.records.values());
        StateTable table = new StateTable(KeyRange.all());
        int next = 0;
        while (next < written.size()) {
            if (random.nextInt(10) == 0) {
                next = random.nextInt(next + 1);
            }
            Told told = written.get(next++);
            table.accept(told.record(), told.generation());
            if (table.isAtMark()) {
                assertThat(List.copyOf(table.entries().values())).isEqualTo(topic.states.get(table.revision()));
            }
        }
    }
}
