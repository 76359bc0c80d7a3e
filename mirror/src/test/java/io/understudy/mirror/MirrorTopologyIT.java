package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Leases;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.vocabulary.ClusterId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Mirrors between several clusters: keys go where they should, never in circles, and never into their home.
 *
 * <p>Tests invariants M21, M22.
 */
final class MirrorTopologyIT {

    @RegisterExtension
    static final EtcdExtension A = EtcdExtension.voters(1).named("a");

    @RegisterExtension
    static final EtcdExtension B = EtcdExtension.voters(1).named("b");

    @RegisterExtension
    static final EtcdExtension C = EtcdExtension.voters(1).named("c");

    private TestClient a;
    private TestClient b;
    private TestClient c;

    @BeforeEach
    void beginEmpty() {
        a = TestClient.of(A.cluster().leader());
        b = TestClient.of(B.cluster().leader());
        c = TestClient.of(C.cluster().leader());
        clients().forEach(TestClient::deleteAll);
    }

    @AfterEach
    void disconnect() {
        clients().forEach(TestClient::close);
    }

    @Test
    void twoMirrorsOfDisjointKeysRunInOppositeDirections() {
        a.put("/a/1", "1");
        b.put("/b/1", "1");
        try (MirrorProcess ab = start("ab", A, B, "/a/");
                MirrorProcess ba = start("ba", B, A, "/b/")) {
            awaitEverywhere(Map.of("/a/1", "1", "/b/1", "1"), a, b);
            a.put("/a/2", "2");
            b.put("/b/1", "2");
            awaitEverywhere(Map.of("/a/1", "1", "/a/2", "2", "/b/1", "2"), a, b);
            assertNone(ab, ba);
        }
        assertThat(home(a, "ab")).isEqualTo(id(a));
        assertThat(home(b, "ab")).isEqualTo(id(a));
        assertThat(home(a, "ba")).isEqualTo(id(b));
    }

    @Test
    void marksInAChainHaveTheWholePathAndThePrimaryStaysTheFirst() throws Exception {
        try (MirrorProcess ab = start("ab", A, B, "/a/")) {
            await().atMost(PATIENCE).until(() -> b.get(ReservedKeys.home("ab")).getKvsCount() == 1);
            try (MirrorProcess bc = start("bc", B, C, "/a/")) {
                a.put("/a/1", "1");
                awaitEverywhere(Map.of("/a/1", "1"), a, b, c);
                assertThat(checkpoint(b, "ab").path()).containsExactly(id(a));
                assertThat(checkpoint(c, "bc").path()).containsExactly(id(a), id(b));
                a.delete("/a/1");
                awaitEverywhere(Map.of(), a, b, c);
                assertNone(ab, bc);
            }
        }
        assertThat(home(b, "bc")).isEqualTo(id(a));
        assertThat(home(c, "bc")).isEqualTo(id(a));
        try (MirrorProcess ca = start("ca", C, A, "/a/")) {
            assertThat(awaitFailure(ca)).hasMessageContaining("have their primary in its target, cluster " + id(a));
        }
    }

    @Test
    void aChainMayCopyMoreThanItReceivesAlsoAfterARestart() throws Exception {
        a.put("/a/1", "1");
        b.put("/b/1", "1");
        for (int time = 0; time < 2; time++) {
            try (MirrorProcess both = Mirrors.start(mirror("bc", B, C, "/"), mirror("ab", A, B, "/a/"))) {
                a.put("/a/2", "time " + time);
                awaitEverywhere(Map.of("/a/1", "1", "/a/2", "time " + time, "/b/1", "1"), b, c);
                assertNone(both);
            }
        }
        assertThat(home(b, "ab")).isEqualTo(id(a));
        assertThat(home(c, "bc")).isEqualTo(id(b));
    }

    /** As in a chain of four clusters: the first mark names a cluster before A. */
    @Test
    void aMirrorOfRestoredLeasesContinues() {
        Checkpoint mark = Checkpoint.first(new ClusterId(7), MirrorScope.prefix("/x/"), "elsewhere", Instant.EPOCH);
        try (MirrorProcess ab = Mirrors.start(leased("ab", A, B, "/a/"))) {
            await().atMost(PATIENCE).until(() -> b.get(ReservedKeys.home("ab")).getKvsCount() == 1);
            assertNone(ab);
        }
        try (Leases owner = Leases.of(A.cluster().leader());
                MirrorProcess bc = start("bc", B, C, "/a/")) {
            owner.put("/a/leased", "1", owner.grant(2));
            try (MirrorProcess ab = Mirrors.start(leased("ab", A, B, "/a/"))) {
                awaitEverywhere(Map.of("/a/leased", "1"), b, c);
                marked(a, "xa", "/a/1", "1", mark);
                awaitEverywhere(Map.of("/a/leased", "1", "/a/1", "1"), b, c);
                assertNone(ab);
            }
            awaitEverywhere(Map.of("/a/1", "1"), b, c);
            try (MirrorProcess ab = Mirrors.start(leased("ab", A, B, "/a/"))) {
                awaitEverywhere(Map.of("/a/leased", "1", "/a/1", "1"), b, c);
                a.put("/a/2", "2");
                awaitEverywhere(Map.of("/a/leased", "1", "/a/1", "1", "/a/2", "2"), b, c);
                assertNone(ab, bc);
            }
        }
    }

    /** Each key is carried by two mirrors of the ring's three pairs, from its home to the cluster before it. */
    @Test
    void aRingCopiesEachKeyToAllClustersButNotBackToItsPrimary() {
        a.put("/a/1", "1");
        b.put("/b/1", "1");
        c.put("/c/1", "1");
        try (MirrorProcess first =
                Mirrors.start(mirror("a-ab", A, B, "/a/"), mirror("b-bc", B, C, "/b/"), mirror("c-ca", C, A, "/c/"))) {
            awaitEverywhere(Map.of("/a/1", "1", "/c/1", "1"), a);
            awaitEverywhere(Map.of("/a/1", "1", "/b/1", "1"), b);
            awaitEverywhere(Map.of("/b/1", "1", "/c/1", "1"), c);
            MirrorProcess second = Mirrors.start(
                    mirror("a-bc", B, C, "/a/"), mirror("b-ca", C, A, "/b/"), mirror("c-ab", A, B, "/c/"));
            try (second) {
                awaitEverywhere(Map.of("/a/1", "1", "/b/1", "1", "/c/1", "1"), a, b, c);
                a.put("/a/1", "2");
                b.put("/b/1", "2");
                c.put("/c/1", "2");
                awaitEverywhere(Map.of("/a/1", "2", "/b/1", "2", "/c/1", "2"), a, b, c);
                assertNone(first, second);
            }
        }
        assertThat(home(a, "c-ab")).isEqualTo(id(c));
    }

    @Test
    void aRingStartedAtOnceWaitsForUpstreamMirrors() {
        a.put("/a/1", "1");
        b.put("/b/1", "1");
        c.put("/c/1", "1");
        MirrorProcess ring = Mirrors.start(
                mirror("a-bc", B, C, "/a/"),
                mirror("b-ca", C, A, "/b/"),
                mirror("c-ab", A, B, "/c/"),
                mirror("a-ab", A, B, "/a/"),
                mirror("b-bc", B, C, "/b/"),
                mirror("c-ca", C, A, "/c/"));
        try (ring) {
            awaitEverywhere(Map.of("/a/1", "1", "/b/1", "1", "/c/1", "1"), a, b, c);
            assertNone(ring);
        }
        assertThat(home(c, "a-bc")).isEqualTo(id(a));
    }

    @Test
    void oppositeMirrorsOfOverlappingKeysAreRejected() throws Exception {
        a.put("/a/1", "1");
        try (MirrorProcess ab = start("ab", A, B, "/a/")) {
            awaitEverywhere(Map.of("/a/1", "1"), a, b);
            long before = revision(a);
            try (MirrorProcess ba = start("ba", B, A, "/a/sub/")) {
                assertThat(awaitFailure(ba))
                        .hasMessageContaining("mirror ab copies keys with \"/a/\"")
                        .hasMessageContaining("home/ab")
                        .hasMessageContaining("switchover");
            }
            assertThat(a.get(ReservedKeys.checkpoint("ba")).getKvsCount()).isZero();
            assertThat(a.get(ReservedKeys.home("ba")).getKvsCount()).isZero();
            assertThat(a.writtenSince(before)).isZero();
            assertNone(ab);
        }
    }

    @Test
    void aMirrorBetweenTwoPrimariesWaits() throws Exception {
        a.put("/a/1", "1");
        try (MirrorProcess ab = start("ab", A, B, "/a/")) {
            awaitEverywhere(Map.of("/a/1", "1"), a, b);
            assertNone(ab);
        }
        Home moved = stored(b, "ab").movedTo(id(b), 1, Instant.now());
        put(b, ReservedKeys.home("ab"), moved.encode());
        try (MirrorProcess ab = start("ab", A, B, "/a/")) {
            await().atMost(PATIENCE).untilAsserted(() -> {
                MirrorReport report = ab.reports().get(0);
                assertThat(report.state()).as(report.toString()).isEqualTo(MirrorState.CONFLICT);
                assertThat(report.reason())
                        .contains("with epoch 1, etcd", "with epoch 0; ", "accepts client writes", "rejoin");
            });
        }
        try (MirrorProcess ba = start("ba", B, A, "/a/")) {
            assertThat(awaitFailure(ba)).as("as long as A doesn't know").hasMessageContaining("home/ab");
        }
    }

    /** A mirror back, from before a failback: a standby exists although its record was not deleted. */
    @Test
    void aRetiredOppositeMirrorIsIgnoredAfterAMoveButNoRunningOne() throws Exception {
        a.put("/a/1", "1");
        Home retired = new Home("ba", id(b), id(b), id(a), MirrorScope.prefix("/a/"), 0, Instant.EPOCH);
        Home back = new Home("ab", id(a), id(a), id(b), MirrorScope.prefix("/a/"), 2, Instant.now());
        for (TestClient cluster : List.of(a, b)) {
            put(cluster, ReservedKeys.home("ba"), retired.encode());
            put(cluster, ReservedKeys.home("ab"), back.encode());
        }
        put(a, ReservedKeys.active("ba"), ByteString.copyFromUtf8("a process"));
        try (MirrorProcess ab = start("ab", A, B, "/a/")) {
            assertThat(awaitFailure(ab)).hasMessageContaining("home/ba");
        }
        a.delete(ReservedKeys.active("ba").toStringUtf8());
        try (MirrorProcess ab = start("ab", A, B, "/a/")) {
            awaitEverywhere(Map.of("/a/1", "1"), a, b);
            assertNone(ab);
            assertThat(home(a, "ab")).as("moved by commands only").isEqualTo(id(a));
            assertThat(home(b, "ab")).isEqualTo(id(a));
            try (MirrorProcess ba = start("ba", B, A, "/a/")) {
                assertThat(awaitFailure(ba)).hasMessageContaining("home/ab");
            }
            assertNone(ab);
        }
    }

    @Test
    void commitsThatPassedTheTargetAreNotWrittenAgain() {
        try (MirrorProcess ab = start("ab", A, B, "/a/")) {
            a.put("/a/1", "1");
            awaitEverywhere(Map.of("/a/1", "1"), a, b);
            Checkpoint mark = Checkpoint.first(new ClusterId(7), MirrorScope.prefix("/x/"), "elsewhere", Instant.EPOCH)
                    .marked(List.of(id(b), new ClusterId(7)), Instant.EPOCH);
            marked(a, "xa", "/a/1", "returned", mark);
            marked(a, "xa", "/a/2", "passed on", mark.marked(List.of(new ClusterId(7)), Instant.EPOCH));
            awaitEverywhere(Map.of("/a/1", "1", "/a/2", "passed on"), b);
            assertNone(ab);
        }
    }

    @Test
    void aMalformedMarkStopsTheMirrorAndTheErrorNamesItsKey() throws Exception {
        try (MirrorProcess ab = start("ab", A, B, "/a/")) {
            a.put("/a/1", "1");
            awaitEverywhere(Map.of("/a/1", "1"), a, b);
            long revision = a.put(ReservedKeys.checkpoint("xa").toStringUtf8(), "{\"path\":7}");
            assertThat(awaitFailure(ab))
                    .hasMessageContaining("mirror/xa/checkpoint")
                    .hasMessageContaining("revision " + revision)
                    .hasMessageContaining("{\"path\":7}");
        }
    }

    private static void marked(TestClient cluster, String mirror, String key, String value, Checkpoint mark) {
        var unused = cluster.kv()
                .txn(TxnRequest.newBuilder()
                        .addSuccess(put(ByteString.copyFromUtf8(key), ByteString.copyFromUtf8(value)))
                        .addSuccess(put(ReservedKeys.checkpoint(mirror), CheckpointCodec.encode(mark)))
                        .build());
    }

    private static RequestOp put(ByteString key, ByteString value) {
        return RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder().setKey(key).setValue(value))
                .build();
    }

    private static void put(TestClient cluster, ByteString key, ByteString value) {
        var unused = cluster.kv()
                .put(PutRequest.newBuilder().setKey(key).setValue(value).build());
    }

    private Stream<TestClient> clients() {
        return Stream.of(a, b, c);
    }

    private static MirrorProcess start(String name, EtcdExtension source, EtcdExtension target, String prefix) {
        return Mirrors.start(mirror(name, source, target, prefix));
    }

    private static MirrorSettings.Mirror mirror(
            String name, EtcdExtension source, EtcdExtension target, String prefix) {
        return mirror(name, source, target, prefix, EtcdSinkOptions.DEFAULTS);
    }

    private static MirrorSettings.Mirror leased(
            String name, EtcdExtension source, EtcdExtension target, String prefix) {
        return mirror(name, source, target, prefix, EtcdSinkOptions.DEFAULTS.with(LeaseMode.TTL));
    }

    private static MirrorSettings.Mirror mirror(
            String name, EtcdExtension source, EtcdExtension target, String prefix, EtcdSinkOptions options) {
        return new MirrorSettings.Mirror(
                name,
                MirrorSettings.Source.Etcd.of(Mirrors.settings(source.cluster())),
                MirrorScope.prefix(prefix),
                MirrorSettings.Target.Etcd.of(Mirrors.settings(target.cluster()), options));
    }

    private static void awaitEverywhere(Map<String, String> expected, TestClient... clusters) {
        for (TestClient cluster : clusters) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(cluster.contents())
                    .hasSize(expected.size())
                    .allSatisfy((key, value) ->
                            assertThat(expected).containsEntry(key.toStringUtf8(), value.toStringUtf8())));
        }
    }

    private static void assertNone(MirrorProcess... processes) {
        for (MirrorProcess process : processes) {
            assertThat(process.failure()).isNotDone();
        }
    }

    private static Checkpoint checkpoint(TestClient cluster, String mirror) throws Exception {
        return CheckpointCodec.decode(
                mirror, cluster.get(ReservedKeys.checkpoint(mirror)).getKvs(0).getValue());
    }

    private static ClusterId home(TestClient cluster, String mirror) {
        return stored(cluster, mirror).cluster();
    }

    private static Home stored(TestClient cluster, String mirror) {
        return Home.decode(
                mirror, cluster.get(ReservedKeys.home(mirror)).getKvs(0).getValue());
    }

    private static ClusterId id(TestClient cluster) {
        return new ClusterId(cluster.get(ReservedKeys.home("any")).getHeader().getClusterId());
    }

    private static long revision(TestClient cluster) {
        return cluster.get(ReservedKeys.home("any")).getHeader().getRevision();
    }
}
