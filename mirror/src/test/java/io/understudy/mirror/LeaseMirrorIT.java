package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.fixture.Leases;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * With {@code leases: ttl}, keys have the leases in the target that they have at the source, for as long as there.
 *
 * <p>Tests invariants M9, M10, M11.
 */
final class LeaseMirrorIT {

    private static final int TTL = 2;

    private static final ByteString CHECKPOINT = ByteString.copyFromUtf8("\0understudy/mirror/dr/checkpoint");
    private static final ByteString REGISTER = ByteString.copyFromUtf8("\0understudy/mirror/dr/lease/");
    private static final ByteString REGISTER_END = ByteString.copyFromUtf8("\0understudy/mirror/dr/lease0");

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private Leases owner;
    private Leases inTarget;

    @BeforeEach
    void beginEmpty() {
        owner = Leases.of(CLUSTERS.source().leader());
        inTarget = Leases.of(CLUSTERS.target().leader());
    }

    @AfterEach
    void disconnect() {
        owner.close();
        inTarget.close();
    }

    /** Waits until the target has ended a lease that is granted now: any other with its TTL is ended unless kept alive. */
    private void awaitExpiry() {
        long witness = inTarget.grant(0, TTL);
        await().atMost(PATIENCE).until(() -> inTarget.facts(witness).getTTL() < 0);
    }

    @Test
    void aLeaseHasTheSameIdAndTimeToLive_andIsAttachedToTheSameKeys() {
        long early = owner.grant(30);
        owner.put("early", "1", early);
        owner.put("plain", "1", 0);
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            long late = owner.grant(40);
            owner.put("late/1", "1", late);
            owner.put("late/2", "1", late);
            awaitCaughtUp(mirror, source);
            assertThat(lease("early")).isEqualTo(early);
            assertThat(lease("plain")).isZero();
            assertThat(inTarget.facts(early).getGrantedTTL()).isEqualTo(30);
            assertThat(inTarget.facts(late).getGrantedTTL()).isEqualTo(40);
            assertThat(inTarget.facts(late).getKeysList())
                    .containsExactlyInAnyOrder(ByteString.copyFromUtf8("late/1"), ByteString.copyFromUtf8("late/2"));
        }
    }

    @Test
    void aPutChangesTheLeaseOfAKey_andTakesItAway() {
        long one = owner.grant(30);
        long other = owner.grant(30);
        try (MirrorProcess mirror = start()) {
            owner.put("k", "1", one);
            owner.put("l", "1", one);
            owner.put("k", "2", other);
            owner.put("l", "2", 0);
            awaitCaughtUp(mirror, source);
            assertThat(lease("k")).isEqualTo(other);
            assertThat(lease("l")).isZero();
            assertThat(inTarget.facts(one).getKeysList()).isEmpty();
            owner.revoke(one);
            owner.revoke(other);
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents()).hasSize(1);
        }
    }

    @Test
    void keysExpiredAtTheSourceAreDeletedAndTheirLeaseRevoked() {
        long lease = owner.grant(TTL);
        try (MirrorProcess mirror = start()) {
            owner.put("k", "1", lease);
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).hasSize(1);
            owner.abandon(lease);
            await().atMost(PATIENCE).until(() -> target.contents().isEmpty());
            await().atMost(PATIENCE).until(() -> inTarget.facts(lease).getTTL() < 0);
            await().atMost(PATIENCE).until(() -> registered().isEmpty());
        }
    }

    @Test
    void keysRemainWhileTheSourceIsUnreachable() {
        long lease = owner.grant(TTL);
        try (MirrorProcess mirror = start()) {
            owner.put("k", "1", lease);
            awaitCaughtUp(mirror, source);
            EtcdMember member = CLUSTERS.source().leader();
            member.pause();
            awaitExpiry();
            assertThat(lease("k")).isEqualTo(lease);
            member.resume();
            // The source decides whether it has expired by now.
            await().atMost(PATIENCE).until(() -> target.contents().equals(source.contents()));
        }
    }

    @Test
    void keysRemainWhileTheMirrorHasFailed() throws Exception {
        long lease = owner.grant(TTL);
        try (MirrorProcess mirror = start()) {
            owner.put("k", "1", lease);
            awaitCaughtUp(mirror, source);
            // The sink is closed, and opened again after at least 5 s.
            target.put(CHECKPOINT.toStringUtf8(), "damaged");
            owner.put("other", "1", 0);
            assertThat(awaitFailure(mirror)).hasMessageContaining("damaged");
            awaitUnchanged(lease);
        }
    }

    @Test
    void keysRemainWhileTheTargetHasNoSpace() {
        long lease = owner.grant(TTL);
        long ended = owner.grant(TTL);
        try (MirrorProcess mirror = start()) {
            owner.put("k", "1", lease);
            owner.put("ended", "1", ended);
            awaitCaughtUp(mirror, source);
            target.freeze();
            try {
                // The sink is closed, and cannot raise its epoch again.
                inTarget.revoke(ended);
                awaitUnchanged(lease);
            } finally {
                target.thaw();
            }
            await().atMost(PATIENCE).until(() -> target.contents().equals(source.contents()));
            assertThat(mirror.failure()).isNotDone();
        }
    }

    /** Observes the key for four times its lease's TTL. */
    private void awaitUnchanged(long lease) {
        await().during(Duration.ofSeconds(4 * TTL)).atMost(PATIENCE).until(() -> lease("k") == lease);
    }

    @Test
    void keysExpiredWhileTheMirrorWasDownAreRestored() {
        long lease = owner.grant(TTL);
        long other = owner.grant(30);
        try (MirrorProcess mirror = start()) {
            owner.put("/a", "1", lease);
            owner.put("/b", "1", other);
            owner.put("/c", "1", lease);
            owner.put("/plain", "1", 0);
            awaitCaughtUp(mirror, source);
        }
        await().atMost(PATIENCE).until(() -> target.contents().size() == 2);
        owner.put("/a", "2", lease);
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents()).hasSize(4);
            assertThat(lease("/a")).isEqualTo(lease);
            assertThat(lease("/c")).isEqualTo(lease);
            assertThat(inTarget.facts(lease).getGrantedTTL()).isEqualTo(TTL);
        }
    }

    /** The first event is a snapshot then, and the missing keys were not changed since the checkpoint. */
    @Test
    void keysExpiredWhileTheSourceCompactedItsHistoryAreRestored() {
        long lease = owner.grant(TTL);
        try (MirrorProcess mirror = start()) {
            owner.put("/a", "1", lease);
            owner.put("/plain", "1", 0);
            awaitCaughtUp(mirror, source);
        }
        await().atMost(PATIENCE).until(() -> target.contents().size() == 1);
        for (int i = 0; i < 10; i++) {
            owner.put("/plain", "more " + i, 0);
        }
        compact();
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents()).hasSize(2);
            assertThat(lease("/a")).isEqualTo(lease);
            assertThat(mirror.failure()).isNotDone();
        }
    }

    @Test
    void aLeaseRevokedInTheTargetIsRestored() {
        long lease = owner.grant(TTL);
        try (MirrorProcess mirror = start()) {
            owner.put("k", "1", lease);
            awaitCaughtUp(mirror, source);
            inTarget.revoke(lease);
            assertThat(target.contents()).isEmpty();
            await().atMost(PATIENCE).until(() -> target.contents().size() == 1);
            assertThat(lease("k")).isEqualTo(lease);
            assertThat(mirror.failure()).isNotDone();
        }
    }

    @Test
    void aLeaseGrantedByAnotherClientStopsTheMirror() throws Exception {
        long lease = owner.grant(30);
        inTarget.grant(lease, 30);
        try (MirrorProcess mirror = start()) {
            owner.put("k", "1", lease);
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining(Long.toHexString(lease))
                    .hasMessageContaining("was not granted by mirror ");
        }
        assertThat(registered()).isEmpty();
    }

    @Test
    void anInterruptedGrantIsCompleted() {
        long registered = owner.grant(30);
        long granted = owner.grant(30);
        owner.put("k", "1", registered);
        owner.put("l", "1", granted);
        for (long lease : new long[] {registered, granted}) {
            target.put(REGISTER.toStringUtf8() + Long.toHexString(lease), "");
        }
        inTarget.grant(granted, 30);
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            assertThat(lease("k")).isEqualTo(registered);
            assertThat(lease("l")).isEqualTo(granted);
            assertThat(mirror.failure()).isNotDone();
        }
    }

    @Test
    void keysThatWereThereBeforeWithTheSameLeaseAreKeptToo() {
        long lease = owner.grant(30);
        long brief = owner.grant(TTL);
        owner.put("k", "1", lease);
        owner.put("l", "1", brief);
        inTarget.grant(lease, 30);
        inTarget.put("k", "1", lease);
        inTarget.grant(brief, TTL);
        inTarget.put("l", "1", brief);
        try (MirrorProcess mirror =
                start(EtcdSinkOptions.DEFAULTS.with(LeaseMode.TTL).with(ForeignKeys.DELETE))) {
            awaitCaughtUp(mirror, source);
            awaitExpiry();
            assertThat(target.contents()).isEqualTo(source.contents());
            assertThat(registered()).hasSize(2);
        }
    }

    @Test
    void leasesAreCopiedOnceConfiguredAndNotDroppedSilently() throws Exception {
        long lease = owner.grant(30);
        owner.put("k", "1", lease);
        try (MirrorProcess mirror = start(EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
            assertThat(lease("k")).isZero();
        }
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            assertThat(lease("k")).isEqualTo(lease);
        }
        try (MirrorProcess mirror = start(EtcdSinkOptions.DEFAULTS)) {
            assertThat(awaitFailure(mirror)).hasMessageContaining("has leases in the target");
        }
    }

    @Test
    void aLeaseThatIsGrantedAgainHasItsNewTimeToLive() {
        long id = 7_000;
        try (MirrorProcess mirror = start()) {
            for (int seconds : new int[] {600, 300, 900}) {
                owner.grant(id, seconds);
                owner.put("k", String.valueOf(seconds), id);
                awaitCaughtUp(mirror, source);
                assertThat(inTarget.facts(id).getGrantedTTL()).isEqualTo(seconds);
                assertThat(lease("k")).isEqualTo(id);
                owner.revoke(id);
            }
            // Both in one transaction of the target, if they may be.
            owner.grant(id, 500);
            owner.put("k", "500", id);
            awaitCaughtUp(mirror, source);
            assertThat(inTarget.facts(id).getGrantedTTL()).isEqualTo(500);
            assertThat(mirror.failure()).isNotDone();
        }
    }

    @Test
    void aLeaseThatWasGrantedAgainWhileTheMirrorWasDownHasItsNewTimeToLive() {
        long id = 7_001;
        owner.grant(id, 600);
        owner.put("k", "1", id);
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
        }
        owner.revoke(id);
        owner.grant(id, 300);
        owner.put("k", "1", id);
        compact();
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            assertThat(inTarget.facts(id).getGrantedTTL()).isEqualTo(300);
            assertThat(lease("k")).isEqualTo(id);
        }
    }

    /** A lock that was released and taken again while the mirror was down moves to the end of its queue. */
    @Test
    void atEachSyncedRevisionTheTargetHasAllKeysOfAQueue() {
        List<Long> waiting = List.of(owner.grant(600), owner.grant(600), owner.grant(600));
        for (long lease : waiting) {
            owner.put("lock/" + Long.toHexString(lease), "", lease);
        }
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
        }
        String first = "lock/" + Long.toHexString(waiting.get(0));
        source.deleteRange(first, first + "\0");
        owner.put(first, "", waiting.get(0));
        compact();
        long before = target.put("witness", "");
        target.deleteRange("witness", "witness\0");
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            assertThat(queue(target)).isEqualTo(queue(source));
        }
        long last = target.put("witness", "");
        int synced = 0;
        for (long revision = before; revision <= last; revision++) {
            if (at(revision, CHECKPOINT).get(0).getValue().toStringUtf8().contains("\"synced\"")) {
                synced++;
                assertThat(at(revision, ByteString.copyFromUtf8("lock/")))
                        .as("revision " + revision)
                        .hasSize(3);
            }
        }
        assertThat(synced).isPositive();
    }

    private void compact() {
        var unused = source.kv()
                .compact(CompactionRequest.newBuilder()
                        .setRevision(source.revision())
                        .build());
    }

    private List<KeyValue> at(long revision, ByteString prefix) {
        return target.kv()
                .range(RangeRequest.newBuilder()
                        .setKey(prefix)
                        .setRangeEnd(KeyRange.prefix(prefix).to())
                        .setRevision(revision)
                        .build())
                .getKvsList();
    }

    @Test
    void twoMirrorsOfOneSourceShareALease() {
        long lease = owner.grant(30);
        owner.put("/a/1", "1", lease);
        owner.put("/b/1", "1", lease);
        try (MirrorProcess mirror = Mirrors.start(mirror("a", "/a/"), mirror("b", "/b/"))) {
            await().atMost(PATIENCE).until(() -> target.contents().equals(source.contents()));
            assertThat(inTarget.facts(lease).getKeysCount()).isEqualTo(2);
            assertThat(mirror.failure()).isNotDone();
        }
    }

    /** As after a switchover: a client granted it there, and the target is the primary of other keys still. */
    @Test
    void aLeaseWithOtherKeysOfTheTargetIsKeptAliveForAsLongAsAtTheSource() {
        long lease = owner.grant(TTL);
        owner.put("/a/1", "1", lease);
        owner.put("/b/1", "1", lease);
        inTarget.grant(lease, TTL);
        inTarget.keep(lease);
        List.of("/a/1", "/b/1", "/other").forEach(key -> inTarget.put(key, "1", lease));
        try (MirrorProcess mirror = Mirrors.start(mirror("a", "/a/"), mirror("b", "/b/"))) {
            await().atMost(PATIENCE)
                    .until(() -> mirror.reports().stream().allMatch(report -> report.state() == MirrorState.SYNCED));
            inTarget.abandon(lease);
            awaitExpiry();
            assertThat(inTarget.facts(lease).getKeysCount()).isEqualTo(3);
            owner.revoke(lease);
            await().atMost(PATIENCE).until(() -> target.contents().isEmpty());
            assertThat(mirror.failure()).isNotDone();
        }
    }

    @Test
    void aQueueForALockKeepsItsOrder() {
        List<Long> waiting = List.of(owner.grant(TTL), owner.grant(30), owner.grant(TTL));
        for (int i = 0; i < waiting.size(); i++) {
            int inLine = i + 1;
            owner.lock("lock", waiting.get(i));
            await().atMost(PATIENCE).until(() -> queue(source).size() == inLine);
        }
        List<String> queue = queue(source);
        assertThat(queue)
                .containsExactlyElementsOf(
                        waiting.stream().map(Long::toHexString).toList());
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            assertThat(queue(target)).as("after the first synchronisation").isEqualTo(queue);
            long last = owner.grant(30);
            owner.lock("lock", last);
            await().atMost(PATIENCE).until(() -> queue(source).size() == 4);
            awaitCaughtUp(mirror, source);
            assertThat(queue(target))
                    .as("after one more")
                    .isEqualTo(queue(source))
                    .hasSize(4);
        }
        await().atMost(PATIENCE).until(() -> queue(target).size() == 2);
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            assertThat(queue(target)).as("after a while without the mirror").isEqualTo(queue(source));
        }
    }

    /** Leases of the waiting clients, in order; the first holds the lock. */
    private static List<String> queue(TestClient cluster) {
        return cluster
                .kv()
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("lock/"))
                        .setRangeEnd(ByteString.copyFromUtf8("lock0"))
                        .build())
                .getKvsList()
                .stream()
                .sorted(Comparator.comparingLong(KeyValue::getCreateRevision))
                .map(entry -> entry.getKey().toStringUtf8().substring("lock/".length()))
                .toList();
    }

    private long lease(String key) {
        return target.get(ByteString.copyFromUtf8(key)).getKvs(0).getLease();
    }

    private List<KeyValue> registered() {
        return target.kv()
                .range(RangeRequest.newBuilder()
                        .setKey(REGISTER)
                        .setRangeEnd(REGISTER_END)
                        .build())
                .getKvsList();
    }

    private static MirrorProcess start() {
        return start(EtcdSinkOptions.DEFAULTS.with(LeaseMode.TTL));
    }

    private static MirrorProcess start(EtcdSinkOptions options) {
        return CLUSTERS.mirror(MirrorScope.all(), options);
    }

    private static MirrorSettings.Mirror mirror(String name, String prefix) {
        return new MirrorSettings.Mirror(
                name,
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                MirrorScope.prefix(prefix),
                MirrorSettings.Target.Etcd.of(
                        Mirrors.settings(CLUSTERS.target()),
                        EtcdSinkOptions.DEFAULTS.with(LeaseMode.TTL).with(ForeignKeys.DELETE)));
    }
}
