package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.understudy.local.junit.EtcdExtension;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Random ranges asked of the gateway and of its source: both answer the same, or refuse in the same words. */
@Timeout(180)
final class RangeDifferenceIT {

    private static final byte[] ALPHABET = {0, 1, 'a', 'b', 0x7f, (byte) 0x80, (byte) 0xff};
    private static final int WRITES = 300;
    private static final int REQUESTS = 1_000;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @Test
    void theGatewayAnswersAsItsSourceDoes() throws Exception {
        var url = SOURCE.cluster().clientUrls().get(0);
        ManagedChannel channel = GatewayFixture.channel(url.getHost(), url.getPort());
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            for (int i = 0; i < WRITES; i++) {
                write(GatewayFixture.kv(channel), i);
            }
            RangeResponse all = GatewayFixture.kv(channel).range(GatewayFixture.everythingRequest());
            fixture.awaitReady();
            fixture.awaitRevision(all.getHeader().getRevision());
            assertThat(fixture.everything().getKvsList()).isEqualTo(all.getKvsList());
            for (int i = 0; i < REQUESTS; i++) {
                RangeRequest request = request(all.getHeader().getRevision());
                assertThat(answer(fixture.kv(), request))
                        .as("seed %d, request %d: %s", seed, i, request)
                        .isEqualTo(answer(GatewayFixture.kv(channel), request));
            }
        } finally {
            channel.shutdownNow();
        }
    }

    private void write(KVBlockingStub etcd, int number) {
        if (random.nextInt(8) == 0) {
            etcd.deleteRange(DeleteRangeRequest.newBuilder().setKey(key()).build());
        } else {
            // Values differ, so that an order by value is the only one.
            etcd.put(PutRequest.newBuilder()
                    .setKey(key())
                    .setValue(ByteString.copyFromUtf8(Integer.toString((number * 7919) % 10_007)))
                    .build());
        }
    }

    private RangeRequest request(long revision) {
        RangeRequest.Builder request = RangeRequest.newBuilder().setSerializable(true);
        if (random.nextInt(50) > 0) {
            request.setKey(key());
        }
        switch (random.nextInt(4)) {
            case 0 -> request.setRangeEnd(GatewayFixture.ZERO);
            case 1, 2 -> request.setRangeEnd(key());
            default -> request.clearRangeEnd();
        }
        if (random.nextInt(3) == 0) {
            request.setLimit(random.nextInt(12) - 1L);
        }
        if (random.nextInt(3) == 0) {
            request.setSortTarget(oneOf(SortTarget.KEY, SortTarget.MOD, SortTarget.VALUE, SortTarget.VERSION))
                    .setSortOrder(oneOf(SortOrder.NONE, SortOrder.ASCEND, SortOrder.DESCEND));
        }
        if (random.nextInt(6) == 0) {
            request.setMinModRevision(random.nextInt(WRITES)).setMaxCreateRevision(random.nextInt(WRITES));
        }
        if (random.nextInt(6) == 0) {
            request.setMaxModRevision(random.nextInt(WRITES)).setMinCreateRevision(random.nextInt(WRITES));
        }
        request.setCountOnly(random.nextInt(10) == 0).setKeysOnly(random.nextInt(6) == 0);
        if (random.nextInt(10) == 0) {
            request.setRevision(oneOf(revision, revision + 1, -1L));
        }
        return request.build();
    }

    /** What can be compared: etcd leaves the order of equal versions open. */
    private static Object answer(KVBlockingStub kv, RangeRequest request) {
        try {
            RangeResponse response = kv.range(request);
            Function<KeyValue, Object> compared =
                    request.getSortTarget() == SortTarget.VERSION ? KeyValue::getVersion : entry -> entry;
            return List.of(
                    response.getHeader().getClusterId(),
                    response.getHeader().getRevision(),
                    response.getCount(),
                    response.getMore(),
                    response.getKvsList().stream().map(compared).toList());
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode() + ": " + e.getStatus().getDescription();
        }
    }

    private ByteString key() {
        byte[] key = new byte[1 + random.nextInt(3)];
        for (int i = 0; i < key.length; i++) {
            key[i] = ALPHABET[random.nextInt(ALPHABET.length)];
        }
        return ByteString.copyFrom(key);
    }

    @SafeVarargs
    private <T> T oneOf(T... options) {
        return options[random.nextInt(options.length)];
    }
}
