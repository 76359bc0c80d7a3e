package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Members of the source are killed one after the other under writes, and its learner is promoted and removed; afterwards
 * the gateway equals the source.
 *
 * <p>Tests invariants R1, R2.
 */
@Timeout(240)
final class MemberLossIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(3).learners(1).named("source");

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());

    @Test
    void theGatewayEqualsItsSourceAfterEachMemberFailedOrChanged() throws Exception {
        Writes writes = new Writes(
                SOURCE.cluster().voters().stream()
                        .map(voter -> GatewayFixture.channel(
                                voter.clientUrl().getHost(), voter.clientUrl().getPort()))
                        .toList(),
                new Random(seed));
        Thread writing = new Thread(writes, "writes");
        writing.start();
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            long revision = 0;
            for (EtcdMember member : SOURCE.cluster().members()) {
                member.kill();
                revision = advances(fixture, writes, revision);
                member.start();
                revision = advances(fixture, writes, revision);
            }
            EtcdMember learner = SOURCE.cluster().learners().get(0);
            // Refused until it is in sync.
            await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> SOURCE.cluster()
                    .promote(learner));
            revision = advances(fixture, writes, revision);
            SOURCE.cluster().remove(learner);
            long unused = advances(fixture, writes, revision);
            writes.stop();
            writing.join(PATIENCE.toMillis());
            assertThat(writing.isAlive()).isFalse();
            await().atMost(PATIENCE).untilAsserted(() -> {
                RangeResponse source = writes.everything();
                RangeResponse gateway = fixture.everything();
                assertThat(gateway.getHeader().getRevision())
                        .as("seed %d", seed)
                        .isEqualTo(source.getHeader().getRevision());
                assertThat(gateway.getHeader().getRaftTerm())
                        .isEqualTo(source.getHeader().getRaftTerm());
                assertThat(gateway.getKvsList()).isEqualTo(source.getKvsList());
            });
            assertThat(fixture.gateway.failure()).isNotDone();
        } finally {
            writes.stop();
            writing.join(PATIENCE.toMillis());
            writes.close();
        }
    }

    /** Waits until writes after this call have reached the gateway; its revision must never decrease. */
    private static long advances(GatewayFixture fixture, Writes writes, long before) {
        int target = writes.acknowledged.get() + 20;
        await().atMost(PATIENCE).until(() -> writes.acknowledged.get() >= target);
        long wanted = writes.everything().getHeader().getRevision();
        long[] last = {before};
        await().atMost(PATIENCE).until(() -> {
            long now = fixture.everything().getHeader().getRevision();
            assertThat(now).isGreaterThanOrEqualTo(last[0]);
            last[0] = now;
            return now >= wanted;
        });
        return last[0];
    }

    /** Writes until stopped, to whichever voter takes it. */
    private static final class Writes implements Runnable {

        final AtomicInteger acknowledged = new AtomicInteger();
        private final AtomicBoolean stopped = new AtomicBoolean();
        private final List<ManagedChannel> voters;
        private final Random random;

        Writes(List<ManagedChannel> voters, Random random) {
            this.voters = voters;
            this.random = random;
        }

        @Override
        public void run() {
            while (!stopped.get()) {
                for (ManagedChannel voter : voters) {
                    try {
                        write(GatewayFixture.kv(voter).withDeadlineAfter(2, TimeUnit.SECONDS));
                        acknowledged.incrementAndGet();
                        break;
                    } catch (StatusRuntimeException e) {
                        // Down or without a leader, and perhaps written all the same: what counts is the end.
                    }
                }
            }
        }

        void stop() {
            stopped.set(true);
        }

        void close() {
            voters.forEach(ManagedChannel::shutdownNow);
        }

        /** A linearizable read of whichever voter answers. */
        RangeResponse everything() {
            StatusRuntimeException failure = null;
            for (ManagedChannel voter : voters) {
                try {
                    return GatewayFixture.kv(voter)
                            .withDeadlineAfter(5, TimeUnit.SECONDS)
                            .range(GatewayFixture.everythingRequest().toBuilder()
                                    .setSerializable(false)
                                    .build());
                } catch (StatusRuntimeException e) {
                    failure = e;
                }
            }
            throw new AssertionError("no voter answers", failure);
        }

        private void write(KVBlockingStub etcd) {
            switch (random.nextInt(4)) {
                case 0 ->
                    etcd.deleteRange(
                            DeleteRangeRequest.newBuilder().setKey(key()).build());
                case 1 ->
                    etcd.txn(TxnRequest.newBuilder()
                            .addSuccess(RequestOp.newBuilder().setRequestPut(put("x/")))
                            .addSuccess(RequestOp.newBuilder().setRequestPut(put("y/")))
                            .addSuccess(RequestOp.newBuilder()
                                    .setRequestDeleteRange(
                                            DeleteRangeRequest.newBuilder().setKey(key())))
                            .build());
                default -> etcd.put(put("k/"));
            }
        }

        private PutRequest put(String prefix) {
            return PutRequest.newBuilder()
                    .setKey(ByteString.copyFromUtf8(prefix + random.nextInt(200)))
                    .setValue(ByteString.copyFromUtf8(Long.toString(random.nextLong())))
                    .build();
        }

        private ByteString key() {
            return ByteString.copyFromUtf8("k/" + random.nextInt(200));
        }
    }
}
