package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.gateway.read.ReadSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What is still answered, and how, while parts of the source are down; and that it all comes back by itself.
 *
 * <p>Tests invariants C2, C3, C4.
 */
@Timeout(180)
final class SourceDownIT {

    @RegisterExtension
    static final EtcdExtension SOURCE =
            EtcdExtension.voters(3).learners(1).named("source").behindProxies();

    private static final ByteString INSIDE = ByteString.copyFromUtf8("inside/key");
    private static final ByteString OUTSIDE = ByteString.copyFromUtf8("outside/key");
    private static final String MAX_STALENESS = "understudy-max-staleness-ms";

    private GatewayFixture fixture;

    @BeforeEach
    void start() throws Exception {
        ReadSettings usual = ReadSettings.DEFAULTS;
        fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster())
                .withPrefix("inside/")
                .with(new ReadSettings(
                        Duration.ofSeconds(3),
                        usual.freshnessTimeout(),
                        usual.roundTimeout(),
                        usual.asOfInterval(),
                        usual.maxWaiting(),
                        usual.maxPassedThrough(),
                        usual.maxPassedThroughBytes())));
        // The previous test may have left the cluster without a leader for a moment.
        await().atMost(PATIENCE).ignoreExceptions().until(() -> put(INSIDE) > 0 && put(OUTSIDE) > 0);
        fixture.awaitReady();
        await().atMost(PATIENCE).until(() -> fixture.gateway.staleness() != null);
    }

    @AfterEach
    void stop() {
        fixture.close();
    }

    @Test
    void stalenessGrowsFromTheInstantTheQuorumIsGoneAndBoundedReadsFailOnTime() {
        EtcdMember leader = SOURCE.cluster().leader();
        EtcdMember follower = SOURCE.cluster().followers().get(0);
        long before = System.nanoTime();
        Duration atFirst = fixture.gateway.staleness();
        leader.pause();
        follower.pause();
        long gone = System.nanoTime();
        Duration bound = Duration.ofMillis(1_500);

        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> {
            long now = System.nanoTime();
            // The third member may still report progress, which confirms no quorum.
            assertThat(fixture.gateway.staleness()).isGreaterThanOrEqualTo(Duration.ofNanos(now - gone));
            assertThat(fixture.kv().range(get(INSIDE, true)).getKvsCount()).isEqualTo(1);
            return now - gone > bound.toNanos();
        });
        // The client's own deadline is later, and the error is not that of the read timeout.
        StatusRuntimeException refusal = refusal(
                () -> fixture.kv(MAX_STALENESS, Long.toString(bound.toMillis())).range(get(INSIDE, true)));

        assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(refusal.getStatus().getDescription()).matches("understudy: staleness is \\d+ ms; allowed: 1500 ms");
        Duration atLast = fixture.gateway.staleness();
        assertThat(atLast.minus(atFirst).toNanos())
                .as("staleness grows no faster than time")
                .isLessThanOrEqualTo(System.nanoTime() - before);

        SOURCE.heal();
        await().atMost(PATIENCE).until(() -> fixture.gateway.staleness().compareTo(Duration.ofSeconds(1)) < 0);
        assertThat(fixture.kv(MAX_STALENESS, "1500").range(get(INSIDE, true)).getKvsCount())
                .isEqualTo(1);
    }

    @Test
    void withoutVotersOnlySerializableReadsContinue() {
        SOURCE.cluster().voters().forEach(EtcdMember::pause);

        // The client's own deadline is far off, so that the error is the gateway's own.
        StatusRuntimeException refusal = refusal(() -> fixture.kv().range(get(INSIDE, false)));

        assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(refusal.getStatus().getDescription()).isEqualTo("etcdserver: request timed out");
        assertThat(fixture.kv().range(get(INSIDE, true)).getKvsCount()).isEqualTo(1);
        assertThat(fixture.kv().range(get(OUTSIDE, true)).getKvsCount())
                .as("passed through to the learner")
                .isEqualTo(1);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(fixture.page("/readyz").body())
                        .contains("[-]read_index failed: no revision confirmed for")
                        .contains("[+]source ok: no voting member reachable; only serializable reads are served"));

        SOURCE.heal();
        fixture.awaitReady();
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> fixture.kv().range(get(INSIDE, false)).getKvsCount() == 1);
    }

    @Test
    void withoutAQuorumReadinessDependsOnConfiguredReads() throws Exception {
        try (GatewayFixture impatient = new GatewayFixture(
                GatewayFixture.withMaxSilence(GatewayFixture.settings(SOURCE.cluster()), Duration.ofSeconds(2)))) {
            impatient.awaitReady();
            SOURCE.cluster().voters().forEach(EtcdMember::pause);

            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(impatient.page("/readyz").body())
                            .contains("[-]staleness failed: no source progress for"));

            assertThat(impatient.page("/health").statusCode()).isEqualTo(503);
            assertThat(impatient.page("/health?serializable=true").statusCode()).isEqualTo(200);
            assertThat(impatient
                            .page("/readyz?exclude=read_index&exclude=staleness")
                            .statusCode())
                    .isEqualTo(200);

            SOURCE.cluster().learners().get(0).pause();
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(impatient.page("/readyz").body())
                            .contains("[-]source failed: no endpoint reachable; http://127.0.0.1:"));
            assertThat(impatient.page("/health?serializable=true").statusCode()).isEqualTo(200);
            SOURCE.heal();
        }
        fixture.awaitReady();
    }

    @Test
    void withoutALearnerVotersServeInItsPlaceUntilItIsBack() {
        SOURCE.cluster().learners().get(0).kill();

        for (int i = 0; i < 20; i++) {
            long written = put(OUTSIDE);
            assertThat(fixture.kv().range(get(OUTSIDE, false)).getHeader().getRevision())
                    .isGreaterThanOrEqualTo(written);
            assertThat(fixture.kv().range(get(INSIDE, false)).getHeader().getRevision())
                    .isGreaterThanOrEqualTo(written);
        }
        assertThat(reads("linearizable", "voter")).isGreaterThan(0);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(fixture.page("/readyz?verbose").body())
                        .contains("[+]source ok: no learner reachable; voting members serve snapshots and read indexes")
                        .contains("[+]read_index ok"));

        SOURCE.heal();
        double before = reads("linearizable", "learner");
        await().atMost(PATIENCE).until(() -> {
            assertThat(fixture.kv().range(get(OUTSIDE, false)).getKvsCount()).isEqualTo(1);
            return reads("linearizable", "learner") > before;
        });
    }

    @Test
    void sessionsNeverGoBackBetweenReplicaAndSource() {
        // The feed comes late, so the learner is ahead of the replica.
        SOURCE.cluster().voters().forEach(voter -> voter.clientProxy().delay(Duration.ofMillis(100)));
        long seen = 0;
        for (int i = 0; i < 10; i++) {
            long written = put(i % 2 == 0 ? INSIDE : OUTSIDE);
            await().atMost(PATIENCE)
                    .until(() -> SOURCE.cluster().learners().get(0).status().revision() >= written);
            seen = forward(OUTSIDE, seen);
            seen = forward(INSIDE, seen);
        }
        SOURCE.heal();
        // The other way round.
        SOURCE.cluster().isolate(SOURCE.cluster().learners().get(0));
        for (int i = 0; i < 3; i++) {
            long written = put(INSIDE);
            await().atMost(PATIENCE)
                    .until(() ->
                            fixture.kv().range(get(INSIDE, true)).getHeader().getRevision() >= written);
            seen = forward(OUTSIDE, written);
        }
        assertThat(reads("serializable", "voter")).isGreaterThan(0);
    }

    /** A serializable read, on the one session of the fixture. */
    private long forward(ByteString key, long seen) {
        long revision = fixture.kv().range(get(key, true)).getHeader().getRevision();
        assertThat(revision).isGreaterThanOrEqualTo(seen);
        return revision;
    }

    private double reads(String consistency, String origin) {
        String line = "understudy_gateway_reads_total{consistency=\"" + consistency + "\",origin=\"" + origin + "\"";
        return fixture.page("/metrics")
                .body()
                .lines()
                .filter(each -> each.startsWith(line))
                .mapToDouble(each -> Double.parseDouble(each.substring(each.lastIndexOf(' '))))
                .sum();
    }

    private static long put(ByteString key) {
        EtcdMember leader = SOURCE.cluster().leader();
        ManagedChannel channel = GatewayFixture.channel(
                leader.directClientUrl().getHost(), leader.directClientUrl().getPort());
        try {
            KVBlockingStub kv = GatewayFixture.kv(channel);
            return kv.put(PutRequest.newBuilder().setKey(key).setValue(key).build())
                    .getHeader()
                    .getRevision();
        } finally {
            channel.shutdownNow();
        }
    }

    private static RangeRequest get(ByteString key, boolean serializable) {
        return RangeRequest.newBuilder()
                .setKey(key)
                .setSerializable(serializable)
                .build();
    }

    private static StatusRuntimeException refusal(Callable<?> call) {
        return catchThrowableOfType(StatusRuntimeException.class, call::call);
    }
}
