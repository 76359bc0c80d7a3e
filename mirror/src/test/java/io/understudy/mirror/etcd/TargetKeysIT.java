package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pages of a large range, with estimated ends, have each key once and in order. */
final class TargetKeysIT {

    private static final int KEYS = 20_000;
    private static final int KEYS_PER_TXN = 128;

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    @Test
    void eachKeyIsThereOnce() {
        SortedSet<ByteString> keys = new TreeSet<>(KeyRange.KEY_ORDER);
        // Dense, sparse, and in groups.
        IntStream.range(0, KEYS)
                .mapToObj(number -> "/p/%s/%d"
                        .formatted(
                                Integer.toHexString(number % 7 * number % 5),
                                number < KEYS / 2 ? number : number * 977L))
                .map(ByteString::copyFromUtf8)
                .forEach(keys::add);
        try (EtcdCluster cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
                TestClient client = TestClient.of(TARGET.cluster().leader())) {
            client.deleteAll();
            put(client, keys);
            TargetCalls calls = new TargetCalls(cluster, new Silent());
            KeyRange range = KeyRange.prefix(ByteString.copyFromUtf8("/p/"));

            List<ByteString> all = List.copyOf(keys);
            assertThat(keysOf(TargetKeys.withoutValues(calls, range, Revision.ZERO)))
                    .isEqualTo(all);
            assertThat(keysOf(new TargetKeys(calls, range))).isEqualTo(all);
        }
    }

    private static void put(TestClient client, SortedSet<ByteString> keys) {
        List<ByteString> all = List.copyOf(keys);
        for (int i = 0; i < all.size(); i += KEYS_PER_TXN) {
            TxnRequest.Builder txn = TxnRequest.newBuilder();
            all.subList(i, Math.min(all.size(), i + KEYS_PER_TXN))
                    .forEach(key -> txn.addSuccess(Operations.put(key, ByteString.EMPTY)));
            var unused = client.kv().txn(txn.build());
        }
    }

    private static List<ByteString> keysOf(TargetKeys found) {
        List<ByteString> keys = new ArrayList<>();
        found.forEachRemaining((KeyValue each) -> keys.add(each.getKey()));
        return keys;
    }
}
