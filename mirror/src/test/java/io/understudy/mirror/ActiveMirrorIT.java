package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.cumulative.CumulativeCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.local.fault.FaultProxy;
import io.understudy.mirror.active.ActiveLease;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions.TargetHistory;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Of several processes of one mirror one is active, and when it is gone another one soon is.
 *
 * <p>Tests invariant M8.
 */
final class ActiveMirrorIT {

    private static final Logger LOG = LoggerFactory.getLogger(ActiveMirrorIT.class);
    private static final int TAKE_OVERS = 20;
    private static final ByteString ACTIVE = ByteString.copyFromUtf8("\0understudy/mirror/dr/active");

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();

    @Test
    void theStandbyNamesTheActiveProcessAndIsReady() throws Exception {
        source.put("k", "1");
        try (MirrorProcess first = start()) {
            awaitCaughtUp(first, source);
            try (MirrorProcess second = start()) {
                awaitState(second, MirrorState.STANDBY);
                MirrorReport report = second.reports().get(0);
                assertThat(report.reason())
                        .isEqualTo("standby: " + active().getValue().toStringUtf8() + " is active");
                assertThat(report.lagMillis()).isEmpty();
                assertThat(get(second, "/readyz").statusCode()).isEqualTo(200);
                assertThat(get(second, "/metrics").body())
                        .contains("understudy_mirror_active{mirror=\"dr\",process=\"mirror\"} 0.0")
                        .contains("understudy_mirror_state{mirror=\"dr\",process=\"mirror\",state=\"standby\"} 1.0");
                assertThat(get(first, "/metrics").body())
                        .contains("understudy_mirror_active{mirror=\"dr\",process=\"mirror\"} 1.0")
                        .contains("understudy_mirror_activations_total{mirror=\"dr\",process=\"mirror\"} 1.0");
                assertThat(get(first, "/metrics").body().lines())
                        .as("one observer of each cluster")
                        .filteredOn(line -> line.startsWith("understudy_etcd_probes_seconds_count{"))
                        .filteredOn(line -> line.contains("outcome=\"ok\""))
                        .hasSize(2)
                        .anyMatch(line -> line.contains("cluster=\"dr-source\""))
                        .anyMatch(line -> line.contains("cluster=\"dr-target\""));
            }
            source.put("k", "2");
            awaitCaughtUp(first, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void takesOverAtOnceFromAStoppedProcess() {
        // Longer than the test may take: only the end of the key can make the other one active.
        Duration ttl = PATIENCE.plusSeconds(10);
        MirrorProcess first = start(ttl);
        awaitCaughtUp(first, source);
        try (MirrorProcess second = start(ttl)) {
            awaitState(second, MirrorState.STANDBY);
            first.close();
            assertThat(target.get(ACTIVE).getKvsCount())
                    .as("the key of one that is stopped")
                    .isZero();
            source.put("k", "1");
            awaitCaughtUp(second, source);
        } finally {
            first.close();
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void takesOverFromAKilledProcess(@TempDir Path folder) {
        assertThat(takesOverFromKilled(folder)).isPositive();
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    @Tag("speed")
    void takesOverWithinFiveSecondsFromAKilledProcess(@TempDir Path folder) {
        assertThat(takesOverFromKilled(folder)).isLessThan(Duration.ofSeconds(5));
    }

    /** Returns how long that takes. */
    private Duration takesOverFromKilled(Path folder) {
        try (MirrorJvm first = MirrorJvm.etcd(folder, CLUSTERS.source(), CLUSTERS.target())) {
            first.start();
            await().atMost(PATIENCE).until(() -> target.get(ACTIVE).getKvsCount() == 1);
            try (MirrorProcess second = start()) {
                awaitState(second, MirrorState.STANDBY);
                first.kill();
                long began = System.nanoTime();
                source.put("k", "1");
                awaitCaughtUp(second, source);
                return Duration.ofNanos(System.nanoTime() - began);
            }
        }
    }

    @Test
    void aPartitionedProcessIsNoLongerActiveAndReturnsAsStandby() {
        try (FaultProxy link = linkToTarget();
                MirrorProcess first = start(through(link))) {
            awaitCaughtUp(first, source);
            try (MirrorProcess second = start()) {
                awaitState(second, MirrorState.STANDBY);
                link.blackHole();
                source.put("k", "1");
                awaitCaughtUp(second, source);
                assertThat(first.reports().get(0).state()).isEqualTo(MirrorState.RETRYING);
                link.heal();
                awaitState(first, MirrorState.STANDBY);
                source.put("k", "2");
                awaitCaughtUp(second, source);
                assertThat(first.failure()).isNotDone();
            }
            source.put("k", "3");
            awaitCaughtUp(first, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void theActiveProcessRestoresItsKey() {
        try (MirrorProcess first = start()) {
            awaitCaughtUp(first, source);
            KeyValue before = active();
            target.delete(ACTIVE.toStringUtf8());
            await().atMost(PATIENCE).until(() -> target.get(ACTIVE).getKvsCount() == 1);
            assertThat(active().getValue()).isEqualTo(before.getValue());
            assertThat(active().getLease()).isEqualTo(before.getLease());
            source.put("k", "1");
            awaitCaughtUp(first, source);
        }
    }

    @Test
    void aProcessWithARevokedLeaseIsElectedAgain() {
        try (MirrorProcess first = start()) {
            awaitCaughtUp(first, source);
            KeyValue before = active();
            CLUSTERS.target().etcdctl("lease", "revoke", Long.toHexString(before.getLease()));
            await().atMost(PATIENCE).until(() -> target.get(ACTIVE).getKvsCount() == 1);
            assertThat(active().getValue()).isEqualTo(before.getValue());
            source.put("k", "1");
            awaitCaughtUp(first, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void aKeyWithAnotherLeaseIsAttachedToTheKeptOne() {
        try (MirrorProcess first = start()) {
            awaitCaughtUp(first, source);
            KeyValue before = active();
            long other = target.lease(60);
            var unused = target.kv()
                    .put(PutRequest.newBuilder()
                            .setKey(ACTIVE)
                            .setValue(before.getValue())
                            .setLease(other)
                            .build());
            await().atMost(PATIENCE).until(() -> active().getLease() == before.getLease());
            CLUSTERS.target().etcdctl("lease", "revoke", Long.toHexString(other));
            assertThat(active().getValue()).isEqualTo(before.getValue());
        }
    }

    @Test
    void aFailedMirrorIsRetried() {
        AtomicBoolean failed = new AtomicBoolean();
        MeterRegistry meters = new SimpleMeterRegistry() {
            @Override
            protected Counter newCounter(Meter.Id id) {
                return new CumulativeCounter(id) {
                    @Override
                    public void increment(double amount) {
                        if (failed.compareAndSet(false, true)) {
                            throw new IllegalStateException("made to fail once");
                        }
                        super.increment(amount);
                    }
                };
            }
        };
        try (EtcdCluster cluster = EtcdCluster.connect(Mirrors.settings(CLUSTERS.target()), new SimpleMeterRegistry());
                ActiveRole role = ActiveLease.start("dr", "one", cluster, Duration.ofSeconds(1), meters)) {
            role.compete(true);
            await().atMost(PATIENCE).until(role::isActive);
            assertThat(failed).isTrue();
        }
    }

    /**
     * Its take-over compares what each commit of the active process changes.
     *
     * @param isCut whether the active process is cut off; else it continues to write, and may acquire the role again first
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("takeover")
    void aStandbyTakesOverUnderEveryCommitLoad_andNoProcessFails(boolean isCut) throws Exception {
        EtcdSinkOptions options = EtcdSinkOptions.DEFAULTS.with(TargetHistory.EVERY_COMMIT);
        AtomicBoolean stopped = new AtomicBoolean();
        List<Thread> writers = IntStream.range(0, 4)
                .mapToObj(n -> new Thread(() -> {
                    for (int i = 0; !stopped.get(); i++) {
                        source.put("k" + n + "/" + i % 50, "x".repeat(50));
                    }
                }))
                .toList();
        writers.forEach(Thread::start);
        try (FaultProxy firstLink = linkToTarget();
                FaultProxy secondLink = linkToTarget();
                MirrorProcess first = start(firstLink, options)) {
            awaitActive(first, source.revision());
            try (MirrorProcess second = start(secondLink, options)) {
                awaitState(second, MirrorState.STANDBY);
                List<MirrorProcess> processes = List.of(first, second);
                for (int round = 0; round < TAKE_OVERS; round++) {
                    FaultProxy link = round % 2 == 0 ? firstLink : secondLink;
                    ByteString holder = active().getValue();
                    if (isCut) {
                        link.blackHole();
                    }
                    await().atMost(PATIENCE).until(() -> isHeldByAnother(holder));
                    link.heal();
                    awaitState(processes.get(round % 2), MirrorState.STANDBY);
                    long reached = processes.get(round % 2).reports().get(0).completeRevision();
                    awaitActive(processes.get(1 - round % 2), reached + 1);
                    assertThat(first.failure()).isNotDone();
                    assertThat(second.failure()).isNotDone();
                    LOG.info("take-over {} of {}", round + 1, TAKE_OVERS);
                }
                stopped.set(true);
                for (Thread writer : writers) {
                    writer.join();
                }
                awaitActive(first, source.revision());
            }
        } finally {
            stopped.set(true);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    private static void awaitActive(MirrorProcess process, long revision) {
        await().atMost(PATIENCE.multipliedBy(2))
                .until(() -> process.reports().get(0).state() != MirrorState.STANDBY
                        && process.reports().get(0).completeRevision() >= revision);
    }

    /** Revokes the lease of the process that holds the role until another one does. */
    private boolean isHeldByAnother(ByteString holder) {
        List<KeyValue> found = target.get(ACTIVE).getKvsList();
        if (!found.isEmpty() && found.get(0).getValue().equals(holder)) {
            try {
                var unused = CLUSTERS.target()
                        .etcdctl(
                                "lease", "revoke", Long.toHexString(found.get(0).getLease()));
            } catch (IllegalStateException e) {
                LOG.info("lease not revoked: {}", e.getMessage());
            }
            return false;
        }
        return !found.isEmpty();
    }

    private KeyValue active() {
        return target.get(ACTIVE).getKvs(0);
    }

    private static void awaitState(MirrorProcess process, MirrorState state) {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).untilAsserted(() -> assertThat(
                        process.reports().get(0).state())
                .isEqualTo(state));
    }

    private static MirrorProcess start() {
        return CLUSTERS.mirror();
    }

    private static MirrorProcess start(Duration activeTtl) {
        MirrorSettings.Target.Etcd usual =
                MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), EtcdSinkOptions.DEFAULTS);
        return Mirrors.start(new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                MirrorScope.all(),
                new MirrorSettings.Target.Etcd(
                        usual.cluster(),
                        usual.options(),
                        usual.verify(),
                        usual.compactAfter(),
                        activeTtl,
                        usual.auth())));
    }

    private static MirrorProcess start(EtcdSettings targetSettings) {
        return Mirrors.etcd(
                Mirrors.settings(CLUSTERS.source()), targetSettings, MirrorScope.all(), EtcdSinkOptions.DEFAULTS);
    }

    private static MirrorProcess start(FaultProxy link, EtcdSinkOptions options) {
        return Mirrors.etcd(Mirrors.settings(CLUSTERS.source()), through(link), MirrorScope.all(), options);
    }

    private static FaultProxy linkToTarget() {
        URI url = CLUSTERS.target().leader().directClientUrl();
        return FaultProxy.to(new InetSocketAddress(url.getHost(), url.getPort()));
    }

    private static EtcdSettings through(FaultProxy link) {
        EtcdSettings usual = Mirrors.impatient(CLUSTERS.target());
        return new EtcdSettings(
                usual.name(),
                List.copyOf(EtcdSettings.of(URI.create("http://127.0.0.1:" + link.port()))
                        .endpoints()),
                MemberDiscovery.CONFIGURED,
                usual.probeInterval(),
                usual.requestTimeout(),
                usual.tls(),
                usual.login());
    }

    private static HttpResponse<String> get(MirrorProcess process, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + process.statusPort() + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }
}
