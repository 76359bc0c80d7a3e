package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.protobuf.ByteString;
import io.understudy.consumer.format.HoleException;
import io.understudy.consumer.format.SectionAssembly;
import io.understudy.feed.FeedEndedException.CommitTooLarge;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Tests invariant FK2. */
class BatchAssemblyTest {

    private static final ClusterId CLUSTER = new ClusterId(7);
    private static final KeyRange SOME_KEYS =
            new KeyRange(ByteString.copyFromUtf8("key-2"), ByteString.copyFromUtf8("key-6"));

    /** A record of one partition, and when it was written. */
    private record Written(TopicRecord content, long millis) {}

    /** What a mirror wrote: a snapshot, then transactions and heartbeats. */
    private static final class Topic {
        final List<List<Written>> partitions = new ArrayList<>();
        final List<Commit> commits = new ArrayList<>();
        final Revision start;
        final long startMillis;
        final int startIndex = 2;
        private Revision complete;
        private long clock = 1_000;

        Topic(Random random, int count) {
            RandomHistory history = new RandomHistory(random.nextLong(), 9);
            history.next(3);
            start = history.revision();
            complete = start;
            for (int i = 0; i < count; i++) {
                partitions.add(new ArrayList<>());
            }
            toAll(new TopicRecord.SnapshotBegin(CLUSTER, start));
            toAll(new TopicRecord.SnapshotEnd(CLUSTER, start, 0));
            startMillis = clock;
            int transactions = 1 + random.nextInt(12);
            for (int i = 0; i < transactions; i++) {
                transaction(random.nextInt(4) == 0 ? List.of() : history.next(1 + random.nextInt(4)), random);
            }
        }

        private void transaction(List<Commit> written, Random random) {
            clock++;
            long[] records = new long[partitions.size()];
            Revision revision = complete;
            for (Commit commit : written) {
                commits.add(commit);
                revision = commit.revision();
                for (int i = 0; i < commit.changes().size(); i++) {
                    Change change = commit.changes().get(i);
                    int partition = Math.floorMod(change.key().hashCode(), partitions.size());
                    records[partition]++;
                    partitions
                            .get(partition)
                            .add(new Written(
                                    new TopicRecord.Changed(
                                            CLUSTER,
                                            revision,
                                            i,
                                            commit.changes().size(),
                                            change),
                                    clock));
                }
            }
            Instant asOf = random.nextBoolean() ? Instant.ofEpochMilli(clock) : null;
            for (int i = 0; i < records.length; i++) {
                partitions
                        .get(i)
                        .add(new Written(
                                new TopicRecord.Complete(CLUSTER, revision, complete, records[i], asOf), clock));
            }
            complete = revision;
        }

        private void toAll(TopicRecord mark) {
            partitions.forEach(partition -> partition.add(new Written(mark, clock)));
        }

        List<SectionAssembly.Start> starts() {
            return partitions.stream()
                    .map(partition -> new SectionAssembly.Start(startIndex, start.value(), startMillis))
                    .toList();
        }

        List<Commit> within(KeyRange range) {
            List<Commit> inside = new ArrayList<>();
            for (Commit commit : commits) {
                List<Change> changes = commit.changes().stream()
                        .filter(change -> range.contains(change.key()))
                        .toList();
                if (!changes.isEmpty()) {
                    inside.add(new Commit(commit.revision(), changes));
                }
            }
            return inside;
        }
    }

    /** Reads the partitions in any order; copies may go back to any earlier record at any one. */
    private static final class Reader {
        final BatchAssembly assembly;
        final List<Commit> given = new ArrayList<>();
        final List<Instant> times = new ArrayList<>();
        private Revision marked = Revision.ZERO;

        Reader(Topic topic, KeyRange range) {
            assembly = new BatchAssembly(topic.starts(), range, 1 << 20);
        }

        void readAll(List<List<Written>> partitions, int startIndex, Random random) throws Exception {
            int[] next = new int[partitions.size()];
            Arrays.fill(next, startIndex);
            List<Integer> unfinished = new ArrayList<>();
            for (int i = 0; i < next.length; i++) {
                unfinished.add(i);
            }
            while (!unfinished.isEmpty()) {
                int partition = unfinished.get(random.nextInt(unfinished.size()));
                List<Written> records = partitions.get(partition);
                if (next[partition] >= records.size()) {
                    unfinished.remove((Integer) partition);
                    continue;
                }
                if (random.nextInt(8) == 0) {
                    next[partition] = random.nextInt(next[partition] + 1);
                }
                Written record = records.get(next[partition]++);
                accept(partition, record);
            }
        }

        private void accept(int partition, Written record) throws Exception {
            assembly.accept(partition, record.content(), record.millis());
            for (BatchAssembly.Batch batch = assembly.next(); batch != null; batch = assembly.next()) {
                assertThat(batch.revision()).isGreaterThan(marked);
                marked = batch.revision();
                given.addAll(batch.commits());
                addTime(batch.asOf());
            }
            addTime(assembly.takeCurrent());
        }

        private void addTime(Instant asOf) {
            if (asOf != null) {
                times.add(asOf);
            }
        }
    }

    /** However often a copy begins again, and whichever partition is read first. */
    @Property
    void commitsAreThoseThatWereWritten(@ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int partitions)
            throws Exception {
        Random random = new Random(seed);
        Topic topic = new Topic(random, partitions);
        KeyRange range = random.nextBoolean() ? KeyRange.all() : SOME_KEYS;
        Reader reader = new Reader(topic, range);
        reader.readAll(topic.partitions, topic.startIndex, random);
        assertThat(reader.given).isEqualTo(topic.within(range));
        assertThat(reader.assembly.complete()).isEqualTo(topic.complete);
    }

    @Property
    void nothingIsGivenAfterAHole(@ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int partitions) {
        Random random = new Random(seed);
        Topic topic = new Topic(random, partitions);
        int partition = random.nextInt(partitions);
        List<Written> records = topic.partitions.get(partition);
        int lost = topic.startIndex + random.nextInt(records.size() - topic.startIndex);
        TopicRecord missing = records.remove(lost).content();
        Revision before = topic.start;
        for (Written record : records.subList(0, lost)) {
            if (record.content() instanceof TopicRecord.Complete mark) {
                before = mark.revision();
            }
        }
        Revision lastBefore = before;
        boolean isHeartbeat =
                missing instanceof TopicRecord.Complete mark && mark.revision().equals(lastBefore);
        boolean shows = !isHeartbeat
                && records.subList(lost, records.size()).stream()
                        .anyMatch(record -> record.content() instanceof TopicRecord.Complete mark
                                && mark.revision().isAfter(lastBefore));
        List<Commit> expected = isHeartbeat
                ? topic.commits
                : topic.commits.stream()
                        .filter(commit -> !commit.revision().isAfter(lastBefore))
                        .toList();
        Reader reader = new Reader(topic, KeyRange.all());
        if (shows) {
            assertThatThrownBy(() -> reader.readAll(topic.partitions, topic.startIndex, random))
                    .isInstanceOf(HoleException.class);
            assertThat(reader.given).isEqualTo(expected.subList(0, Math.min(expected.size(), reader.given.size())));
        } else {
            assertThat(catchThrowable(() -> reader.readAll(topic.partitions, topic.startIndex, random)))
                    .isNull();
            assertThat(reader.given).isEqualTo(expected);
        }
    }

    @Test
    void aSnapshotAfterWhatIsKnownIsAHole() {
        BatchAssembly assembly = at(5);
        assertThatThrownBy(() -> assembly.accept(0, new TopicRecord.SnapshotBegin(CLUSTER, new Revision(9)), 2_000))
                .isInstanceOf(HoleException.class)
                .hasMessageContaining("revision 9");
    }

    @Test
    void aSnapshotOfTheSameRevisionWrittenSinceIsAHole() {
        BatchAssembly assembly = at(5);
        assertThatThrownBy(() -> assembly.accept(0, new TopicRecord.SnapshotBegin(CLUSTER, new Revision(5)), 2_000))
                .isInstanceOf(HoleException.class);
    }

    @Test
    void aSnapshotCopiedAgainIsNone() throws Exception {
        BatchAssembly assembly = at(5);
        assembly.accept(0, new TopicRecord.SnapshotBegin(CLUSTER, new Revision(5)), 900);
        assertThat(assembly.next()).isNull();
    }

    @Test
    void heartbeatsReportSinceWhenNothingIsNew() throws Exception {
        BatchAssembly assembly = at(5);
        Instant time = Instant.ofEpochMilli(1_234);
        assembly.accept(0, new TopicRecord.Complete(CLUSTER, new Revision(5), new Revision(5), 0, time), 2_000);
        assertThat(assembly.next()).isNull();
        assertThat(assembly.takeCurrent()).isEqualTo(time);
        assertThat(assembly.takeCurrent()).isNull();
    }

    @Test
    void whatIsHeldIsLimited() throws Exception {
        BatchAssembly assembly = at(5);
        ByteString large = ByteString.copyFrom(new byte[700]);
        assembly.accept(0, new TopicRecord.Changed(CLUSTER, new Revision(6), 0, 2, new Change.Delete(large)), 2_000);
        ByteString other = large.concat(ByteString.copyFromUtf8("x"));
        assertThatThrownBy(() -> assembly.accept(
                        0, new TopicRecord.Changed(CLUSTER, new Revision(6), 1, 2, new Change.Delete(other)), 2_000))
                .isInstanceOf(CommitTooLarge.class)
                .hasMessageContaining("revision 6")
                .hasMessageContaining("...; allowed: 1000 bytes (source.kafka.maxCommitBytes)");
    }

    @Test
    void manySmallChangesAreHeldNoMoreThanFewLargeOnes() throws Exception {
        BatchAssembly assembly = at(5);
        for (int i = 0; i < 7; i++) {
            assembly.accept(0, deleted(i), 2_000);
        }
        assertThatThrownBy(() -> assembly.accept(0, deleted(7), 2_000)).isInstanceOf(CommitTooLarge.class);
    }

    private static TopicRecord deleted(int index) {
        ByteString key = ByteString.copyFromUtf8("k" + index);
        return new TopicRecord.Changed(CLUSTER, new Revision(6), index, 8, new Change.Delete(key));
    }

    private static BatchAssembly at(long revision) {
        return new BatchAssembly(List.of(new SectionAssembly.Start(0, revision, 1_000)), KeyRange.all(), 1_000);
    }
}
