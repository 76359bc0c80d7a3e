package io.understudy.mirror.verify;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.PutRequest;
import io.understudy.config.Binder;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.mirror.MirrorInspector;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.fixture.Clusters;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Workload;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.verify.NotComparable.Why;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Real source, target and mirror: every planted difference is reported, and no other.
 *
 * <p>Tests invariant M31.
 */
final class VerificationIT {

    private static final MirrorScope RENAMED =
            new MirrorScope(List.of(bytes("/w/")), List.of(bytes("/w/skip/")), bytes("/w/"), bytes("/copy/w/"));
    private static final ByteString CHECKPOINT = bytes("\0understudy/mirror/dr/checkpoint");

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private final Clusters clusters = CLUSTERS.connections();

    @Test
    void reportsNoDifferenceWhileWritesContinue() throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        System.out.println("seed " + seed);
        int runs = Schedule.isLong() ? 200 : 25;
        AtomicBoolean stop = new AtomicBoolean();
        try (MirrorProcess mirror = mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS)) {
            Thread load = new Thread(() -> {
                Workload workload = new Workload(source, seed);
                while (!stop.get()) {
                    workload.step();
                }
            });
            load.start();
            try {
                awaitCaughtUp(mirror, source);
                Revision last = Revision.ZERO;
                for (int run = 0; run < runs; run++) {
                    VerifyReport report = compared(MirrorScope.all());
                    assertThat(report.differences()).as(report.toString()).isEmpty();
                    assertThat(report.targetDigest()).isEqualTo(report.sourceDigest());
                    assertThat(report.sourceRevision()).isGreaterThanOrEqualTo(last);
                    last = report.sourceRevision();
                }
            } finally {
                stop.set(true);
                load.join();
            }
        }
    }

    @Test
    void findsEachKindOfDifferenceWithRenamesAndExclusions() throws Exception {
        for (int i = 0; i < 300; i++) {
            source.put(String.format("/w/%03d", i), "v" + i);
        }
        source.put("/w/skip/1", "excluded");
        source.put("/x", "not included");
        try (MirrorProcess mirror = mirror(RENAMED, EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        VerifyReport before = compared(RENAMED);
        assertThat(before.isEqual()).isTrue();
        assertThat(before.keys()).isEqualTo(300);

        target.put("/copy/w/skip/2", "where nothing of the mirror is");
        target.delete("/copy/w/000");
        target.put("/copy/w/150", "other");
        target.put("/copy/w/1500", "extra");
        target.put("/copy/w/~", "extra");
        VerifyReport after = compared(RENAMED);
        assertThat(after.differences())
                .extracting(Difference::shown)
                .containsExactly(
                        "missing \"/copy/w/000\"",
                        "value \"/copy/w/150\"",
                        "extra \"/copy/w/1500\"",
                        "extra \"/copy/w/~\"");
        assertThat(after.differences().get(3).sourceKey()).isEqualTo(bytes("/w/~"));
        assertThat(after.differing()).isEqualTo(4);
        assertThat(after.sourceDigest()).isEqualTo(before.sourceDigest());
        assertThat(after.targetDigest()).isNotEqualTo(before.targetDigest());
    }

    @Test
    void countsAllAndNamesTheFirst() throws Exception {
        for (int i = 0; i < 250; i++) {
            source.put(String.format("/w/%03d", i), "v" + i);
        }
        try (MirrorProcess mirror = mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        target.deleteRange("/w/", "/w0");
        VerifyReport report = compared(MirrorScope.all());
        assertThat(report.differing()).isEqualTo(250);
        assertThat(report.differences()).hasSize(Verification.DIFFERENCES_KEPT);
        assertThat(report.differences().get(0).targetKey()).isEqualTo(bytes("/w/000"));
    }

    @Test
    void aLeaseOnOneSideIsADifferenceIfLeasesAreCompared() throws Exception {
        long lease = source.lease(600);
        var unused = source.kv()
                .put(PutRequest.newBuilder()
                        .setKey(bytes("leased"))
                        .setValue(bytes("v"))
                        .setLease(lease)
                        .build());
        try (MirrorProcess mirror = mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(compared(MirrorScope.all()).isEqual()).isTrue();
        assertThat(run(sides(MirrorScope.all(), true, false)))
                .isInstanceOfSatisfying(VerifyReport.class, report -> assertThat(report.differences())
                        .extracting(Difference::shown)
                        .containsExactly("lease \"leased\""));
    }

    @Test
    void keptForeignKeysAreNoDifferenceButLaterOnesAre() throws Exception {
        target.put("before", "theirs");
        source.put("k", "v");
        EtcdSinkOptions keep = EtcdSinkOptions.DEFAULTS.with(ForeignKeys.KEEP);
        try (MirrorProcess mirror = mirror(MirrorScope.all(), keep)) {
            awaitCaughtUp(mirror, source);
        }
        target.put("before", "theirs, again");
        target.put("later", "theirs");
        assertThat(run(sides(MirrorScope.all(), false, true)))
                .isInstanceOfSatisfying(VerifyReport.class, report -> assertThat(report.differences())
                        .extracting(Difference::shown)
                        .containsExactly("extra \"later\""));
    }

    @Test
    void reportsWhyTheSidesAreNotComparable() throws Exception {
        assertThat(notComparable(MirrorScope.all()).why()).isEqualTo(Why.NO_CHECKPOINT);
        source.put("k", "v");
        try (MirrorProcess mirror = mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(notComparable(MirrorScope.prefix("/a/")).why()).isEqualTo(Why.ANOTHER_SCOPE);
        storeAs(CheckpointState.SYNCING);
        assertThat(notComparable(MirrorScope.all()).why()).isEqualTo(Why.SYNCING);
        storeAs(CheckpointState.TORN);
        assertThat(notComparable(MirrorScope.all()).why()).isEqualTo(Why.TORN);
    }

    @Test
    void aSourceCompactedPastTheCheckpointIsNotComparable() throws Exception {
        source.put("k", "v");
        try (MirrorProcess mirror = mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        source.put("k", "w");
        long head = source.put("k", "x");
        var unused = source.kv()
                .compact(CompactionRequest.newBuilder().setRevision(head).build());
        assertThat(notComparable(MirrorScope.all()).why()).isEqualTo(Why.COMPACTED);
        try (MirrorProcess mirror = mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
            assertThat(compared(MirrorScope.all()).isEqual()).isTrue();
        }
    }

    @Test
    void aTargetThatIsThePrimaryIsNotComparable() throws Exception {
        source.put("k", "v");
        try (MirrorProcess mirror = mirror(MirrorScope.all(), EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        ByteString key = ReservedKeys.home("dr");
        Home home = Home.decode("here", target.get(key).getKvs(0).getValue());
        target.put(
                key.toStringUtf8(),
                home.movedTo(home.target(), home.moves() + 1, Instant.now()).encode());
        target.put("k", "written by its owner");
        VerifyResult result = MirrorInspector.verify(
                new MirrorSettings.Mirror(
                        "dr",
                        MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                        MirrorScope.all(),
                        MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), EtcdSinkOptions.DEFAULTS)),
                keys -> {});
        assertThat(result).isInstanceOfSatisfying(NotComparable.class, it -> assertThat(it.why())
                .isEqualTo(Why.HOME_MOVED));
    }

    private void storeAs(CheckpointState state) throws Exception {
        Checkpoint stored =
                CheckpointCodec.decode("here", target.get(CHECKPOINT).getKvs(0).getValue());
        target.put(CHECKPOINT.toStringUtf8(), CheckpointCodec.encode(stored.in(state)));
    }

    private MirrorProcess mirror(MirrorScope scope, EtcdSinkOptions options) {
        return CLUSTERS.mirror(scope, options);
    }

    private VerifyReport compared(MirrorScope scope) throws InterruptedException {
        VerifyResult result = run(sides(scope, false, false));
        assertThat(result).isInstanceOf(VerifyReport.class);
        return (VerifyReport) result;
    }

    private NotComparable notComparable(MirrorScope scope) throws InterruptedException {
        VerifyResult result = run(sides(scope, false, false));
        assertThat(result).isInstanceOf(NotComparable.class);
        return (NotComparable) result;
    }

    private static VerifyResult run(Sides sides) throws InterruptedException {
        return Verification.run(sides, keys -> {});
    }

    private Sides sides(MirrorScope scope, boolean leases, boolean keepsForeign) {
        return new Sides(
                "dr",
                scope,
                clusters.source(),
                clusters.target(),
                Binder.with(EtcdFeedOptions.DEFAULTS.withPageBytes(64 << 10), "requestTimeout", Duration.ofSeconds(5)),
                leases,
                keepsForeign);
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
