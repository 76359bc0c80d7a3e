package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions.SourceReset;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Real etcd to real etcd: whatever is committed at the source, the target then holds exactly that.
 *
 * <p>Tests invariants M1, M2, M17, M20.
 */
final class EtcdMirrorIT {

    private static final ByteString CHECKPOINT = ByteString.copyFromUtf8("\0understudy/mirror/dr/checkpoint");
    private static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.of(
            EtcdExtension.voters(1)
                    .with(builder -> builder.extraArguments("--max-request-bytes=16777216", "--max-txn-ops=10000")),
            EtcdExtension.voters(1));

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();

    @Test
    @Tag("core")
    void copiesExistingKeysAndThenEachChange() {
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
    @Tag("core")
    void writesEachCommitOfManyChangesAsOneRevision() throws Exception {
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            for (int size : new int[] {128, 1_000, 10_000}) {
                long before = revision();
                source.kv().txn(puts(size, 20));
                awaitEqual(mirror);
                assertThat(writes(before)).as("commit of %d changes", size).containsExactly((long) size);
            }
        }
    }

    @Test
    void writesADeleteOf20000KeysAsOneRevision() throws Exception {
        for (int part = 0; part < 20; part++) {
            source.kv().txn(puts(1_000, 10, part * 1_000));
        }
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            long before = revision();
            source.deleteRange("/k/", "/k0");
            awaitEqual(mirror);
            assertThat(target.contents()).isEmpty();
            assertThat(writes(before)).containsExactly(20_000L);
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
    void writesACommitAboveTheLimitOfARequestInPartsAndCompletesIt() throws Exception {
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            long before = revision();
            source.kv().txn(puts(100, 50_000));
            awaitEqual(mirror);
            assertThat(writes(before)).hasSize(4);
        }
    }

    /** Beyond the limit of etcd, and beyond that of its gRPC server. */
    @ParameterizedTest
    @ValueSource(ints = {1_572_800, 5_000_000})
    void stopsBeforeAnOversizedValueWithKeySizeLimitAndRemedy(int bytes) throws Exception {
        try (MirrorProcess mirror = start()) {
            source.put("/before", "1");
            awaitEqual(mirror);
            var unused = source.kv()
                    .txn(puts(1, 1).toBuilder()
                            .addSuccess(RequestOp.newBuilder()
                                    .setRequestPut(PutRequest.newBuilder()
                                            .setKey(bytes("/huge"))
                                            .setValue(ByteString.copyFrom(new byte[bytes]))))
                            .build());
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("mirror dr failed")
                    .hasMessageContaining("/huge")
                    .hasMessageContaining(" bytes (maxRequestBytes 1572864)")
                    .hasMessageContaining("--max-request-bytes");
        }
        long head = source.put("/a", "1");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        try (MirrorProcess mirror = start()) {
            assertThat(awaitFailure(mirror))
                    .as("before the snapshot, which has the entry too, is written")
                    .hasMessageContaining("/huge")
                    .hasMessageContaining("--max-request-bytes");
        }
        try (MirrorProcess mirror =
                CLUSTERS.mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS.with(SourceReset.RESYNC))) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("/huge");
        }
        assertThat(target.contents()).containsOnlyKeys(ByteString.copyFromUtf8("/before"));
        assertThat(target.get(CHECKPOINT).getKvs(0).getValue().toStringUtf8()).endsWith("\"state\":\"synced\"}");
    }

    @Test
    @Tag("core")
    void resumesAtTheCheckpointWritingNothingAgain() throws Exception {
        IntStream.range(0, 50).forEach(i -> source.put("/k/" + i, "1"));
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
        }
        source.put("/k/7", "2");
        source.delete("/k/8");
        long before = revision();
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            assertThat(writes(before).stream().mapToLong(Long::longValue).sum())
                    .as("one put and one delete")
                    .isEqualTo(2);
        }
    }

    @Test
    @Tag("core")
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
        try (MirrorProcess mirror = CLUSTERS.mirror(MirrorScope.all(), options)) {
            awaitEqual(mirror);
            assertThat(mirror.reports().get(0).changes())
                    .as("100 deletes, 2 puts")
                    .isEqualTo(102);
        }
        assertThat(target.get(ByteString.copyFromUtf8("/k/000")).getKvs(0).getModRevision())
                .isLessThanOrEqualTo(before);
    }

    @Test
    void aMirrorOverTheDeleteLimitStopsBeforeTheFirstWrite() throws Exception {
        IntStream.range(0, 100).forEach(i -> source.put(String.format("/k/%03d", i), "1"));
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
        }
        Map<ByteString, ByteString> before = target.contents();
        source.deleteRange("/k/050", "/k/061");
        long head = source.put("/k/000", "2");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        for (int again = 0; again < 2; again++) {
            try (MirrorProcess mirror = start()) {
                assertThat(awaitFailure(mirror))
                        .hasMessageContaining("would delete 11 of 100 keys")
                        .hasMessageContaining("\"/k/050\"")
                        .hasMessageContaining("maxPrunePercent allows 10 percent");
            }
            assertThat(target.contents()).isEqualTo(before);
            assertThat(target.get(CHECKPOINT).getKvs(0).getValue().toStringUtf8())
                    .as("the target can take over as it is")
                    .endsWith("\"state\":\"synced\"}");
        }
        try (MirrorProcess mirror =
                CLUSTERS.mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS.withMaxPrunePercent(11))) {
            awaitEqual(mirror);
        }
        assertThat(target.get(bytes("\0understudy/mirror/dr/lane/0")).getKvsCount())
                .as("keys of lanes")
                .isZero();
    }

    @Test
    void copiesValuesWithoutLeasesAndDeletesExpiredKeys() {
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

    private static MirrorProcess start() {
        return CLUSTERS.mirror();
    }

    private void awaitEqual(MirrorProcess mirror) {
        Mirrors.awaitEqual(mirror, source, target);
    }

    /** The target's revision. */
    private long revision() {
        return target.get(ZERO).getHeader().getRevision();
    }

    /**
     * Numbers of changed keys at each revision of the target after {@code before}. Own keys of the mirror are left out:
     * on a busy machine it may lose its lease, and become active again.
     */
    private List<Long> writes(long before) throws InterruptedException {
        return target.watch(before + 1, revision()).stream()
                .filter(event -> !ReservedKeys.contains(event.getKv().getKey()))
                .collect(groupingBy(event -> event.getKv().getModRevision(), TreeMap::new, counting()))
                .values()
                .stream()
                .toList();
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
