package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.understudy.gateway.read.ReadSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The four consistencies while all is well, of a replica of everything and of one that holds a prefix.
 *
 * <p>Tests invariants C1, C4.
 */
@Timeout(120)
final class ConsistencyIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    private static final ByteString INSIDE = ByteString.copyFromUtf8("inside/key");
    private static final ByteString OUTSIDE = ByteString.copyFromUtf8("outside/key");

    private static ManagedChannel voter;
    private static GatewayFixture whole;
    private static GatewayFixture part;

    @BeforeAll
    static void start() throws Exception {
        EtcdMember member = SOURCE.cluster().voters().get(0);
        voter = GatewayFixture.channel(
                member.clientUrl().getHost(), member.clientUrl().getPort());
        whole = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()));
        part = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()).withPrefix("inside/"));
        whole.awaitReady();
        part.awaitReady();
    }

    @AfterAll
    static void stop() {
        whole.close();
        part.close();
        voter.shutdownNow();
    }

    @Test
    void aLinearizableReadSeesEveryWriteAcknowledgedBefore() {
        for (int i = 0; i < 200; i++) {
            long written = put(INSIDE, "v" + i);
            RangeResponse seen = whole.kv().range(get(INSIDE).build());
            assertThat(seen.getHeader().getRevision()).isGreaterThanOrEqualTo(written);
            assertThat(seen.getKvs(0).getValue().toStringUtf8()).isEqualTo("v" + i);
        }
    }

    @Test
    void aLinearizableReadOfAPartSeesEveryWriteElsewhere() {
        for (int i = 0; i < 50; i++) {
            readPartAfterWriteElsewhere("v" + i);
        }
    }

    @Test
    @Tag("speed")
    void aLinearizableReadOfAPartRequestsProgressAtOnce() {
        long began = System.nanoTime();
        for (int i = 0; i < 50; i++) {
            readPartAfterWriteElsewhere("v" + i);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began).dividedBy(50)).isLessThan(Duration.ofMillis(200));
    }

    private static void readPartAfterWriteElsewhere(String value) {
        long written = put(OUTSIDE, value);
        assertThat(part.kv().range(get(INSIDE).build()).getHeader().getRevision())
                .isGreaterThanOrEqualTo(written);
    }

    @Test
    void readsOutsideTheRangeUseTheLearnerAtTheSameConsistency() {
        for (int i = 0; i < 50; i++) {
            long written = put(OUTSIDE, "v" + i);
            RangeResponse seen = part.kv().range(get(OUTSIDE).build());
            assertThat(seen.getHeader().getRevision()).isGreaterThanOrEqualTo(written);
            assertThat(seen.getKvs(0).getValue().toStringUtf8()).isEqualTo("v" + i);
            assertThat(seen.getHeader().getMemberId())
                    .isEqualTo(part.gateway.memberId().value());
        }
        assertThat(part.page("/metrics").body())
                .containsPattern(
                        "understudy_gateway_reads_total\\{consistency=\"linearizable\",origin=\"learner\".* [1-9]")
                .containsPattern(
                        "understudy_gateway_reads_total\\{consistency=\"linearizable\",origin=\"voter\".* 0\\.0");
    }

    @Test
    void aTransactionAcrossTheRangesEndIsEvaluatedAtOneRevision() {
        put(INSIDE, "in");
        long written = put(OUTSIDE, "out");
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Compare.newBuilder()
                        .setKey(OUTSIDE)
                        .setTarget(Compare.CompareTarget.VALUE)
                        .setResult(Compare.CompareResult.EQUAL)
                        .setValue(ByteString.copyFromUtf8("out")))
                .addSuccess(RequestOp.newBuilder().setRequestRange(get(INSIDE)))
                .addSuccess(RequestOp.newBuilder().setRequestRange(get(OUTSIDE)))
                .addFailure(RequestOp.newBuilder().setRequestRange(get(INSIDE)))
                .build();

        TxnResponse seen = part.kv().txn(txn);

        assertThat(seen.getSucceeded()).isTrue();
        assertThat(seen.getHeader().getRevision()).isGreaterThanOrEqualTo(written);
        assertThat(seen.getResponsesList())
                .isEqualTo(GatewayFixture.kv(voter).txn(txn).getResponsesList());
        assertThat(whole.kv().txn(txn).getResponsesList()).isEqualTo(seen.getResponsesList());
    }

    @Test
    void pastAndFutureRevisionsAreAnsweredAsByEtcd() {
        long first = put(INSIDE, "first");
        long second = put(INSIDE, "second");
        assertThat(whole.kv()
                        .range(get(INSIDE).setRevision(first).build())
                        .getKvs(0)
                        .getValue()
                        .toStringUtf8())
                .isEqualTo("first");
        RangeRequest future = get(INSIDE).setRevision(second + 1_000).build();
        assertThat(refusal(() -> whole.kv().range(future)).toString())
                .isEqualTo(refusal(() -> GatewayFixture.kv(voter).range(future)).toString());
    }

    @Test
    void anAtLeastReadAwaitsItsRevision() {
        long written = put(INSIDE, "awaited");
        for (GatewayFixture gateway : new GatewayFixture[] {whole, part}) {
            RangeResponse seen = gateway.kv("understudy-min-revision", Long.toString(written))
                    .range(serializable(INSIDE));
            assertThat(seen.getHeader().getRevision()).isGreaterThanOrEqualTo(written);
            assertThat(seen.getKvs(0).getValue().toStringUtf8()).isEqualTo("awaited");
        }
    }

    @Test
    void anAtLeastReadOfAFutureRevisionTimesOut() {
        String far = Long.toString(put(INSIDE, "x") + 1_000_000);
        for (GatewayFixture gateway : new GatewayFixture[] {whole, part}) {
            for (ByteString key : new ByteString[] {INSIDE, OUTSIDE}) {
                long began = System.nanoTime();
                // The client's deadline is later: the error is the gateway's own timeout.
                Status refusal =
                        refusal(() -> gateway.kv("understudy-min-revision", far).range(serializable(key)));
                assertThat(refusal.getCode()).isEqualTo(Status.Code.OUT_OF_RANGE);
                assertThat(refusal.getDescription())
                        .isEqualTo("etcdserver: mvcc: required revision is a future revision");
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofMillis(900));
            }
        }
    }

    @Test
    void aBoundedReadIsNoOlderThanItsBound() {
        KVBlockingStub zero = whole.kv("understudy-max-staleness-ms", "0");
        for (int i = 0; i < 20; i++) {
            long written = put(INSIDE, "v" + i);
            assertThat(zero.range(serializable(INSIDE)).getHeader().getRevision())
                    .as("a bound of nothing needs a round of its own")
                    .isGreaterThanOrEqualTo(written);
        }
        await().atMost(PATIENCE).until(() -> whole.gateway.staleness() != null);
        assertThat(whole.kv("understudy-max-staleness-ms", "2000")
                        .range(serializable(INSIDE))
                        .getKvsCount())
                .isEqualTo(1);
    }

    @Test
    void anAnswerCarriesItsRevisionAndStaleness() {
        await().atMost(PATIENCE).until(() -> whole.gateway.staleness() != null);
        AtomicReference<Metadata> metadata = new AtomicReference<>();
        RangeResponse answer = whole.kv()
                .withInterceptors(MetadataUtils.newCaptureMetadataInterceptor(metadata, new AtomicReference<>()))
                .range(get(INSIDE).build());

        assertThat(metadata.get().get(ascii("understudy-revision")))
                .isEqualTo(Long.toString(answer.getHeader().getRevision()));
        assertThat(Long.parseLong(metadata.get().get(ascii("understudy-staleness-ms"))))
                .isNotNegative();
    }

    private static Metadata.Key<String> ascii(String name) {
        return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    }

    @Test
    void invalidFreshnessIsRejected() {
        for (String bad : new String[] {"-1", "soon", "", "1.5"}) {
            for (String key : new String[] {"understudy-max-staleness-ms", "understudy-min-revision"}) {
                Status refusal = refusal(() -> whole.kv(key, bad).range(serializable(INSIDE)));
                assertThat(refusal.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
                assertThat(refusal.getDescription()).contains(key, "'" + bad + "'");
            }
        }
    }

    @Test
    void everyReadIndexRoundReducesStaleness() {
        for (GatewayFixture gateway : new GatewayFixture[] {whole, part}) {
            await().atMost(PATIENCE).until(() -> gateway.gateway.staleness() != null);
            for (int i = 0; i < 5; i++) {
                awaitRound(gateway, gateway.gateway.staleness());
            }
        }
    }

    @Test
    @Tag("speed")
    void stalenessStaysAboutTheIntervalOfRounds() {
        await().atMost(PATIENCE).until(() -> whole.gateway.staleness() != null && part.gateway.staleness() != null);
        for (int i = 0; i < 5; i++) {
            awaitRound(whole, whole.gateway.staleness());
            Duration interval = ReadSettings.DEFAULTS.asOfInterval();
            assertThat(whole.gateway.staleness()).isLessThan(interval.plusMillis(800));
            assertThat(part.gateway.staleness()).isLessThan(interval.plusMillis(2_300));
        }
    }

    /** Staleness grows with the time that passes, and falls only when a later round confirms the replica. */
    private static void awaitRound(GatewayFixture gateway, Duration before) {
        AtomicReference<Duration> last = new AtomicReference<>(before);
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(5)).until(() -> {
            Duration now = gateway.gateway.staleness();
            return now.compareTo(last.getAndSet(now)) < 0;
        });
    }

    private static long put(ByteString key, String value) {
        return GatewayFixture.kv(voter)
                .put(PutRequest.newBuilder()
                        .setKey(key)
                        .setValue(ByteString.copyFromUtf8(value))
                        .build())
                .getHeader()
                .getRevision();
    }

    private static RangeRequest.Builder get(ByteString key) {
        return RangeRequest.newBuilder().setKey(key);
    }

    private static RangeRequest serializable(ByteString key) {
        return get(key).setSerializable(true).build();
    }

    private static Status refusal(ThrowingCallable call) {
        StatusRuntimeException[] refused = new StatusRuntimeException[1];
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(call)
                .satisfies(refusal -> refused[0] = refusal);
        return refused[0].getStatus();
    }
}
