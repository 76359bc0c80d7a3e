package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitEqual;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.vocabulary.ClusterId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What a mirror may write in its target, and what it leaves alone: keys of others, and those that are reserved.
 *
 * <p>Tests invariants M19, M24.
 */
final class EtcdScopeIT {

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();

    @Test
    void leavesKeysOutsideItsScopeAlone() {
        MirrorScope scope =
                new MirrorScope(List.of(bytes("/in/")), List.of(bytes("/in/not/")), bytes("/in/"), bytes("/copy/"));
        source.put("/in/a", "1");
        source.put("/in/not/b", "1");
        source.put("/in/z", "1");
        source.put("/other", "1");
        for (String theirs : List.of("/copy/not/mine", "/cop", "/copz", "/in/a", "/other")) {
            target.put(theirs, "theirs");
        }
        try (MirrorProcess mirror = CLUSTERS.mirror(scope, EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        source.delete("/in/a");
        source.put("/in/not/b", "2");
        long head = source.put("/in/m", "1");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        try (MirrorProcess mirror = CLUSTERS.mirror(scope, EtcdSinkOptions.DEFAULTS.withMaxPrunePercent(50))) {
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
    void rejectsATargetWithForeignKeysAndNamesSome() throws Exception {
        source.put("a", "1");
        target.put("foreign", "1");
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("\"foreign\"").hasMessageContaining("onForeignKeys");
        }
        assertThat(target.contents()).hasSize(1);
    }

    @Test
    void deletesForeignKeysIfConfigured() {
        source.put("a", "1");
        target.put("foreign", "1");
        try (MirrorProcess mirror = CLUSTERS.mirror(MirrorScope.all(), options(ForeignKeys.DELETE))) {
            awaitEqual(mirror, source, target);
        }
    }

    @Test
    void keepsForeignKeysIfConfiguredAlsoInALaterMerge() {
        source.put("a", "1");
        source.put("both", "1");
        target.put("foreign", "1");
        target.put("both", "1");
        try (MirrorProcess mirror = CLUSTERS.mirror(MirrorScope.all(), options(ForeignKeys.KEEP))) {
            awaitCaughtUp(mirror, source);
        }
        target.put("foreign", "2");
        source.delete("both");
        source.delete("a");
        long head = source.put("b", "1");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        try (MirrorProcess mirror =
                CLUSTERS.mirror(MirrorScope.all(), options(ForeignKeys.KEEP).withMaxPrunePercent(100))) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).containsOnlyKeys(bytes("b"), bytes("foreign"));
    }

    @Test
    void keptForeignKeysAreNotDeletedWhenThatIsNoLongerConfigured() throws Exception {
        source.put("a", "1");
        target.put("foreign", "1");
        try (MirrorProcess mirror = CLUSTERS.mirror(MirrorScope.all(), options(ForeignKeys.KEEP))) {
            awaitCaughtUp(mirror, source);
        }
        source.delete("a");
        long head = source.put("b", "1");
        source.kv().compact(CompactionRequest.newBuilder().setRevision(head).build());
        try (MirrorProcess mirror =
                CLUSTERS.mirror(MirrorScope.all(), options(ForeignKeys.FAIL).withMaxPrunePercent(100))) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("existed before the first sync and is not in the source: \"foreign\"");
        }
        assertThat(target.contents()).containsKey(bytes("foreign"));
        try (MirrorProcess mirror =
                CLUSTERS.mirror(MirrorScope.all(), options(ForeignKeys.DELETE).withMaxPrunePercent(100))) {
            awaitEqual(mirror, source, target);
        }
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
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            awaitEqual(mirror, source, target);
            source.kv()
                    .put(PutRequest.newBuilder()
                            .setKey(sourceOwn)
                            .setValue(bytes("2"))
                            .build());
            source.put("b", "1");
            awaitEqual(mirror, source, target);
        }
        assertThat(target.get(sourceOwn).getKvsCount()).isZero();
        assertThat(target.get(targetOwn).getKvsCount()).isEqualTo(1);
    }

    @Test
    void copiesOnlyItsRange() {
        source.put("/in/1", "1");
        source.put("/out/1", "1");
        target.put("/out/2", "1");
        try (MirrorProcess mirror = CLUSTERS.mirror(MirrorScope.prefix("/in/"), EtcdSinkOptions.DEFAULTS)) {
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
        try (MirrorProcess mirror = CLUSTERS.mirror(MirrorScope.prefix("/in/"), often)) {
            awaitCaughtUp(mirror, source);
            long head = source.put("/out/1", "1");
            awaitCaughtUp(mirror, source);
            assertThat(mirror.reports().get(0).checkpoint().revision().value()).isGreaterThanOrEqualTo(head);
        }
    }

    /** The digest of the last commit has its mark, or not. */
    @Test
    void theSameHistoryIsRecognisedWhenMarksAreNoLongerRead() {
        Checkpoint mark = Checkpoint.first(new ClusterId(7), MirrorScope.prefix("/x/"), "elsewhere", Instant.EPOCH);
        for (boolean marked : new boolean[] {true, false, true}) {
            try (MirrorProcess mirror = mirror(marked)) {
                awaitCaughtUp(mirror, source);
                source.kv()
                        .txn(TxnRequest.newBuilder()
                                .addSuccess(put(bytes("/in/" + marked), bytes("1")))
                                .addSuccess(put(ReservedKeys.checkpoint("xa"), CheckpointCodec.encode(mark)))
                                .build());
                awaitEqual(mirror, source, target);
                assertThat(mirror.failure()).isNotDone();
            }
        }
    }

    private static RequestOp put(ByteString key, ByteString value) {
        return RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder().setKey(key).setValue(value))
                .build();
    }

    private static MirrorProcess mirror(boolean marked) {
        MirrorSettings.Source.Etcd from = MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source()));
        return Mirrors.start(new MirrorSettings.Mirror(
                "dr",
                new MirrorSettings.Source.Etcd(from.cluster(), from.feed(), marked),
                MirrorScope.prefix("/in/"),
                MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), EtcdSinkOptions.DEFAULTS)));
    }

    private static EtcdSinkOptions options(ForeignKeys policy) {
        return EtcdSinkOptions.DEFAULTS.with(policy);
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
