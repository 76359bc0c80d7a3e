package io.understudy.mirror.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.Merge.SortedEntries;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The state of a feed is that of the requested revision, not a later one already delivered. */
final class FedStateTest {

    private static final ClusterId CLUSTER = new ClusterId(7);
    private static final MirrorScope RENAMED =
            new MirrorScope(List.of(bytes("/w/")), List.of(bytes("/w/skip/")), bytes("/w/"), bytes("/copy/"));

    private final Deque<Consumer<FeedConsumer>> events = new ArrayDeque<>();
    /** Reads of the state before the first event. */
    private int reads;

    private boolean silent;

    @Test
    void holdsTheSnapshotsKeysUnderTheTargetsNames() throws Exception {
        snapshot(5, entry("/w/a", 3), entry("/w/b", 4), entry("/w/skip/c", 5));
        try (FedState state = open()) {
            assertThat(state.cluster()).isEqualTo(CLUSTER);
            assertThat(state.revision()).isEqualTo(new Revision(5));
            assertThat(keys(state)).containsExactly("/copy/a@3", "/copy/b@4");
        }
    }

    @Test
    void advancesToTheRequestedRevisionNotToALaterCommit() throws Exception {
        snapshot(5, entry("/w/a", 3), entry("/w/b", 4));
        commit(6, new Change.Delete(bytes("/w/a")), new Change.Put(entry("/w/c", 6)));
        commit(9, new Change.Delete(bytes("/w/b")));
        try (FedState state = open()) {
            state.advanceTo(new Revision(8));
            assertThat(keys(state)).containsExactly("/copy/b@4", "/copy/c@6");
            state.advanceTo(new Revision(9));
            assertThat(keys(state)).containsExactly("/copy/c@6");
        }
    }

    @Test
    void advancesByAProgressMarkWithoutChanges() throws Exception {
        snapshot(5, entry("/w/a", 3));
        events.add(consumer -> consumer.progress(position(8)));
        try (FedState state = open()) {
            state.advanceTo(new Revision(7));
            assertThat(keys(state)).containsExactly("/copy/a@3");
        }
    }

    @Test
    void aFeedThatEndsMakesTheSidesIncomparable() {
        assertThatThrownBy(this::open)
                .isInstanceOfSatisfying(
                        IncomparableException.class,
                        e -> assertThat(e.result().why()).isEqualTo(NotComparable.Why.UNAVAILABLE))
                .hasMessage("topic: no more");
    }

    @Test
    void aStateMayTakeAnyTimeWhileItIsRead() throws Exception {
        reads = 5;
        snapshot(5, entry("/w/a", 3));
        try (FedState state = FedState.open("topic", RENAMED, (range, kind, from) -> new Scripted(), Duration.ZERO)) {
            assertThat(keys(state)).containsExactly("/copy/a@3");
        }
    }

    @Test
    void aFeedWithoutProgressIsUnavailable() {
        silent = true;
        assertThatThrownBy(() -> FedState.open("topic", RENAMED, (range, kind, from) -> new Scripted(), Duration.ZERO))
                .isInstanceOf(IncomparableException.class)
                .hasMessageContaining("the topic sent nothing for 0 s");
    }

    /** Such as of topics that were written from scratch, with lower revisions. */
    @Test
    void aFeedThatOnlyRepeatsItsRevisionIsUnavailable() throws Exception {
        snapshot(5, entry("/w/a", 3));
        events.add(consumer -> consumer.progress(position(5)));
        try (FedState state = FedState.open("topic", RENAMED, (range, kind, from) -> new Scripted(), Duration.ZERO)) {
            assertThatThrownBy(() -> state.advanceTo(new Revision(9)))
                    .isInstanceOf(IncomparableException.class)
                    .hasMessageContaining("the topic stays at revision 5, before 9");
        }
    }

    private FedState open() throws Exception {
        return FedState.open("topic", RENAMED, (range, kind, from) -> new Scripted());
    }

    private void snapshot(long revision, KeyValue... entries) {
        events.add(consumer -> consumer.snapshotStarted(CLUSTER, new Revision(revision)));
        events.add(consumer -> consumer.snapshotPage(KeyRange.all(), List.of(entries)));
        events.add(consumer -> consumer.snapshotCompleted(position(revision)));
    }

    private void commit(long revision, Change... changes) {
        events.add(
                consumer -> consumer.commit(new Commit(new Revision(revision), List.of(changes)), position(revision)));
    }

    private static Position position(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }

    private static KeyValue entry(String key, long revision) {
        return new KeyValue(bytes(key), bytes("v"), new Revision(revision), new Revision(revision), 1, 0);
    }

    private static List<String> keys(FedState state) throws Exception {
        List<String> keys = new ArrayList<>();
        SortedEntries entries = state.entries();
        for (KeyValue entry = entries.next(); entry != null; entry = entries.next()) {
            keys.add(entry.key().toStringUtf8() + "@" + entry.modRevision());
        }
        return keys;
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }

    private final class Scripted implements Feed {

        private long read;

        @Override
        public long stateRead() {
            return read;
        }

        @Override
        public boolean poll(Duration timeout, FeedConsumer consumer) throws FeedEndedException {
            if (silent || read < reads) {
                read += silent ? 0 : 1;
                return false;
            }
            Consumer<FeedConsumer> next = events.poll();
            if (next == null) {
                throw new FeedEndedException.Unexplained("no more");
            }
            next.accept(consumer);
            return true;
        }

        @Override
        public void requestProgress() {}

        @Override
        public void close() {}
    }
}
