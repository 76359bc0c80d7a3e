package io.understudy.mirror.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.mirror.fixture.Clusters;
import io.understudy.mirror.fixture.Leases;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.lease.LeaseKeeper.LeaseMetrics;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Expired keys are restored, also more than are read at a time.
 *
 * <p>Tests invariant M11.
 */
final class LeaseRestoreIT {

    private static final int KEYS = 40;

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private final Clusters connections = CLUSTERS.connections();
    private final List<String> created = new ArrayList<>();
    private Leases owner;
    private KeptLeases kept;

    @BeforeEach
    void putLeasedKeys() {
        owner = Leases.of(CLUSTERS.source().leader());
        for (int i = 0; i < KEYS; i++) {
            // The order of creation differs from that of keys.
            String key = "/k/" + (i * 7) % KEYS;
            owner.put(key, "v" + i, owner.grant(60));
            created.add(key);
        }
        ByteString any = ByteString.copyFromUtf8("any");
        LeaseMetrics metrics = new LeaseMetrics("dr", new SimpleMeterRegistry());
        kept = new KeptLeases(
                new LeaseKeeper("dr", "test/1", connections.target(), 100, metrics),
                MirrorScope.all(),
                connections.source(),
                new Silent());
        kept.in(() -> Compare.newBuilder()
                .setKey(any)
                .setTarget(Compare.CompareTarget.VERSION)
                .setVersion(0)
                .build());
        kept.of(cluster());
    }

    @AfterEach
    void close() {
        kept.close();
        owner.close();
    }

    @Test
    void keysAreRestoredInTheOrderOfTheirCreation() {
        assertThat(kept.restore(now(), null, this::write)).isTrue();
        assertThat(target.contents()).isEqualTo(source.contents()).hasSize(KEYS);
        List<KeyValue> found = new ArrayList<>(target.kv()
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("/k/"))
                        .setRangeEnd(ByteString.copyFromUtf8("/k0"))
                        .build())
                .getKvsList());
        found.sort(Comparator.comparingLong(KeyValue::getCreateRevision));
        assertThat(found).extracting(entry -> entry.getKey().toStringUtf8()).isEqualTo(created);
    }

    /** Together they may be larger than a response. */
    @Test
    void valuesOfTheTargetAreNotRead() throws Exception {
        long lease = owner.grant(60);
        String large = "v".repeat(100_000);
        for (int i = 0; i < 30; i++) {
            owner.put("/large/" + i, large, lease);
        }
        assertThat(kept.restore(now(), null, this::write)).isTrue();
        long written = target.revision();
        long sent = sentByTarget();
        source.put("/plain", "");

        assertThat(kept.restore(now(), null, this::write)).isTrue();
        assertThat(target.revision()).isEqualTo(written);
        assertThat(sentByTarget() - sent).isLessThan(1_000_000);
    }

    private static long sentByTarget() throws Exception {
        URI metrics = CLUSTERS.target().leader().clientUrl().resolve("/metrics");
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofLines())
                .body()
                .filter(line -> line.startsWith("etcd_network_client_grpc_sent_bytes_total "))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.indexOf(' '))))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aRevisionCompactedBeforeTheFirstWriteChangesNothing() {
        Position before = now();
        compact();
        assertThat(kept.restore(before, null, this::write)).isFalse();
        assertThat(target.contents()).isEmpty();
    }

    /** A part of the values is in memory at most, so that the rest is read later. */
    @Test
    void aRevisionCompactedLaterEndsTheSink() {
        assertThatThrownBy(() -> kept.restore(now(), null, operations -> {
                    write(operations);
                    compact();
                }))
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessageContaining("compacted revision");
        assertThat(target.contents()).isNotEmpty().hasSizeLessThan(KEYS);
    }

    /** A new grant would hide that its keys are gone. */
    @Test
    void aLeaseThatEndedInTheTargetIsNotGrantedAgainWithAnotherTtl() {
        long id = owner.grant(60);
        assertThat(kept.hold(List.of(id))).isEmpty();
        owner.revoke(id);
        owner.grant(id, 30);
        target.revoke(id);
        assertThatThrownBy(() -> kept.hold(List.of(id)))
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessageContaining("expired despite");
    }

    private void write(List<RequestOp> operations) {
        var unused = target.kv()
                .txn(TxnRequest.newBuilder().addAllSuccess(operations).build());
    }

    private void compact() {
        long head = source.put("/plain", "");
        var unused = source.kv()
                .compact(CompactionRequest.newBuilder().setRevision(head).build());
    }

    private Position now() {
        return new Position(cluster(), new Revision(source.revision()), null);
    }

    private ClusterId cluster() {
        return new ClusterId(
                source.get(ByteString.copyFromUtf8("any")).getHeader().getClusterId());
    }
}
