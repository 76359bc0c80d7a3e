package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.awaitEqual;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.understudy.etcd.EtcdSettings;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mirror that finds in its target what it did not write, or not for this source and range, stops and names it. */
final class EtcdOwnershipIT {

    private static final ByteString CHECKPOINT = ByteString.copyFromUtf8("\0understudy/mirror/dr/checkpoint");

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();

    @Test
    void rejectsAnUnreadableCheckpoint() throws Exception {
        target.kv()
                .put(PutRequest.newBuilder()
                        .setKey(CHECKPOINT)
                        .setValue(bytes("{\"format\":7}"))
                        .build());
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("\\000understudy/mirror/dr/checkpoint")
                    .hasMessageContaining("format is 7")
                    .hasMessageContaining("{\"format\":7}");
        }
    }

    @Test
    void rejectsACheckpointOfAnotherRange() throws Exception {
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            awaitEqual(mirror, source, target);
        }
        try (MirrorProcess mirror = CLUSTERS.mirror(MirrorScope.prefix("/in/"), EtcdSinkOptions.DEFAULTS)) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("another scope")
                    .hasMessageContaining("\"/in/\"");
        }
    }

    @Test
    void rejectsACheckpointOfAnotherSource() throws Exception {
        for (String state : List.of("synced", "syncing")) {
            String stored = "{\"format\":1,\"source\":\"beef\",\"range\":{\"from\":\"\",\"to\":null},\"revision\":1,"
                    + "\"anchor\":null,\"epoch\":1,\"writer\":\"w\",\"state\":\"" + state + "\"}";
            target.kv()
                    .put(PutRequest.newBuilder()
                            .setKey(CHECKPOINT)
                            .setValue(bytes(stored))
                            .build());
            try (MirrorProcess mirror = CLUSTERS.mirror()) {
                assertThat(awaitFailure(mirror)).as(state).hasMessageContaining("beef");
            }
        }
    }

    @Test
    void stopsWhenTheCheckpointVanishes() throws Exception {
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            awaitEqual(mirror, source, target);
            var unused = target.kv()
                    .deleteRange(
                            DeleteRangeRequest.newBuilder().setKey(CHECKPOINT).build());
            source.put("a", "1");
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("is missing")
                    .hasMessageContaining("wiped or restored");
        }
        assertThat(target.contents()).isEmpty();
    }

    @Test
    void rejectsARangeThatAnotherMirrorWrites() throws Exception {
        Checkpoint theirs =
                Checkpoint.first(new ClusterId(7), MirrorScope.prefix("shared/"), "elsewhere", Instant.EPOCH);
        target.put(
                ReservedKeys.checkpoint("other").toStringUtf8(),
                CheckpointCodec.encode(theirs).toStringUtf8());

        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("another mirror writes to this target")
                    .hasMessageContaining("mirror/other/checkpoint");
        }
        assertThat(target.get(CHECKPOINT).getKvsCount()).isZero();
    }

    @Test
    void rejectsARangeOfAnotherMirrorAlsoWithItsOwnCheckpoint() throws Exception {
        source.put("shared/k", "1");
        ClusterId id = new ClusterId(source.get(bytes("any")).getHeader().getClusterId());
        Checkpoint ours = Checkpoint.first(id, MirrorScope.all(), "before", Instant.EPOCH);
        Checkpoint theirs =
                Checkpoint.first(new ClusterId(7), MirrorScope.prefix("shared/"), "elsewhere", Instant.EPOCH);
        target.put(CHECKPOINT.toStringUtf8(), CheckpointCodec.encode(ours));
        target.put(ReservedKeys.checkpoint("other").toStringUtf8(), CheckpointCodec.encode(theirs));

        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("another mirror writes to this target");
        }
        assertThat(target.contents()).isEmpty();
    }

    @Test
    void rejectsAMirrorOfAClusterOntoItselfByAnyName() throws Exception {
        source.put("a", "1");
        try (MirrorProcess mirror = Mirrors.etcd(
                Mirrors.settings(CLUSTERS.source()),
                sourceByAnotherName(),
                MirrorScope.all(),
                EtcdSinkOptions.DEFAULTS.with(ForeignKeys.DELETE))) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("source and target are the same cluster");
        }
        assertThat(source.get(CHECKPOINT).getKvsCount()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMirrorOntoItselfIsReportedBeforeOtherErrors(boolean hasHome) throws Exception {
        source.put("a", "1");
        ClusterId id = new ClusterId(source.get(bytes("any")).getHeader().getClusterId());
        if (hasHome) {
            Home home = new Home("dr", id, id, new ClusterId(7), MirrorScope.all(), 1, Instant.now());
            source.put(ReservedKeys.home("dr").toStringUtf8(), home.encode());
        }
        try (MirrorProcess mirror = Mirrors.etcd(
                Mirrors.settings(CLUSTERS.source()),
                sourceByAnotherName(),
                MirrorScope.all(),
                EtcdSinkOptions.DEFAULTS)) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("source and target are the same cluster");
        }
    }

    private static EtcdSettings sourceByAnotherName() {
        URI endpoint = Mirrors.settings(CLUSTERS.source()).endpoints().get(0);
        return EtcdSettings.of(URI.create("http://localhost:" + endpoint.getPort()));
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
