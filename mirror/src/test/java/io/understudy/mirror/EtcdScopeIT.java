package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitEqual;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.PutRequest;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import java.time.Duration;
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

    private static EtcdSinkOptions options(ForeignKeys policy) {
        return EtcdSinkOptions.DEFAULTS.with(policy);
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
