package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.verify.Sides;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The primary role moves there and back while clients write at both sides, on real clusters.
 *
 * <p>Tests invariants M37, M40.
 */
@Timeout(300)
final class TakeOverIT {

    private static final Credentials ROOT = new Credentials("root", "root");
    private static final Credentials MIRROR = new Credentials("mirror", "secret");
    private static final Credentials APP = new Credentials("app", "app");
    private static final TakeOverOptions OPTIONS =
            TakeOverOptions.DEFAULTS.acceptingSilentWatchers().within(Duration.ofSeconds(30), Duration.ofSeconds(20));

    @TempDir
    private Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicBoolean moved = new AtomicBoolean();
    private ForeignKeys foreignKeys = EtcdSinkOptions.DEFAULTS.onForeignKeys();
    private LocalEtcd source;
    private LocalEtcd target;

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void movesThereAndBackWhileClientsWrite_andLosesNothing(Way way) throws Exception {
        start(way);
        MirrorProcess mirror = opened(Mirrors.start(settings()));
        awaitSynced(mirror, source);
        Writers writers = opened(new Writers(way == Way.ROLES ? APP : null));
        writers.await(100);
        try (TakeOver clusters = takeOver(way)) {
            TakeOverReport there = clusters.switchover(
                            OPTIONS.with(way), step -> moved.set(moved.get() || step.equals("open")))
                    .run();
            assertThat(there.loss()).as(there.toString()).isEqualTo(TakeOverReport.NONE);
            assertThat(there.next()).as(there.toString()).hasSize(2);
            writers.await(100);
            awaitSynced(mirror, target);
            // A standby without a gap: a resynchronisation would have written it again.
            assertThat(client(source, MIRROR).get(ReservedKeys.resumable("dr")).map(KeyValue::getVersion))
                    .hasValue(1L);
            assertThatThrownBy(() ->
                            clusters.switchover(OPTIONS.with(way), step -> {}).run())
                    .hasMessageContaining("is the primary of mirror dr already");
        }
        try (TakeOver clusters = takeOver(way)) {
            TakeOverReport back =
                    clusters.failback(OPTIONS.with(way), step -> {}).run();
            assertThat(back.loss()).as(back.toString()).isEqualTo(TakeOverReport.NONE);
            writers.await(100);
            awaitSynced(mirror, source);
        }
        writers.close();
        assertThat(writers.puts.get()).isGreaterThan(300);
        assertThat(contents(source)).containsAllEntriesOf(writers.acknowledged);
        await().atMost(Mirrors.PATIENCE)
                .untilAsserted(() -> assertThat(contents(target)).isEqualTo(contents(source)));
    }

    /** The closed source refuses the keep-alives of its owner. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLeaseLivesHoweverLongTheMoveTakes(boolean isTargetPaused) throws Exception {
        start(Way.ROLES);
        MirrorProcess mirror = opened(Mirrors.start(settings()));
        awaitSynced(mirror, source);
        TakeOverCalls owner = client(source, APP);
        long lease = owner.grantLease(Duration.ofSeconds(3));
        ScheduledExecutorService beats = Executors.newSingleThreadScheduledExecutor();
        open.add(beats::shutdownNow);
        put(owner, "/app/leased", "1", lease);
        var unused = beats.scheduleWithFixedDelay(
                () -> {
                    try {
                        var unusedLeases = owner.with(Duration.ZERO).keepAlive(List.of(lease));
                    } catch (TakeOverException e) {
                        // Refused.
                    }
                },
                0,
                500,
                TimeUnit.MILLISECONDS);
        TakeOverCalls atSource = client(source, MIRROR);
        ByteString key = ByteString.copyFromUtf8("/app/leased");
        TakeOver.Steps steps = step -> {
            if (step.equals("drain")) {
                if (isTargetPaused) {
                    target.leader().pause();
                }
                // Less than the lock lives without the target.
                await().during(Duration.ofSeconds(isTargetPaused ? 4 : 6))
                        .atMost(Mirrors.PATIENCE)
                        .until(() -> atSource.get(key).isPresent());
                if (isTargetPaused) {
                    target.members().get(0).resume();
                    throw new TakeOverException("interrupted");
                }
            }
        };
        try (TakeOver clusters = takeOver(Way.ROLES)) {
            Switchover switchover = clusters.switchover(OPTIONS, steps);
            if (isTargetPaused) {
                // Its own leases expired.
                assertThatThrownBy(switchover::run)
                        .hasMessageEndingWith("source " + source.clientUrls() + " is open again");
                assertThat(atSource.get(key)).isPresent();
                return;
            }
            TakeOverReport report = switchover.run();
            assertThat(report.loss()).as(report.toString()).isEqualTo(TakeOverReport.NONE);
        }
        assertThat(client(target, MIRROR).get(key)).isPresent();
    }

    /** A command that was killed before it closed the source leaves clients to delete keys. */
    @Test
    void ofMissingKeysOnlyThoseExpiredThatHadALeaseWhichIsGone() throws Exception {
        start(Way.AUTH_ENABLE);
        TakeOverCalls calls = client(source, null);
        long kept = calls.grantLease(Duration.ofMinutes(10));
        long ended = calls.grantLease(Duration.ofMinutes(10));
        put(calls, "/app/plain", "1");
        put(calls, "/app/kept", "1", kept);
        put(calls, "/app/ended", "1", ended);
        put(calls, "/app/again", "1", ended);
        EtcdCluster cluster = opened(EtcdCluster.connect(settings(source, null), new SimpleMeterRegistry()));
        EtcdComparer comparer = new EtcdComparer(
                new Sides("dr", MirrorScope.prefix("/app/"), cluster, cluster, EtcdFeedOptions.DEFAULTS, true, false),
                false,
                calls,
                client(target, null),
                OPTIONS.patience(),
                step -> {});
        long before = new Records(calls, "dr").read().revision();
        calls.revokeLease(ended);
        for (String key : List.of("/app/plain", "/app/kept")) {
            TxnRequest delete = TxnRequest.newBuilder()
                    .addSuccess(Records.delete(ByteString.copyFromUtf8(key)))
                    .build();
            var unused = calls.txn("a delete", delete);
        }
        put(calls, "/app/again", "2");

        assertThat(comparer.missingSince(calls, before, 0, true))
                .containsExactly(ByteString.copyFromUtf8("/app/ended"));
        assertThat(comparer.missingSince(calls, before, 0, false)).hasSize(3);
        assertThat(comparer.hasWrites(before, before + 1)).as("an expiry").isFalse();
        assertThat(comparer.hasWrites(before + 1, before + 2)).as("no lease").isTrue();
        assertThat(comparer.hasWrites(before + 2, before + 3))
                .as("a lease that lives")
                .isTrue();
    }

    /** With roles, the mirror may write but not close; the report names the command that an administrator runs. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM"})
    void aReturningFormerPrimaryIsClosedReportedAndRejoins(Way way) throws Exception {
        start(way);
        Credentials user = way == Way.ROLES ? APP : null;
        TakeOverCalls atSource = client(source, user);
        put(atSource, "/app/before", "1");
        try (MirrorProcess before = Mirrors.start(settings())) {
            awaitSynced(before, source);
        }
        try (TakeOver clusters = new TakeOver(settings(), null, null, OPTIONS.patience())) {
            assertThat(clusters.problems()).isEmpty();
        }
        put(atSource, "/app/late", "1");
        MirrorProcess mirror;
        try (TakeOver clusters = takeOver(way)) {
            assertThatThrownBy(
                            () -> clusters.failover(false, OPTIONS, step -> {}).run())
                    .hasMessageContaining("responds: a switchover loses nothing");
            source.leader().pause();
            mirror = opened(Mirrors.start(settings()));
            TakeOverReport report = clusters.failover(false, OPTIONS.forced().with(way), step -> {})
                    .run();
            assertThat(report.loss()).startsWith("possible: all writes after revision ");
        }
        put(client(target, user), "/app/after", "1");
        boolean isRestored = way == Way.CORRUPT_ALARM;
        if (isRestored) {
            reachedInAnotherHistory();
        }
        await().atMost(Mirrors.PATIENCE)
                .untilAsserted(() -> assertThat(mirror.reports().get(0).source())
                        .as("turned round while nothing is to be copied")
                        .contains(target.clientUrls().get(0).toString()));
        source.members().get(0).resume();
        await().atMost(Mirrors.PATIENCE)
                .untilAsserted(() -> assertThat(mirror.reports().get(0).reason())
                        .contains(
                                "former primary etcd",
                                way == Way.ROLES ? "permission denied" : "is closed (corrupt-alarm)",
                                "understudy mirror rejoin"));
        assertThat(mirror.reports().get(0).state()).isEqualTo(MirrorState.CONFLICT);
        if (way == Way.ROLES) {
            put(atSource, "/app/later", "1");
        } else {
            assertThatThrownBy(() -> put(atSource, "/app/later", "1")).isInstanceOf(TakeOverException.class);
        }
        try (TakeOver clusters = takeOver(way)) {
            TakeOverReport rejoined =
                    clusters.rejoin(OPTIONS.with(way), step -> {}).run();
            assertThat(rejoined.lost())
                    .isEqualTo(
                            isRestored
                                    ? List.of("\"/app/late\"", "\"/app/after\"")
                                    : List.of("\"/app/late\"", "\"/app/later\""));
            assertThatThrownBy(() -> put(atSource, "/app/refused", "1")).isInstanceOf(TakeOverException.class);
            awaitSynced(mirror, target);
            assertThat(contents(source)).isEqualTo(contents(target)).containsKeys("/app/after");
            assertThat(clusters.release(false, OPTIONS).release()).contains("is open");
            put(atSource, "/app/released", "1");
        }
        mirror.close();
        theOperatorChoosesTheSourceAlthoughTheEpochsAreEqual(way);
    }

    /** The source was restored from a backup: at the revisions that the target reached, it has other commits. */
    private void reachedInAnotherHistory() throws Exception {
        TakeOverCalls atTarget = client(target, MIRROR);
        ByteString key = ReservedKeys.checkpoint("dr");
        Checkpoint reached =
                CheckpointCodec.decode("a test", atTarget.get(key).orElseThrow().getValue());
        Anchor anchor = Objects.requireNonNull(reached.anchor());
        Revision later = new Revision(reached.revision().value() + 1);
        CommitDigest other = CommitDigest.parse("00".repeat(CommitDigest.SIZE_BYTES));
        assertThat(anchor.digest()).isNotEqualTo(other);
        Position position = new Position(reached.source(), later, new Anchor(anchor.revision(), other));
        put(
                atTarget,
                key.toStringUtf8(),
                CheckpointCodec.encode(reached.syncedAt(position)).toStringUtf8());
    }

    /** Its clients may write. */
    @Test
    void aSourceThatRefusesTheUserOfAFailoverResponds() {
        start(Way.ROLES);
        MirrorProcess mirror = opened(Mirrors.start(settings()));
        awaitSynced(mirror, source);
        for (Credentials user : Arrays.asList(new Credentials("root", "wrong"), APP, null)) {
            try (TakeOver clusters = new TakeOver(settings(user), null, ROOT, OPTIONS.patience())) {
                assertThatThrownBy(() -> clusters.failover(false, OPTIONS.with(Way.NONE), step -> {})
                                .run())
                        .as("%s", user)
                        .hasMessageContaining("responds: a switchover loses nothing");
            }
        }
    }

    /** As after a snapshot of the source was restored. */
    private void theOperatorChoosesTheSourceAlthoughTheEpochsAreEqual(Way way) throws Exception {
        Credentials user = way == Way.ROLES ? APP : null;
        TakeOverCalls atSource = client(source, MIRROR);
        Home record = Objects.requireNonNull(new Records(atSource, "dr").read().record());
        Home claimed = new Home(
                "dr",
                record.target(),
                record.source(),
                record.target(),
                record.scope(),
                record.moves(),
                record.at(),
                record.move());
        put(atSource, ReservedKeys.home("dr").toStringUtf8(), claimed.encode().toStringUtf8());
        TakeOverCalls atTarget = client(target, user);
        put(atTarget, "/app/discarded", "1");
        MirrorProcess mirror = opened(Mirrors.start(settings()));
        await().atMost(Mirrors.PATIENCE)
                .untilAsserted(() -> assertThat(mirror.reports().get(0).reason())
                        .contains("with epoch 1, etcd", "rejoin\" with --primary source or --primary target"));
        assertThat(mirror.reports().get(0).state()).isEqualTo(MirrorState.CONFLICT);
        try (TakeOver clusters = takeOver(way)) {
            assertThatThrownBy(
                            () -> clusters.rejoin(OPTIONS.with(way), step -> {}).run())
                    .hasMessageContaining("--primary source");
            put(atTarget, "/app/open", "1");
            TakeOverReport rejoined = clusters.rejoin(false, OPTIONS.with(way).forced(), step -> {})
                    .run();
            assertThat(rejoined.lost()).contains("\"/app/discarded\"", "\"/app/open\"");
            assertThat(rejoined.facts()).containsValue("the operator chose the primary");
        }
        assertThatThrownBy(() -> put(atTarget, "/app/refused", "1")).isInstanceOf(TakeOverException.class);
        awaitSynced(mirror, source);
        assertThat(contents(target)).isEqualTo(contents(source)).containsKey("/app/released");
    }

    @Test
    void aClusterWithoutARecordAndAUserWithoutPermissionAreProblems() {
        start(Way.ROLES);
        MirrorSettings.Mirror mirror = new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(settings(source, APP)),
                MirrorScope.prefix("/app/"),
                MirrorSettings.Target.Etcd.of(settings(target, MIRROR), EtcdSinkOptions.DEFAULTS));
        try (TakeOver clusters = new TakeOver(mirror, null, null, OPTIONS.patience())) {
            assertThat(clusters.problems())
                    .satisfiesExactly(
                            one -> assertThat(one)
                                    .contains("source", "user app must not read and write keys")
                                    .contains("\\000understudy/", "\"name\": \"app\"", "\"AHVuZGVyc3R1ZHkv\""),
                            other -> assertThat(other).contains("target", "has no primary record of mirror dr"));
        }
    }

    @Test
    void allMissingPermissionsAreNamedAtOnce_withTheCommandsThatGrantThem() {
        start(Way.ROLES);
        for (LocalEtcd cluster : List.of(source, target)) {
            asRoot(cluster, "role", "revoke-permission", MIRROR.user(), "", "--from-key");
            asRoot(cluster, "role", "grant-permission", MIRROR.user(), "read", "/app/", "--prefix");
            put(client(cluster, ROOT), "/app/kept", "1");
        }
        try (TakeOver clusters = new TakeOver(settings(), null, null, OPTIONS.patience())) {
            List<String> problems = clusters.problems();
            assertThat(problems).hasSize(4);
            assertThat(problems.subList(0, 2)).allMatch(each -> each.startsWith("source "));
            assertThat(problems.subList(2, 4)).allMatch(each -> each.startsWith("target "));
            for (int i = 0; i < 4; i += 2) {
                assertThat(problems.get(i))
                        .contains("user mirror must not write keys from \"/app/\"")
                        .endsWith("etcdctl role grant-permission mirror readwrite --prefix '/app/'");
                assertThat(problems.get(i + 1))
                        .contains("user mirror must not read and write keys from \"\\000understudy/\"");
            }
            // Grants replace a weaker one of the same range.
            for (LocalEtcd cluster : List.of(source, target)) {
                asRoot(cluster, "role", "grant-permission", MIRROR.user(), "readwrite", "--prefix", "/app/");
            }
            assertThat(clusters.problems()).hasSize(2).allMatch(each -> each.contains("\\000understudy/"));
        }
        // A mirror with the role root can read all users and roles.
        for (LocalEtcd cluster : List.of(source, target)) {
            asRoot(cluster, "user", "grant-role", MIRROR.user(), "root");
            asRoot(cluster, "user", "grant-role", APP.user(), MIRROR.user());
            assertThat(contents(cluster)).containsOnlyKeys("/app/kept");
        }
        try (TakeOver clusters = new TakeOver(settings(), null, null, OPTIONS.patience())) {
            assertThat(clusters.problems())
                    .hasSize(6)
                    .anyMatch(each -> each.contains("source") && each.contains("has no primary record"))
                    .anyMatch(each -> each.contains("users with the role root") && each.contains(": root."))
                    .anyMatch(each -> each.contains("role mirror at source")
                            && each.contains("shared by the mirror and clients: app, mirror"));
        }
    }

    @Test
    void keysOfLeasesThatExpiredWhileTheMirrorWasDownAreNamed() throws Exception {
        start(Way.AUTH_ENABLE);
        TakeOverCalls atSource = client(source, null);
        TakeOverCalls atTarget = client(target, null);
        put(atSource, "/app/plain", "1");
        MirrorProcess mirror = opened(Mirrors.start(settings()));
        awaitSynced(mirror, source);
        long lease = atSource.grantLease(Duration.ofSeconds(5));
        var unused = atSource.txn(
                "a key with a lease",
                TxnRequest.newBuilder()
                        .addSuccess(RequestOp.newBuilder()
                                .setRequestPut(PutRequest.newBuilder()
                                        .setKey(ByteString.copyFromUtf8("/app/locked"))
                                        .setLease(lease)))
                        .build());
        await().atMost(Mirrors.PATIENCE).until(() -> contents(target).size() == 2);
        source.leader().pause();
        mirror.close();
        await().atMost(Mirrors.PATIENCE).until(() -> contents(target).keySet().equals(Set.of("/app/plain")));
        // As a mirror does that starts without its source.
        ByteString checkpoint = ReservedKeys.checkpoint("dr");
        put(
                atTarget,
                checkpoint.toStringUtf8(),
                atTarget.get(checkpoint).orElseThrow().getValue().toStringUtf8());
        try (TakeOver clusters = takeOver(Way.AUTH_ENABLE)) {
            TakeOverReport report =
                    clusters.failover(false, OPTIONS.forced(), step -> {}).run();
            assertThat(report.lost()).containsExactly("\"/app/locked\"");
            assertThat(report.loss()).startsWith("keys of expired leases: 1; possible: ");
            assertThat(report.facts()).containsEntry("leases expired before the failover", Long.toHexString(lease));
        }
    }

    /** A key that the source no longer has is one of its deletes, although foreign keys are kept. */
    @Test
    void writesAcceptedByAnOpenSourceAreReportedAsLost() throws Exception {
        start(Way.NONE);
        foreignKeys = ForeignKeys.KEEP;
        MirrorProcess mirror = opened(Mirrors.start(settings()));
        awaitSynced(mirror, source);
        TakeOverCalls atSource = client(source, null);
        put(atSource, "/app/deleted", "1");
        try (TakeOver clusters = takeOver(Way.NONE)) {
            TakeOverReport report = clusters.switchover(OPTIONS.with(Way.NONE), step -> {
                        if (step.equals("open")) {
                            put(atSource, "/app/late", "1");
                            var unused = atSource.txn(
                                    "a delete",
                                    TxnRequest.newBuilder()
                                            .addSuccess(Records.delete(
                                                    KeyRange.single(ByteString.copyFromUtf8("/app/deleted"))))
                                            .build());
                        }
                    })
                    .run();
            assertThat(report.lost()).containsExactly("\"/app/late\"", "\"/app/deleted\"");
            assertThat(report.loss()).isEqualTo("2 keys");
        }
    }

    private <C extends AutoCloseable> C opened(C resource) {
        open.add(resource);
        return resource;
    }

    private void start(Way way) {
        source = cluster("source", way);
        target = cluster("target", way);
    }

    private LocalEtcd cluster(String name, Way way) {
        LocalEtcd cluster = LocalEtcd.builder()
                .name(name)
                .fsync(false)
                .dataDirectory(folder.resolve(name))
                .build();
        opened(cluster).start();
        if (way == Way.ROLES) {
            cluster.enableAuthentication(ROOT.user());
            for (Credentials user : List.of(MIRROR, APP)) {
                asRoot(cluster, "user", "add", user.user() + ":" + user.password());
                asRoot(cluster, "role", "add", user.user());
                asRoot(cluster, "user", "grant-role", user.user(), user.user());
            }
            asRoot(cluster, "role", "grant-permission", MIRROR.user(), "readwrite", "", "--from-key");
            asRoot(cluster, "role", "grant-permission", APP.user(), "readwrite", "/", "0");
        }
        return cluster;
    }

    private static void asRoot(LocalEtcd cluster, String... command) {
        List<String> line = new ArrayList<>(List.of("--user=root:root"));
        line.addAll(List.of(command));
        var unused = cluster.etcdctl(line.toArray(String[]::new));
    }

    private MirrorSettings.Mirror settings() {
        return settings(MIRROR);
    }

    private MirrorSettings.Mirror settings(@Nullable Credentials atSource) {
        return new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(settings(source, atSource)),
                MirrorScope.prefix("/app/"),
                MirrorSettings.Target.Etcd.of(
                        settings(target, MIRROR),
                        EtcdSinkOptions.DEFAULTS
                                .with(LeaseMode.TTL)
                                .withMaxPrunePercent(100)
                                .with(foreignKeys)));
    }

    private static EtcdSettings settings(LocalEtcd cluster, @Nullable Credentials user) {
        EtcdSettings plain = Mirrors.settings(cluster);
        return new EtcdSettings(
                plain.name(),
                plain.endpoints(),
                plain.discovery(),
                plain.probeInterval(),
                plain.requestTimeout(),
                plain.tls(),
                user);
    }

    private TakeOver takeOver(Way way) {
        Credentials user = way == Way.ROLES ? ROOT : null;
        return new TakeOver(settings(), user, user, OPTIONS.patience());
    }

    private TakeOverCalls client(LocalEtcd cluster, @Nullable Credentials user) {
        EtcdCluster connected = EtcdCluster.connect(settings(cluster, user), new SimpleMeterRegistry());
        opened(connected);
        return new PatientCalls(connected, null, Duration.ZERO);
    }

    private static void put(TakeOverCalls calls, String key, String value) {
        put(calls, key, value, 0);
    }

    private static void put(TakeOverCalls calls, String key, String value, long lease) {
        var unused = calls.txn(
                "a put",
                TxnRequest.newBuilder()
                        .addSuccess(RequestOp.newBuilder()
                                .setRequestPut(PutRequest.newBuilder()
                                        .setKey(ByteString.copyFromUtf8(key))
                                        .setValue(ByteString.copyFromUtf8(value))
                                        .setLease(lease)))
                        .build());
    }

    private Map<String, String> contents(LocalEtcd cluster) {
        Map<String, String> contents = new LinkedHashMap<>();
        new PatientCalls(
                        opened(EtcdCluster.connect(settings(cluster, MIRROR), new SimpleMeterRegistry())),
                        null,
                        Duration.ofSeconds(10))
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("/app/"))
                        .setRangeEnd(ByteString.copyFromUtf8("/app0"))
                        .build())
                .getKvsList()
                .forEach(each -> contents.put(
                        each.getKey().toStringUtf8(), each.getValue().toStringUtf8()));
        return contents;
    }

    /** The mirror runs from there and has all of it. */
    private static void awaitSynced(MirrorProcess mirror, LocalEtcd from) {
        await().atMost(Mirrors.PATIENCE).untilAsserted(() -> {
            MirrorReport report = mirror.reports().get(0);
            assertThat(report.state()).as(report.toString()).isEqualTo(MirrorState.SYNCED);
            assertThat(report.source())
                    .as(report.toString())
                    .contains(from.clientUrls().get(0).toString());
        });
    }

    /** Write at both sides all the time, whether that is acknowledged or not. */
    private final class Writers implements AutoCloseable {

        private static final int KEYS = 50;

        private final Map<String, String> acknowledged = new ConcurrentHashMap<>();
        private final AtomicInteger puts = new AtomicInteger();
        private final AtomicBoolean stopped = new AtomicBoolean();
        private final List<Thread> threads = new ArrayList<>();

        Writers(@Nullable Credentials user) {
            TakeOverCalls atSource = client(source, user);
            TakeOverCalls atTarget = client(target, user);
            for (int n = 0; n < 2; n++) {
                int writer = n;
                Thread thread = new Thread(() -> {
                    for (int i = 0; !stopped.get(); i++) {
                        String key = "/app/" + writer + "/" + i % KEYS;
                        // A target that was never closed is written once it is the primary.
                        if (!isAcknowledged(atSource, key, "s" + i) && moved.get()) {
                            boolean unused = isAcknowledged(atTarget, key, "t" + i);
                        }
                    }
                });
                thread.setDaemon(true);
                thread.start();
                threads.add(thread);
            }
        }

        private boolean isAcknowledged(TakeOverCalls calls, String key, String value) {
            try {
                put(calls, key, value);
                acknowledged.put(key, value);
                puts.incrementAndGet();
                return true;
            } catch (TakeOverException e) {
                return false;
            }
        }

        /** Until so many more puts are acknowledged. */
        void await(int more) {
            int goal = puts.get() + more;
            org.awaitility.Awaitility.await().atMost(Mirrors.PATIENCE).until(() -> puts.get() >= goal);
        }

        @Override
        public void close() {
            stopped.set(true);
            org.awaitility.Awaitility.await().atMost(Mirrors.PATIENCE).until(() -> threads.stream()
                    .noneMatch(Thread::isAlive));
        }
    }
}
