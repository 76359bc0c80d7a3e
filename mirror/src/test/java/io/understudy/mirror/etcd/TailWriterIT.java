package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.checkpoint.Marks;
import io.understudy.mirror.checkpoint.StrictJson;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.ForeignWriteHint;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What follows the snapshot, with what others do to the target meanwhile.
 *
 * <p>Tests invariant M4.
 */
final class TailWriterIT {

    private static final ClusterId SOURCE = new ClusterId(0xfeed);
    private static final ByteString KEY = ByteString.copyFromUtf8("/t/1");

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    private final List<String> hints = new CopyOnWriteArrayList<>();
    private EtcdCluster cluster;
    private TestClient target;
    private EtcdSink sink;

    @BeforeEach
    void follow() {
        cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
        target = TestClient.of(TARGET.cluster().leader());
        target.deleteAll();
        sink = new EtcdSink(
                "t",
                MirrorScope.prefix("/t/"),
                "test",
                null,
                cluster,
                EtcdSinkOptions.DEFAULTS,
                TargetLeases.DROPPED,
                (after, before) -> hints.add(after + ".." + before),
                new Silent());
        assertThat(sink.open()).isNull();
        sink.snapshotStarted(SOURCE, new Revision(10));
        sink.snapshotPage(KeyRange.prefix(ByteString.copyFromUtf8("/t/")), List.of());
        sink.snapshotCompleted(new Position(SOURCE, new Revision(10), null));
    }

    @AfterEach
    void end() {
        sink.close();
        target.close();
        cluster.close();
    }

    @Test
    void reportsForeignWritesBetweenTwoTransactions() {
        commit(11, "1");
        commit(12, "2");
        assertThat(hints).as("of our own transactions").isEmpty();
        long before = revision();
        target.put("/elsewhere", "1");
        target.put("/t/foreign", "1");
        commit(13, "3");
        assertThat(hints).containsExactly(before + ".." + (before + 3));
    }

    @Test
    void repairsUnderItsFenceWithoutMovingTheCheckpoint() {
        commit(11, "1");
        long foreign = target.put("/t/1", "foreign");
        assertThat(sink.repair(sink.observe(List.of(KEY)), Map.of(KEY, putBack("1", foreign))))
                .isTrue();
        assertThat(value()).isEqualTo("1");
        assertThat(sink.checkpoint().revision()).isEqualTo(new Revision(11));
        assertThat(sink.checkpoint().state()).isEqualTo(CheckpointState.SYNCED);
        assertThat(sink.checkpoint().path()).containsExactly(SOURCE);
        assertThat(target.get(ReservedKeys.checkpoint("t")).getKvs(0).getModRevision())
                .isEqualTo(revision());
    }

    @Test
    void aRepairDoesNotUndoAnEarlierCommit() {
        commit(11, "1");
        long foreign = target.put("/t/1", "foreign");
        commit(12, "2");
        assertThat(sink.repair(sink.observe(List.of(KEY)), Map.of(KEY, putBack("1", foreign))))
                .isTrue();
        assertThat(value()).isEqualTo("2");
    }

    @Test
    void repairsNothingWhileASnapshotIsWritten() {
        long foreign = target.put("/t/1", "foreign");
        sink.snapshotStarted(SOURCE, new Revision(20));
        assertThat(sink.repair(sink.observe(List.of(KEY)), Map.of(KEY, putBack("1", foreign))))
                .isFalse();
        assertThat(value()).isEqualTo("foreign");
        assertThat(sink.complete()).isEqualTo(Revision.ZERO);
    }

    @Test
    void repairsAnObservedKeyAfterCommitsToOtherKeys() {
        commit(11, "1");
        target.delete("/t/1");
        KeyObservation observed = sink.observe(List.of(KEY));
        commitTo("/t/2", 12);
        assertThat(sink.repair(observed, Map.of(KEY, putBack("1", 0)))).isTrue();
        assertThat(value()).isEqualTo("1");
    }

    @Test
    void leavesOutAnObservedKeyThatACommitHasChanged() {
        commit(11, "1");
        target.delete("/t/1");
        KeyObservation observed = sink.observe(List.of(KEY));
        commit(12, "2");
        target.delete("/t/1");
        assertThat(sink.repair(observed, Map.of(KEY, putBack("1", 0)))).isTrue();
        assertThat(target.get(KEY).getKvsCount()).isZero();
    }

    @Test
    void leavesOutAKeyObservedBeforeASnapshot() {
        KeyObservation observed = sink.observe(List.of(KEY));
        sink.historyRecognised();
        sink.snapshotStarted(SOURCE, new Revision(20));
        sink.snapshotPage(KeyRange.prefix(ByteString.copyFromUtf8("/t/")), List.of());
        sink.snapshotCompleted(new Position(SOURCE, new Revision(20), null));
        assertThat(sink.repair(observed, Map.of(KEY, putBack("1", 0)))).isTrue();
        assertThat(target.get(KEY).getKvsCount()).isZero();
    }

    @Test
    void leavesOutAKeyOfAnEarlierObservation() {
        KeyObservation earlier = sink.observe(List.of(KEY));
        KeyObservation last = sink.observe(List.of(KEY));
        assertThat(sink.repair(earlier, Map.of(KEY, putBack("1", 0)))).isTrue();
        assertThat(target.get(KEY).getKvsCount()).isZero();
        assertThat(sink.repair(last, Map.of(KEY, putBack("1", 0)))).isTrue();
        assertThat(value()).isEqualTo("1");
    }

    @Test
    void theCheckpointIsMovedByProgressOnlyAfterTheCommitsBeforeIt() {
        for (int revision = 11; revision < 200; revision++) {
            sink.commit(put(revision, "v" + revision), position(put(revision, "v" + revision)));
            sink.progress(new Position(SOURCE, new Revision(revision), null));
        }
        sink.progress(new Position(SOURCE, new Revision(5_000), null));
        sink.settle();
        assertThat(value()).isEqualTo("v199");
        assertThat(sink.complete()).isEqualTo(new Revision(5_000));
        assertThat(sink.checkpoint().revision()).isEqualTo(new Revision(5_000));
    }

    /** Mirrors of the target read both. Tests invariant M21. */
    @Test
    void theTransactionBeforeTheRestorationOfLeasesHasOneMark() {
        List<List<ClusterId>> marks = new CopyOnWriteArrayList<>();
        AtomicBoolean isReadable = new AtomicBoolean();
        TargetLeases kept = new TargetLeases() {
            @Override
            public boolean areKept() {
                return true;
            }

            @Override
            public long forPut(ByteString key, long sourceLease) {
                return 0;
            }

            @Override
            public boolean restore(Position at, List<KeyValue> keys, Consumer<List<RequestOp>> writer) {
                if (keys == null && !isReadable.get()) {
                    return false;
                }
                if (keys == null) {
                    writer.accept(List.of(EtcdMessages.put(ByteString.copyFromUtf8("/l/1"), KEY)));
                    marks.add(mark(SyncWriter.key("l", 0)));
                    marks.add(mark(ReservedKeys.checkpoint("l")));
                }
                return true;
            }
        };
        MirrorScope scope = MirrorScope.prefix("/l/");
        try (EtcdSink leased = new EtcdSink(
                "l",
                scope,
                "test",
                null,
                cluster,
                EtcdSinkOptions.DEFAULTS,
                kept,
                ForeignWriteHint.NONE,
                new Silent())) {
            assertThat(leased.open()).isNull();
            leased.snapshotStarted(SOURCE, new Revision(10));
            leased.snapshotPage(KeyRange.prefix(ByteString.copyFromUtf8("/l/")), List.of());
            leased.snapshotCompleted(new Position(SOURCE, new Revision(10), null));
            Revision revision = new Revision(11);
            Checkpoint upstream = Checkpoint.first(new ClusterId(7), scope, "elsewhere", Instant.EPOCH);
            Commit passed = new Commit(
                    revision,
                    Stream.of(
                                    new KeyValue(ByteString.copyFromUtf8("/l/1"), KEY, revision, revision, 1, 0),
                                    new KeyValue(
                                            ReservedKeys.checkpoint("up"),
                                            CheckpointCodec.encode(upstream),
                                            revision,
                                            revision,
                                            1,
                                            0))
                            .<Change>map(Change.Put::new)
                            .toList());
            leased.commit(passed, position(passed));
            leased.settle();
            assertThat(leased.checkpoint().path()).containsExactly(new ClusterId(7), SOURCE);
            isReadable.set(true);
            leased.progress(position(passed));
        }
        assertThat(marks).hasSize(2).containsOnly(List.of(SOURCE));
    }

    private List<ClusterId> mark(ByteString key) {
        return Marks.read(StrictJson.parse(target.get(key).getKvs(0).getValue()));
    }

    /** Only if the key is as it was found. */
    private static RequestOp putBack(String value, long modRevision) {
        return RequestOp.newBuilder()
                .setRequestTxn(TxnRequest.newBuilder()
                        .addCompare(Compare.newBuilder()
                                .setKey(KEY)
                                .setTarget(Compare.CompareTarget.MOD)
                                .setModRevision(modRevision))
                        .addSuccess(EtcdMessages.put(KEY, ByteString.copyFromUtf8(value))))
                .build();
    }

    private void commit(long revision, String value) {
        Commit commit = put(revision, value);
        sink.commit(commit, position(commit));
        sink.settle();
        assertThat(sink.complete()).isEqualTo(commit.revision());
    }

    private void commitTo(String key, long revision) {
        Commit commit = put(ByteString.copyFromUtf8(key), revision, "v");
        sink.commit(commit, position(commit));
        sink.settle();
    }

    private static Commit put(long at, String value) {
        return put(KEY, at, value);
    }

    private static Commit put(ByteString key, long at, String value) {
        Revision revision = new Revision(at);
        return new Commit(
                revision,
                List.of(new Change.Put(new KeyValue(key, ByteString.copyFromUtf8(value), revision, revision, 1, 0))));
    }

    private static Position position(Commit commit) {
        return new Position(SOURCE, commit.revision(), new Position.Anchor(commit.revision(), CommitDigest.of(commit)));
    }

    private String value() {
        return target.get(KEY).getKvs(0).getValue().toStringUtf8();
    }

    private long revision() {
        return target.get(KEY).getHeader().getRevision();
    }
}
