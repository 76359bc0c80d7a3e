package io.understudy.gateway.replica;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/**
 * Random feeds against a naive model: whatever was published equals the source at its revision, then and ever after.
 *
 * <p>Tests invariants R1, R1b, R3.
 */
final class ReplicaPropertyTest {

    private static final ClusterId CLUSTER = new ClusterId(7);

    /** A step of a feed. */
    sealed interface Step {
        /** A commit of the source that the feed delivers. */
        record Write(Map<ByteString, String> values) implements Step {}

        /** Nothing inside the range: a write outside of it, then a progress mark. */
        record Progress() implements Step {}

        /**
         * Commits that the feed skips, then a snapshot in pages cut at the given keys.
         *
         * @param abandoned number of pages of a first attempt before the snapshot starts again
         */
        record Resync(List<Map<ByteString, String>> missed, List<ByteString> cuts, int abandoned) implements Step {}
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        Arbitrary<Map<ByteString, String>> values = Arbitraries.maps(Keys.any(), Arbitraries.of("", "a", "bb"))
                .ofMinSize(1)
                .ofMaxSize(6);
        Arbitrary<Step> write = values.map(Step.Write::new);
        Arbitrary<Step> resync = Combinators.combine(
                        values.list().ofMaxSize(5),
                        Keys.any().list().ofMaxSize(4),
                        Arbitraries.integers().between(0, 3))
                .as(Step.Resync::new);
        return Arbitraries.frequencyOf(
                        Tuple.of(8, write),
                        Tuple.of(1, Arbitraries.just((Step) new Step.Progress())),
                        Tuple.of(2, resync))
                .list()
                .ofMaxSize(60);
    }

    @Provide
    Arbitrary<KeyRange> ranges() {
        return Arbitraries.of(
                KeyRange.all(),
                KeyRange.prefix(Keys.key("a")),
                KeyRange.fromKey(ByteString.copyFrom(new byte[] {1})),
                new KeyRange(ByteString.EMPTY, ByteString.copyFrom(new byte[] {(byte) 0x80})));
    }

    @Property(tries = 300)
    void everyPublishedStateEqualsTheSourceAtItsRevision(
            @ForAll("ranges") KeyRange range, @ForAll("steps") List<Step> steps) {
        SourceModel source = new SourceModel();
        List<ReplicaState> published = new ArrayList<>();
        Replica replica = new Replica(range, published::add);
        snapshot(replica, source, List.of());
        for (Step step : steps) {
            take(step, replica, source);
            assertThat(replica.state().revision().value()).isEqualTo(source.revision());
        }
        Revision last = Revision.ZERO;
        for (ReplicaState state : published) {
            assertThat(entries(state)).isEqualTo(source.at(state.revision().value(), range));
            assertThat(state.revision()).isGreaterThanOrEqualTo(last);
            last = state.revision();
        }
    }

    @Property(tries = 150)
    void theWindowHoldsEveryStateAndCommitSinceItsOldestRevision(
            @ForAll("ranges") KeyRange range,
            @ForAll("steps") List<Step> steps,
            @ForAll @IntRange(min = 1, max = 12) int commits) {
        SourceModel source = new SourceModel();
        ReplicaSettings settings = new ReplicaSettings(commits, 1 << 20, 1 << 30, Duration.ofMinutes(1));
        Replica replica = new Replica(range, settings, state -> {});
        snapshot(replica, source, List.of());
        Deque<Long> held = new ArrayDeque<>(List.of(source.revision()));
        for (Step step : steps) {
            long before = source.revision();
            take(step, replica, source);
            if (step instanceof Step.Resync) {
                held.clear();
                held.add(source.revision());
            } else if (source.revision() > before
                    && !source.changes(source.revision(), range).isEmpty()) {
                keepLast(held, source.revision(), commits);
            }
            requireWindow(replica, source, held.getFirst());
            requireLog(replica, source, held.getFirst());
        }
    }

    private static void keepLast(Deque<Long> revisions, long next, int commits) {
        revisions.add(next);
        if (revisions.size() > commits + 1) {
            revisions.remove();
        }
    }

    /** Checks each state from {@code oldest} on, and that there is no older one. */
    private static void requireWindow(Replica replica, SourceModel source, long oldest) {
        KeyRange range = replica.range();
        assertThat(replica.at(new Revision(oldest - 1))).isNull();
        assertThat(replica.at(new Revision(source.revision() + 1))).isNull();
        for (long revision = oldest; revision <= source.revision(); revision++) {
            ReplicaState state = replica.at(new Revision(revision));
            assertThat(state.revision().value()).isEqualTo(revision);
            assertThat(entries(state)).isEqualTo(source.at(revision, range));
        }
    }

    /** Checks each commit's changes after {@code from}, and its previous entries where a state has them. */
    private static void requireLog(Replica replica, SourceModel source, long from) {
        KeyRange range = replica.range();
        CommitLog log = replica.log();
        assertThat(log.from()).isEqualTo(from);
        assertThat(log.head()).isEqualTo(source.revision());
        long bytes = 0;
        for (long revision = from + 1; revision <= source.revision(); revision++) {
            Revision at = new Revision(revision);
            List<Entry> changes = source.changes(revision, range).stream()
                    .map(change -> Entry.of(change, at))
                    .toList();
            LoggedCommit commit = log.after(revision - 1);
            if (changes.isEmpty()) {
                assertThat(commit == null || commit.revision().value() > revision)
                        .isTrue();
                continue;
            }
            assertThat(commit.revision().value()).isEqualTo(revision);
            assertThat(commit.changes()).isEqualTo(changes);
            bytes += commit.heapBytes();
            Map<ByteString, KeyValue> before = byKey(source.at(revision - 1, range));
            assertThat(commit.previous() != null).isEqualTo(replica.at(new Revision(revision - 1)) != null);
            for (Entry change : commit.previous() != null ? changes : List.<Entry>of()) {
                Entry previous = commit.previous().apply(change.key());
                assertThat(previous == null ? null : previous.keyValue()).isEqualTo(before.get(change.key()));
            }
        }
        assertThat(log.after(source.revision())).isNull();
        assertThat(log.bytes()).isEqualTo(bytes);
    }

    private static Map<ByteString, KeyValue> byKey(List<KeyValue> entries) {
        return entries.stream().collect(toMap(KeyValue::key, entry -> entry));
    }

    private static void take(Step step, Replica replica, SourceModel source) {
        KeyRange range = replica.range();
        if (step instanceof Step.Write write) {
            source.write(write.values(), range);
            follow(replica, source, source.revision() - 1);
        } else if (step instanceof Step.Progress) {
            replica.progress(position(source.revision()));
        } else if (step instanceof Step.Resync resync) {
            ReplicaState before = replica.state();
            resync.missed().forEach(values -> source.write(values, range));
            startOnly(replica, source, resync.cuts(), resync.abandoned());
            assertThat(replica.state()).isSameAs(before);
            snapshot(replica, source, resync.cuts());
        }
    }

    /** Delivers all commits after {@code from}, then a progress mark. */
    private static void follow(Replica replica, SourceModel source, long from) {
        for (long revision = from + 1; revision <= source.revision(); revision++) {
            List<Change> changes = source.changes(revision, replica.range());
            if (!changes.isEmpty()) {
                replica.commit(SourceModel.commit(revision, changes), position(revision));
            }
        }
        replica.progress(position(source.revision()));
    }

    private static void startOnly(Replica replica, SourceModel source, List<ByteString> cuts, int pages) {
        replica.snapshotStarted(CLUSTER, new Revision(source.revision()));
        give(replica, source, cuts, pages);
    }

    private static void snapshot(Replica replica, SourceModel source, List<ByteString> cuts) {
        startOnly(replica, source, cuts, Integer.MAX_VALUE);
        replica.snapshotCompleted(position(source.revision()));
    }

    /** Delivers up to {@code pages} pages that begin at the cuts in the range. */
    private static void give(Replica replica, SourceModel source, List<ByteString> cuts, int pages) {
        KeyRange range = replica.range();
        List<ByteString> inside = cuts.stream()
                .filter(cut -> range.contains(cut) && !cut.equals(range.from()))
                .sorted(KeyRange.KEY_ORDER)
                .distinct()
                .toList();
        ByteString from = range.from();
        for (int i = 0; i <= inside.size() && i < pages; i++) {
            KeyRange covered = new KeyRange(from, i < inside.size() ? inside.get(i) : range.to());
            replica.snapshotPage(covered, source.at(source.revision(), covered));
            from = i < inside.size() ? inside.get(i) : from;
        }
    }

    private static List<KeyValue> entries(ReplicaState state) {
        List<KeyValue> entries = new ArrayList<>();
        state.cursor(state.range()).forEachRemaining(entry -> entries.add(entry.keyValue()));
        return entries;
    }

    private static Position position(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }
}
