package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.PutRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.etcd.EtcdSinkOptions.SourceReset;
import io.understudy.mirror.fixture.Clusters;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.ForeignWriteHint;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The next writer resumes a snapshot, reads only what the target may lack, and ends with the whole state of one revision.
 *
 * <p>Tests invariants M1, M17, M41.
 */
final class SnapshotResumeIT {

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private static final int KEYS = 400;
    private static final int STOP_AFTER = 150;
    private static final EtcdFeedOptions PAGES = EtcdFeedOptions.DEFAULTS.withPageBytes(8 << 10);

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private final Clusters connections = CLUSTERS.connections();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private EtcdSinkOptions options = EtcdSinkOptions.DEFAULTS;
    private TargetLeases leases = TargetLeases.DROPPED;

    SnapshotResumeIT() {
        for (int i = 0; i < KEYS; i++) {
            source.put(key(i), "v".repeat(500));
        }
    }

    /** The source, where deletions are counted before a snapshot begins. */
    private EtcdCluster prunedFrom;

    /** Whether the next snapshot has the deletions of a commit that is too large. */
    private boolean replaces;

    /** Whether a run has found that the source continues the mirrored history, as a mirror remembers it. */
    private boolean compared;

    @Test
    void aReplacedCommitAllowsNoDeletionsByAnotherHistory() {
        ClusterId former = new ClusterId(7);
        ClusterId other = new ClusterId(8);
        List<KeyValue> entries = IntStream.range(0, 10)
                .mapToObj(i -> {
                    Revision created = new Revision(i + 1);
                    return new KeyValue(ByteString.copyFromUtf8("/r/" + i), ByteString.EMPTY, created, created, 1, 0);
                })
                .toList();
        KeyRange range = KeyRange.prefix(ByteString.copyFromUtf8("/r/"));
        try (EtcdSink sink = new EtcdSink(
                "reset",
                MirrorScope.prefix("/r/"),
                "test",
                connections.target(),
                EtcdSinkOptions.DEFAULTS.with(SourceReset.RESYNC),
                new Silent())) {
            assertThat(sink.open()).isNull();
            sink.snapshotStarted(former, new Revision(10));
            sink.snapshotPage(range, entries);
            sink.snapshotCompleted(new Position(former, new Revision(10), null));
            sink.commitReplaced(new Revision(11));
            sink.snapshotStarted(other, new Revision(20));
            sink.snapshotPage(range, entries.subList(0, 1));
            assertThatThrownBy(() -> sink.snapshotCompleted(new Position(other, new Revision(20), null)))
                    .isInstanceOf(SinkException.Refused.class)
                    .hasMessageContaining("maxPrunePercent");
        }
    }

    /** A delayed write of an earlier copy, which fails only once the next one has begun. */
    @Test
    void aKeyWrittenUntilTheSnapshotBeginsIsDeleted() {
        ClusterId cluster = new ClusterId(7);
        KeyRange range = KeyRange.prefix(ByteString.copyFromUtf8("/e/"));
        AtomicBoolean begins = new AtomicBoolean();
        TargetLeases delayed = new TargetLeases() {
            @Override
            public boolean areKept() {
                // First called between the count of the target's keys and the first write.
                if (begins.getAndSet(false)) {
                    target.put("/e/surplus", "late");
                }
                return false;
            }

            @Override
            public long forPut(ByteString key, long lease) {
                return 0;
            }
        };
        try (EtcdSink sink = new EtcdSink(
                "late",
                MirrorScope.prefix("/e/"),
                "test",
                null,
                connections.target(),
                EtcdSinkOptions.DEFAULTS,
                delayed,
                ForeignWriteHint.NONE,
                new Silent())) {
            assertThat(sink.open()).isNull();
            begins.set(true);
            sink.snapshotStarted(cluster, new Revision(10));
            assertThat(target.get(ByteString.copyFromUtf8("/e/surplus")).getKvsCount())
                    .isEqualTo(1);
            sink.snapshotPage(range, List.of());
            sink.snapshotCompleted(new Position(cluster, new Revision(10), null));
            assertThat(target.get(ByteString.copyFromUtf8("/e/surplus")).getKvsCount())
                    .isZero();
        }
    }

    /** The next snapshot of the same history has the entry for which the target rejected a commit. */
    @Test
    void anEntryThatTheTargetRejectsIsFoundBeforeTheSnapshotIsWritten() {
        ClusterId cluster = new ClusterId(7);
        KeyRange range = KeyRange.prefix(ByteString.copyFromUtf8("/h/"));
        KeyValue huge = new KeyValue(
                ByteString.copyFromUtf8("/h/huge"),
                ByteString.copyFrom(new byte[1_572_700]),
                new Revision(20),
                new Revision(20),
                1,
                0);
        try (EtcdSink sink = sink("huge", "/h/")) {
            assertThat(sink.open()).isNull();
            sink.snapshotStarted(cluster, new Revision(10));
            sink.snapshotCompleted(new Position(cluster, new Revision(10), null));
        }
        for (boolean fits : new boolean[] {false, true}) {
            try (EtcdSink sink = sink("huge", "/h/")) {
                assertThat(sink.open()).isNotNull();
                sink.compareFirst();
                sink.historyRecognised();
                sink.snapshotStarted(cluster, new Revision(30));
                if (fits) {
                    sink.snapshotPage(range, List.of());
                    assertThatThrownBy(() -> sink.snapshotCompleted(new Position(cluster, new Revision(30), null)))
                            .isInstanceOf(SinkException.Compared.class);
                } else {
                    assertThatThrownBy(() -> sink.snapshotPage(range, List.of(huge)))
                            .isInstanceOf(SinkException.Refused.class)
                            .hasMessageContaining("/h/huge")
                            .hasMessageContaining("--max-request-bytes");
                }
                assertThat(sink.checkpoint().state()).isEqualTo(CheckpointState.SYNCED);
            }
        }
    }

    private EtcdSink sink(String mirror, String prefix) {
        return new EtcdSink(
                mirror,
                MirrorScope.prefix(prefix),
                "test",
                connections.target(),
                EtcdSinkOptions.DEFAULTS,
                new Silent());
    }

    @Test
    void onlyTheRestIsRead() throws Exception {
        interrupt();
        long copied = read();
        source.put(key(1), "changed");
        source.delete(key(KEYS - 1));
        long before = target.revision();

        assertThat(run(KEYS)).isInstanceOf(UnfinishedSnapshot.class);

        assertEqual();
        // A page of each lane may have been on its way.
        assertThat(read()).isBetween((long) KEYS, KEYS + copied / 2);
        assertThat(target.revision()).isGreaterThan(before);
        assertThat(meters.get("understudy.feed.snapshots").counter().count()).isEqualTo(1);
        assertThat(target.get(SyncWriter.key("dr", 0)).getKvsCount()).isZero();
    }

    @Test
    void aSnapshotWithoutDifferencesIsResumedToo() throws Exception {
        run(KEYS);
        // Nothing differs, but a snapshot is needed.
        target.delete(ReservedKeys.checkpoint("dr").toStringUtf8());
        options = options.with(ForeignKeys.DELETE);
        long before = read();
        interrupt();
        long compared = read() - before;
        assertThat(run(KEYS)).isInstanceOf(UnfinishedSnapshot.class);
        assertEqual();
        assertThat(read() - before).isBetween((long) KEYS, KEYS + compared / 2);
    }

    @Test
    void afterCompactionAllIsComparedAgain() throws Exception {
        interrupt();
        source.put(key(1), "changed");
        long deleted = source.delete(key(2));
        compact(deleted);

        assertThat(run(KEYS)).isInstanceOf(UnfinishedSnapshot.class);

        assertEqual();
        assertThat(meters.get("understudy.feed.snapshots").counter().count()).isEqualTo(2);
    }

    @Test
    void otherOptionsBeginAnotherSnapshot() throws Exception {
        interrupt();
        options = options.with(ForeignKeys.DELETE);
        assertThat(run(KEYS)).isNull();
        assertEqual();
    }

    @Test
    void entriesWithLeasesArePutAtTheEndOfTheResumedSnapshot() throws Exception {
        long sourceLease = source.lease(600);
        long targetLease = target.lease(600);
        var unused = source.kv()
                .put(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key(1)))
                        .setValue(ByteString.copyFromUtf8("leased"))
                        .setLease(sourceLease)
                        .build());
        leases = new TargetLeases() {
            @Override
            public boolean areKept() {
                return true;
            }

            @Override
            public long forPut(ByteString key, long lease) {
                return lease == 0 ? 0 : targetLease;
            }
        };
        interrupt();
        assertThat(target.get(ByteString.copyFromUtf8(key(1))).getKvsCount()).isZero();

        assertThat(run(KEYS)).isInstanceOf(UnfinishedSnapshot.class);

        assertEqual();
        assertThat(target.get(ByteString.copyFromUtf8(key(1))).getKvs(0).getLease())
                .isEqualTo(targetLease);
    }

    @Test
    void surplusIsCountedAtTheEndOfTheResumedSnapshot() throws Exception {
        run(KEYS);
        compact(source.deleteRange(key(0), key(100)));
        compact(source.put("later", "x"));
        assertThatThrownBy(() -> run(KEYS)).isInstanceOf(SinkException.Compared.class);
        compared = true;
        interrupt();

        assertThatThrownBy(() -> run(KEYS))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("100 of");
        assertThat(target.get(ByteString.copyFromUtf8(key(0))).getKvsCount()).isEqualTo(1);
    }

    /** Also by a snapshot from the beginning, when that of the first writer cannot be resumed. */
    @Test
    void deletionsOfAReplacedCommitAreFinishedByTheNextWriter() throws Exception {
        interruptDeletions();
        source.put("later", "y");
        compact(source.put("later", "z"));

        assertThat(run(KEYS)).isInstanceOf(UnfinishedSnapshot.class);

        assertEqual();
    }

    @Test
    void deletionsOfAReplacedCommitAreNotAllowedToAnotherSource() throws Exception {
        interruptDeletions();
        Checkpoint ofAnother = new FencedWriter(
                        new TargetCalls(connections.target(), new Silent()), "dr", options, new Silent())
                .read()
                .inAnotherHistory(new ClusterId(1), new Revision(1));
        target.put(ReservedKeys.checkpoint("dr").toStringUtf8(), CheckpointCodec.encode(ofAnother));
        options = options.with(SourceReset.RESYNC);

        assertThatThrownBy(() -> run(KEYS))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("would delete");
    }

    private void interruptDeletions() throws Exception {
        run(KEYS);
        compact(source.deleteRange(key(200), key(KEYS)));
        compact(source.put("later", "x"));
        compared = true;
        replaces = true;
        prunedFrom = connections.source();
        interrupt();
        assertThat(target.get(ByteString.copyFromUtf8(key(KEYS - 1))).getKvsCount())
                .as("deletions are left")
                .isEqualTo(1);
        compared = false;
        replaces = false;
    }

    /** Copies a part of the snapshot, then ends as a process does that lost its role. */
    private void interrupt() throws Exception {
        long before = read();
        FeedStart start = run((int) before + STOP_AFTER);
        assertThat(start instanceof UnfinishedSnapshot).isFalse();
        assertThat(new FencedWriter(new TargetCalls(connections.target(), new Silent()), "dr", options, new Silent())
                        .read()
                        .state())
                .isEqualTo(CheckpointState.SYNCING);
    }

    /** Mirrors until the target is level with the source, or so many keys were read. Returns where it began. */
    private FeedStart run(int stopAfter) throws Exception {
        EtcdFeedSource feeds = new EtcdFeedSource("test", connections.source(), PAGES, meters);
        long head = source.revision();
        try (EtcdSink sink = new EtcdSink(
                "dr",
                MirrorScope.all(),
                "test/" + System.nanoTime(),
                prunedFrom,
                connections.target(),
                options,
                leases,
                ForeignWriteHint.NONE,
                new Silent())) {
            FeedStart start = sink.open();
            if (compared) {
                sink.historyRecognised();
            }
            if (replaces) {
                sink.commitReplaced(new Revision(head));
            }
            boolean interrupted = stopAfter != KEYS;
            Feed feed = feeds.open(KeyRange.all(), FeedKind.STATE, start);
            try {
                while (sink.complete().value() < head && !(interrupted && read() >= stopAfter)) {
                    try {
                        if (!feed.poll(Duration.ofMillis(100), sink)) {
                            sink.settle();
                        }
                        sink.caughtUp();
                    } catch (FeedEndedException.Gap e) {
                        feed.close();
                        feed = feeds.open(KeyRange.all(), FeedKind.STATE, null);
                    }
                }
            } finally {
                feed.close();
            }
            return start;
        }
    }

    private long read() {
        var counter = meters.find("understudy.feed.snapshot.keys").counter();
        return counter == null ? 0 : (long) counter.count();
    }

    private void assertEqual() {
        SortedMap<ByteString, ByteString> expected = source.contents();
        assertThat(target.contents()).isEqualTo(expected);
    }

    private void compact(long revision) {
        var unused = source.kv()
                .compact(CompactionRequest.newBuilder().setRevision(revision).build());
    }

    private static String key(int number) {
        return String.format("/k/%05d", number);
    }
}
