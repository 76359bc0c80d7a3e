package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ends a sink after each of its writes in turn; another resumes at the target's checkpoint. Nothing is lost or
 * repeated, and whenever the checkpoint is {@code synced}, the target is the source's state at its revision.
 *
 * <p>Tests invariants M1, M5.
 */
final class EtcdSinkCrashIT {

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    private static final ClusterId SOURCE = new ClusterId(0xfeed);
    private static final Revision SNAPSHOT = new Revision(10);

    /** Small, so that the last commit doesn't fit into one request; every progress moves the checkpoint. */
    private static final EtcdSinkOptions OPTIONS = EtcdSinkOptions.DEFAULTS
            .withLimits(EtcdSinkOptions.LEAST_REQUEST_BYTES, EtcdSinkOptions.LEAST_TXN_OPS)
            .withProgressInterval(Duration.ZERO);

    private static EtcdCluster cluster;
    private static TestClient target;

    @BeforeAll
    static void connect() {
        cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
        target = TestClient.of(TARGET.cluster().leader());
    }

    @AfterAll
    static void disconnect() {
        target.close();
        cluster.close();
    }

    /** Thrown in place of a crash. */
    private static final class Crash extends RuntimeException {}

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCrashAfterAnyWriteLosesAndRepeatsNothing(boolean coalesced) {
        int crashes = 0;
        for (int crashAfter = 1; ; crashAfter++) {
            String mirror = (coalesced ? "joined" : "single") + crashAfter;
            History history = new History("/" + mirror + "/", coalesced);
            boolean crashed = run(mirror, history, crashAfter);
            assertConsistent(mirror, history);
            if (!crashed) {
                break;
            }
            crashes++;
            for (int again = 1; again <= 2; again++) {
                run(mirror, history, again);
                assertConsistent(mirror, history);
            }
            assertThat(run(mirror, history, Integer.MAX_VALUE)).isFalse();
            assertConsistent(mirror, history);
            assertThat(contents(history)).isEqualTo(history.stateAt(history.last()));
            assertThat(run(mirror, history, Integer.MAX_VALUE)).isFalse();
            assertThat(contents(history)).isEqualTo(history.stateAt(history.last()));
        }
        assertThat(crashes).as("writes of one run").isGreaterThan(coalesced ? 7 : 10);
    }

    @Test
    void crashesAfterEveryOtherWriteLoseAndRepeatNothing() {
        History history = new History("/often/", true);
        int runs = 0;
        // Take over, begin, copy one page: a snapshot that is cut short each time still ends.
        while (run("often", history, 3) && stored("often").state() == CheckpointState.SYNCING) {
            assertThat(++runs).isLessThanOrEqualTo(8);
        }
        while (run("often", history, 3)) {
            assertConsistent("often", history);
            // An interrupted commit restarts each time: let it finish periodically.
            if (++runs % 4 == 0) {
                run("often", history, 12);
            }
            assertThat(runs).isLessThan(50);
        }
        assertThat(contents(history)).isEqualTo(history.stateAt(history.last()));
    }

    /** Runs a sink over what it still needs of the history. Returns whether it crashed. */
    private static boolean run(String mirror, History history, int crashAfter) {
        SinkListener listener = new SinkListener() {
            private final AtomicInteger writes = new AtomicInteger();

            @Override
            public void unavailable(String why) {}

            @Override
            public void available() {}

            @Override
            public void written(long changes) {
                // All lanes end: what another one has just written may be there, or not.
                if (writes.incrementAndGet() >= crashAfter) {
                    throw new Crash();
                }
            }
        };
        String writer = "test/" + System.nanoTime();
        try (EtcdSink sink =
                new EtcdSink(mirror, MirrorScope.prefix(history.prefix), writer, cluster, OPTIONS, listener)) {
            history.drive(sink, sink.open());
            sink.settle();
            return false;
        } catch (Crash e) {
            return true;
        }
    }

    private static void assertConsistent(String mirror, History history) {
        Checkpoint checkpoint = stored(mirror);
        if (checkpoint == null || checkpoint.state() == CheckpointState.SYNCING) {
            return;
        }
        SortedMap<ByteString, ByteString> expected = history.stateAt(checkpoint.revision());
        if (checkpoint.state() == CheckpointState.SYNCED) {
            assertThat(contents(history)).as(checkpoint.toString()).isEqualTo(expected);
        } else {
            assertThat(checkpoint.revision()).isBetween(history.beforeTheLast(), history.last());
            assertThat(checkpoint.revision()).isNotEqualTo(history.last());
        }
    }

    private static @Nullable Checkpoint stored(String mirror) {
        return new FencedWriter(new TargetCalls(cluster, new Silent()), mirror, EtcdSinkOptions.DEFAULTS, new Silent())
                .read();
    }

    private static SortedMap<ByteString, ByteString> contents(History history) {
        SortedMap<ByteString, ByteString> contents = target.contents();
        contents.keySet().removeIf(key -> !history.range().contains(key));
        return contents;
    }

    /** A source: a snapshot in six pages at revision 10, then commits, the last of which is large. */
    private static final class History {

        private final String prefix;
        /** Whether commits are given faster than they are written. */
        private final boolean coalesced;

        private final List<Commit> commits = new ArrayList<>();

        History(String prefix, boolean coalesced) {
            this.prefix = prefix;
            this.coalesced = coalesced;
            commit(put(13, 3, "x"), delete(4), put(13, 100, "new"));
            commit(delete(100));
            commit(put(19, 5, "y"));
            List<Change> many = new ArrayList<>();
            IntStream.range(0, 30).forEach(i -> many.add(i % 3 == 0 ? delete(i) : put(22, i, "z".repeat(2_000))));
            commit(many.toArray(Change[]::new));
        }

        KeyRange range() {
            return KeyRange.prefix(ByteString.copyFromUtf8(prefix));
        }

        Revision last() {
            return commits.get(commits.size() - 1).revision();
        }

        Revision beforeTheLast() {
            return commits.get(commits.size() - 2).revision();
        }

        void drive(EtcdSink sink, @Nullable FeedStart from) {
            Revision after = from instanceof Position position ? position.revision() : SNAPSHOT;
            // What a feed of a part of the keys gives first when it resumes: how far nothing has happened.
            boolean resumed = from instanceof Position;
            if (!resumed) {
                snapshot(sink, from instanceof UnfinishedSnapshot begun ? begun : null);
            }
            for (Commit commit : commits) {
                if (commit.revision().isAfter(after)) {
                    if (resumed) {
                        sink.progress(new Position(
                                SOURCE, new Revision(commit.revision().value() - 1), null));
                        resumed = false;
                    }
                    sink.commit(commit, positionAt(commit));
                    if (!coalesced) {
                        sink.settle();
                    }
                }
            }
        }

        private void snapshot(EtcdSink sink, @Nullable UnfinishedSnapshot begun) {
            Position pin =
                    new Position(SOURCE, SNAPSHOT, new Position.Anchor(SNAPSHOT, CommitDigest.of(commits.get(0))));
            if (begun == null) {
                sink.snapshotPinned(pin);
                sink.snapshotStarted(SOURCE, SNAPSHOT);
            } else {
                sink.snapshotResumed(begun.pin());
            }
            for (int from = 0; from < 30; from += 5) {
                KeyRange covered =
                        new KeyRange(from == 0 ? range().from() : key(from), from == 25 ? range().to() : key(from + 5));
                if (begun == null || begun.rest().stream().anyMatch(covered::intersects)) {
                    sink.snapshotPage(covered, entries(from, from + 5));
                }
            }
            sink.snapshotCompleted(new Position(SOURCE, SNAPSHOT, null));
        }

        SortedMap<ByteString, ByteString> stateAt(Revision revision) {
            SortedMap<ByteString, ByteString> state = new TreeMap<>(KeyRange.KEY_ORDER);
            if (revision.isBefore(SNAPSHOT)) {
                return state;
            }
            entries(0, 30).forEach(entry -> state.put(entry.key(), entry.value()));
            for (Commit commit : commits) {
                if (!commit.revision().isAfter(revision)) {
                    commit.changes().forEach(change -> apply(change, state));
                }
            }
            return state;
        }

        private static void apply(Change change, Map<ByteString, ByteString> state) {
            if (change instanceof Change.Put put) {
                state.put(put.key(), put.keyValue().value());
            } else {
                state.remove(change.key());
            }
        }

        private static Position positionAt(Commit commit) {
            return new Position(
                    SOURCE, commit.revision(), new Position.Anchor(commit.revision(), CommitDigest.of(commit)));
        }

        private List<KeyValue> entries(int from, int to) {
            return IntStream.range(from, to)
                    .mapToObj(i -> entry(5, i, "v".repeat(900)))
                    .toList();
        }

        private void commit(Change... changes) {
            commits.add(new Commit(new Revision(SNAPSHOT.value() + 3L * (commits.size() + 1)), List.of(changes)));
        }

        private Change put(long revision, int key, String value) {
            return new Change.Put(entry(revision, key, value));
        }

        private Change delete(int key) {
            return new Change.Delete(key(key));
        }

        private KeyValue entry(long revision, int key, String value) {
            Revision at = new Revision(revision);
            return new KeyValue(key(key), ByteString.copyFromUtf8(value), at, at, 1, 0);
        }

        private ByteString key(int number) {
            return ByteString.copyFromUtf8(prefix + String.format("%03d", number));
        }
    }
}
