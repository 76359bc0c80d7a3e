package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Real etcd to real etcd: whatever is committed at the source, the target then holds exactly that. */
final class EtcdMirrorIT {

    private static final ByteString CHECKPOINT = ByteString.copyFromUtf8("\0understudy/mirror/dr/checkpoint");
    private static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1)
            .named("source")
            .with(builder -> builder.extraArguments("--max-request-bytes=16777216", "--max-txn-ops=10000"));

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    private TestClient source;
    private TestClient target;

    @BeforeEach
    void beginEmpty() {
        source = TestClient.of(SOURCE.cluster().leader());
        target = TestClient.of(TARGET.cluster().leader());
        source.deleteAll();
        target.deleteAll();
    }

    @AfterEach
    void disconnect() {
        source.close();
        target.close();
    }

    @Test
    void copiesWhatIsThereAndThenEachChange() {
        source.put("a", "1");
        source.put("b", "");
        source.put("\0\0", ByteString.copyFrom(new byte[] {0, (byte) 0xff}));
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            source.put("c", "3");
            source.delete("a");
            source.put("b", "2");
            awaitEqual(mirror);
        }
        assertThat(target.contents()).hasSize(3);
        assertThat(target.get(CHECKPOINT).getKvs(0).getValue().toStringUtf8())
                .startsWith("{\"format\":1,")
                .endsWith("\"state\":\"synced\"}");
    }

    @Test
    void writesEachCommitOfManyChangesAsOneRevision() {
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            for (int size : new int[] {128, 1_000, 10_000}) {
                long before = revision();
                source.kv().txn(puts(size, 20));
                awaitEqual(mirror);
                assertThat(revision()).as("commit of %d changes", size).isEqualTo(before + 1);
            }
        }
    }

    @Test
    void writesADeleteOf20000KeysAsOneRevision() {
        for (int part = 0; part < 20; part++) {
            source.kv().txn(puts(1_000, 10, part * 1_000));
        }
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            long before = revision();
            source.deleteRange("/k/", "/k0");
            awaitEqual(mirror);
            assertThat(target.contents()).isEmpty();
            assertThat(revision()).isEqualTo(before + 1);
        }
    }

    @Test
    void copiesValuesNearTheLimitOfARequest() {
        ByteString large = ByteString.copyFrom(new byte[1_400_000]);
        source.put("/large/1", large);
        source.put("/large/2", large);
        source.put("/small", "1");
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            source.put("/large/3", large);
            source.put("/large/1", "small now");
            awaitEqual(mirror);
        }
    }

    @Test
    void writesACommitAboveTheLimitOfARequestInPartsAndCompletesIt() {
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            long before = revision();
            source.kv().txn(puts(100, 50_000));
            awaitEqual(mirror);
            assertThat(revision() - before).isEqualTo(4);
        }
    }

    @Test
    void stopsAtAValueThatFitsNoRequest_namingKeyAndRemedy() throws Exception {
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            source.put("/huge", ByteString.copyFrom(new byte[1_572_800]));
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("mirror dr failed")
                    .hasMessageContaining("/huge")
                    .hasMessageContaining("request is too large")
                    .hasMessageContaining("--max-request-bytes");
        }
    }

    @Test
    void resumesAtTheCheckpointWritingNothingAgain() {
        IntStream.range(0, 50).forEach(i -> source.put("/k/" + i, "1"));
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
        }
        source.put("/k/7", "2");
        source.delete("/k/8");
        long before = revision();
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            assertThat(revision() - before)
                    .as("becoming active, taking over, and one put and one delete, perhaps together")
                    .isBetween(3L, 4L);
        }
    }

    @Test
    void mergesASnapshotAfterAGapWritingOnlyWhatDiffers() {
        IntStream.range(0, 500).forEach(i -> source.put(String.format("/k/%03d", i), "1"));
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
        }
        source.deleteRange("/k/100", "/k/200");
        source.put("/k/300", "2");
        long head = source.put("/new", "1");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        long before = revision();
        EtcdSinkOptions options = EtcdSinkOptions.DEFAULTS.withMaxPrunePercent(20);
        try (MirrorProcess mirror = start(MirrorScope.all(), options)) {
            awaitEqual(mirror);
            assertThat(mirror.reports().get(0).changes())
                    .as("100 deletes, 2 puts")
                    .isEqualTo(102);
        }
        assertThat(target.get(ByteString.copyFromUtf8("/k/000")).getKvs(0).getModRevision())
                .isLessThanOrEqualTo(before);
    }

    @Test
    void stopsBeforeItDeletesMoreThanAllowed_andGoesOnWhenItIs() throws Exception {
        IntStream.range(0, 100).forEach(i -> source.put(String.format("/k/%03d", i), "1"));
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
        }
        source.deleteRange("/k/050", "/k/061");
        long head = source.put("/k/000", "2");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        for (int again = 0; again < 2; again++) {
            try (MirrorProcess mirror = start()) {
                assertThat(awaitFailure(mirror))
                        .hasMessageContaining("would delete 11 of the 100 keys")
                        .hasMessageContaining("\"/k/050\"")
                        .hasMessageContaining("maxPrunePercent allows 10 percent");
            }
            assertThat(target.contents()).hasSize(100);
            assertThat(target.get(CHECKPOINT).getKvs(0).getValue().toStringUtf8())
                    .endsWith("\"state\":\"syncing\"}");
        }
        try (MirrorProcess mirror = start(MirrorScope.all(), EtcdSinkOptions.DEFAULTS.withMaxPrunePercent(11))) {
            awaitEqual(mirror);
        }
        assertThat(target.get(bytes("\0understudy/mirror/dr/lane/0")).getKvsCount())
                .as("keys of lanes")
                .isZero();
    }

    @Test
    void leavesAloneWhatIsOutsideOfItsScope() {
        MirrorScope scope =
                new MirrorScope(List.of(bytes("/in/")), List.of(bytes("/in/not/")), bytes("/in/"), bytes("/copy/"));
        source.put("/in/a", "1");
        source.put("/in/not/b", "1");
        source.put("/in/z", "1");
        source.put("/other", "1");
        for (String theirs : List.of("/copy/not/mine", "/cop", "/copz", "/in/a", "/other")) {
            target.put(theirs, "theirs");
        }
        try (MirrorProcess mirror = start(scope, EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        source.delete("/in/a");
        source.put("/in/not/b", "2");
        long head = source.put("/in/m", "1");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        try (MirrorProcess mirror = start(scope, EtcdSinkOptions.DEFAULTS.withMaxPrunePercent(50))) {
            awaitCaughtUp(mirror, source);
            source.deleteRange("/", "0");
            source.put("/in/last", "1");
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents())
                .containsOnlyKeys(
                        bytes("/cop"),
                        bytes("/copy/last"),
                        bytes("/copy/not/mine"),
                        bytes("/copz"),
                        bytes("/in/a"),
                        bytes("/other"));
    }

    @Test
    void refusesATargetThatHoldsForeignKeys_namingSome() throws Exception {
        source.put("a", "1");
        target.put("foreign", "1");
        try (MirrorProcess mirror = start()) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("\"foreign\"").hasMessageContaining("onForeignKeys");
        }
        assertThat(target.contents()).hasSize(1);
    }

    @Test
    void deletesForeignKeysIfThatIsMeant() {
        source.put("a", "1");
        target.put("foreign", "1");
        try (MirrorProcess mirror = start(MirrorScope.all(), options(ForeignKeys.DELETE))) {
            awaitEqual(mirror);
        }
    }

    @Test
    void keepsForeignKeysIfThatIsMeant_alsoWhenASnapshotIsMergedLater() {
        source.put("a", "1");
        source.put("both", "1");
        target.put("foreign", "1");
        target.put("both", "1");
        try (MirrorProcess mirror = start(MirrorScope.all(), options(ForeignKeys.KEEP))) {
            awaitCaughtUp(mirror, source);
        }
        source.delete("both");
        source.delete("a");
        long head = source.put("b", "1");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        try (MirrorProcess mirror =
                start(MirrorScope.all(), options(ForeignKeys.KEEP).withMaxPrunePercent(100))) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).containsOnlyKeys(bytes("b"), bytes("foreign"));
    }

    @Test
    void neitherCopiesNorPrunesReservedKeys() {
        ByteString sourceOwn = bytes("\0understudy/mirror/other/active");
        ByteString targetOwn = bytes("\0understudy/home");
        source.put("a", "1");
        source.kv()
                .put(PutRequest.newBuilder()
                        .setKey(sourceOwn)
                        .setValue(bytes("1"))
                        .build());
        target.kv()
                .put(PutRequest.newBuilder()
                        .setKey(targetOwn)
                        .setValue(bytes("1"))
                        .build());
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            source.kv()
                    .put(PutRequest.newBuilder()
                            .setKey(sourceOwn)
                            .setValue(bytes("2"))
                            .build());
            source.put("b", "1");
            awaitEqual(mirror);
        }
        assertThat(target.get(sourceOwn).getKvsCount()).isZero();
        assertThat(target.get(targetOwn).getKvsCount()).isEqualTo(1);
    }

    @Test
    void copiesOnlyItsRange() {
        source.put("/in/1", "1");
        source.put("/out/1", "1");
        target.put("/out/2", "1");
        try (MirrorProcess mirror = start(MirrorScope.prefix("/in/"), EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
            source.put("/in/2", "1");
            source.put("/out/3", "1");
            source.delete("/in/1");
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).containsOnlyKeys(bytes("/in/2"), bytes("/out/2"));
    }

    @Test
    void movesTheCheckpointOverChangesOutsideItsRange() {
        EtcdSinkOptions often = EtcdSinkOptions.DEFAULTS.withProgressInterval(Duration.ofMillis(1));
        try (MirrorProcess mirror = start(MirrorScope.prefix("/in/"), often)) {
            awaitCaughtUp(mirror, source);
            long head = source.put("/out/1", "1");
            awaitCaughtUp(mirror, source);
            assertThat(mirror.reports().get(0).checkpoint().revision().value()).isGreaterThanOrEqualTo(head);
        }
    }

    @Test
    void refusesACheckpointThatItDoesNotUnderstand() throws Exception {
        target.kv()
                .put(PutRequest.newBuilder()
                        .setKey(CHECKPOINT)
                        .setValue(bytes("{\"format\":7}"))
                        .build());
        try (MirrorProcess mirror = start()) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("\\000understudy/mirror/dr/checkpoint")
                    .hasMessageContaining("its format is 7")
                    .hasMessageContaining("{\"format\":7}");
        }
    }

    @Test
    void refusesACheckpointOfAnotherRange() throws Exception {
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
        }
        try (MirrorProcess mirror = start(MirrorScope.prefix("/in/"), EtcdSinkOptions.DEFAULTS)) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("another scope")
                    .hasMessageContaining("\"/in/\"");
        }
    }

    @Test
    void refusesACheckpointOfAnotherSource() throws Exception {
        for (String state : List.of("synced", "syncing")) {
            String stored = "{\"format\":1,\"source\":\"beef\",\"range\":{\"from\":\"\",\"to\":null},\"revision\":1,"
                    + "\"anchor\":null,\"epoch\":1,\"writer\":\"w\",\"state\":\"" + state + "\"}";
            target.kv()
                    .put(PutRequest.newBuilder()
                            .setKey(CHECKPOINT)
                            .setValue(bytes(stored))
                            .build());
            try (MirrorProcess mirror = start()) {
                assertThat(awaitFailure(mirror)).as(state).hasMessageContaining("beef");
            }
        }
    }

    @Test
    void stopsWhenTheCheckpointVanishes() throws Exception {
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            var unused = target.kv()
                    .deleteRange(
                            DeleteRangeRequest.newBuilder().setKey(CHECKPOINT).build());
            source.put("a", "1");
            assertThat(awaitFailure(mirror)).hasMessageContaining("is gone").hasMessageContaining("wiped or restored");
        }
        assertThat(target.contents()).isEmpty();
    }

    @Test
    void copiesValuesWithoutTheirLeasesAndRelaysWhatALeaseEnds() {
        try (MirrorProcess mirror = start()) {
            long lease = source.lease(1);
            source.kv()
                    .put(PutRequest.newBuilder()
                            .setKey(bytes("leased"))
                            .setValue(bytes("1"))
                            .setLease(lease)
                            .build());
            await().atMost(Mirrors.PATIENCE)
                    .until(() -> target.get(bytes("leased")).getKvsCount() == 1);
            assertThat(target.get(bytes("leased")).getKvs(0).getLease()).isZero();
            await().atMost(Mirrors.PATIENCE).until(() -> target.contents().isEmpty());
            awaitEqual(mirror);
        }
    }

    @Test
    void refusesARangeThatAnotherMirrorWrites() throws Exception {
        Checkpoint theirs =
                Checkpoint.first(new ClusterId(7), MirrorScope.prefix("shared/"), "elsewhere", Instant.EPOCH);
        target.put(
                ReservedKeys.checkpoint("other").toStringUtf8(),
                CheckpointCodec.encode(theirs).toStringUtf8());

        try (MirrorProcess mirror = start()) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("another mirror writes here")
                    .hasMessageContaining("mirror/other/checkpoint");
        }
        assertThat(target.get(CHECKPOINT).getKvsCount()).isZero();
    }

    @Test
    void refusesARangeThatAnotherMirrorWrites_alsoOnceItHasACheckpointOfItsOwn() throws Exception {
        source.put("shared/k", "1");
        ClusterId id = new ClusterId(source.get(bytes("any")).getHeader().getClusterId());
        Checkpoint ours = Checkpoint.first(id, MirrorScope.all(), "before", Instant.EPOCH);
        Checkpoint theirs =
                Checkpoint.first(new ClusterId(7), MirrorScope.prefix("shared/"), "elsewhere", Instant.EPOCH);
        target.put(CHECKPOINT.toStringUtf8(), CheckpointCodec.encode(ours));
        target.put(ReservedKeys.checkpoint("other").toStringUtf8(), CheckpointCodec.encode(theirs));

        try (MirrorProcess mirror = start()) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("another mirror writes here");
        }
        assertThat(target.contents()).isEmpty();
    }

    @Test
    void refusesToCopyAClusterOntoItself() throws Exception {
        source.put("a", "1");
        try (MirrorProcess mirror = Mirrors.etcd(
                Mirrors.settings(SOURCE.cluster()),
                Mirrors.settings(SOURCE.cluster()),
                MirrorScope.all(),
                options(ForeignKeys.DELETE))) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("source and target are the same cluster");
        }
        assertThat(source.get(CHECKPOINT).getKvsCount()).isZero();
    }

    private static MirrorProcess start() {
        return start(MirrorScope.all(), EtcdSinkOptions.DEFAULTS);
    }

    private static MirrorProcess start(MirrorScope scope, EtcdSinkOptions options) {
        return Mirrors.etcd(Mirrors.settings(SOURCE.cluster()), Mirrors.settings(TARGET.cluster()), scope, options);
    }

    private static EtcdSinkOptions options(ForeignKeys policy) {
        return EtcdSinkOptions.DEFAULTS.with(policy);
    }

    private void awaitEqual(MirrorProcess mirror) {
        awaitCaughtUp(mirror, source);
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    /** The target's revision. */
    private long revision() {
        return target.get(ZERO).getHeader().getRevision();
    }

    private static TxnRequest puts(int count, int valueBytes) {
        return puts(count, valueBytes, 0);
    }

    private static TxnRequest puts(int count, int valueBytes, int first) {
        TxnRequest.Builder transaction = TxnRequest.newBuilder();
        for (int i = 0; i < count; i++) {
            transaction.addSuccess(RequestOp.newBuilder()
                    .setRequestPut(PutRequest.newBuilder()
                            .setKey(bytes(String.format("/k/%05d", first + i)))
                            .setValue(ByteString.copyFrom(new byte[valueBytes]))));
        }
        return transaction.build();
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
