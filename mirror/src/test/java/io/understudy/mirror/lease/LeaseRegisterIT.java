package io.understudy.mirror.lease;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.lease.LeaseKeeper.LeaseMetrics;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which leases are a mirror's own is written by the mirror's active process alone. */
final class LeaseRegisterIT {

    private static final ClusterId SOURCE = new ClusterId(0xfeed);

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1)
            .named("target")
            .with(builder -> builder.extraArguments("--max-txn-ops=" + EtcdSinkOptions.LEAST_TXN_OPS));

    @BeforeEach
    void beginEmpty() {
        try (TestClient target = TestClient.of(TARGET.cluster().leader())) {
            target.deleteAll();
        }
    }

    @Test
    void nothingIsWrittenAfterATakeOver() throws Exception {
        try (EtcdCluster cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
                TestClient target = TestClient.of(TARGET.cluster().leader())) {
            LeaseRegister register =
                    new LeaseRegister("dr", new ClusterCalls(cluster, Duty.WRITE, Duration.ofSeconds(2)));
            target.put(ReservedKeys.epoch("dr").toStringUtf8(), "1");
            List<Compare> ours = List.of(epochOf(target));
            register.add(List.of(1L), SOURCE, ours);
            register.setWhole(true, ours);
            target.put(ReservedKeys.epoch("dr").toStringUtf8(), "2");
            assertThatThrownBy(() -> register.add(List.of(2L), SOURCE, ours)).isInstanceOf(SinkException.Fenced.class);
            assertThatThrownBy(() -> register.remove(1, ours)).isInstanceOf(SinkException.Fenced.class);
            assertThatThrownBy(() -> register.setWhole(false, ours)).isInstanceOf(SinkException.Fenced.class);
            assertThat(register.ids()).containsExactly(1L);
            assertThat(register.isWhole()).isTrue();
        }
    }

    @Test
    void aLeaseIsNotRevokedAfterATakeOver() throws Exception {
        try (EtcdCluster cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
                TestClient target = TestClient.of(TARGET.cluster().leader())) {
            ClusterCalls calls = new ClusterCalls(cluster, Duty.WRITE, Duration.ofSeconds(2));
            LeaseCalls leases = new LeaseCalls(calls);
            long id = target.lease(60);
            target.put(ReservedKeys.epoch("dr").toStringUtf8(), "3");
            Compare ours = epochOf(target);
            new LeaseRegister("dr", calls).add(List.of(id), SOURCE, List.of(ours));
            try (KeptLeases kept = kept(cluster)) {
                kept.of(SOURCE);
                kept.in(() -> ours);
                var unused = kept.begin();
                HeldLease lease = kept.held().stream()
                        .filter(held -> held.id() == id)
                        .findFirst()
                        .orElseThrow();
                lease.checked(new Revision(1));
                target.put(ReservedKeys.epoch("dr").toStringUtf8(), "4");
                assertThatThrownBy(() -> kept.end(lease)).isInstanceOf(SinkException.Fenced.class);
                assertThat(leases.facts(id, false).exists()).isTrue();
                Compare next = epochOf(target);
                kept.in(() -> next);
                assertThat(kept.end(lease)).isTrue();
                assertThat(leases.facts(id, false).exists()).isFalse();
                assertThat(kept.held()).doesNotContain(lease);
            }
        }
    }

    /** The successor may have attached keys meanwhile, and has to see that the lease is gone. */
    @Test
    void aLeaseWithAnotherTtlIsNotGrantedAgainAfterATakeOver() throws Exception {
        try (EtcdCluster cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
                TestClient target = TestClient.of(TARGET.cluster().leader())) {
            ClusterCalls calls = new ClusterCalls(cluster, Duty.WRITE, Duration.ofSeconds(2));
            LeaseCalls leases = new LeaseCalls(calls);
            long id = target.lease(60);
            target.put(ReservedKeys.epoch("dr").toStringUtf8(), "6");
            Compare earlier = epochOf(target);
            new LeaseRegister("dr", calls).add(List.of(id), SOURCE, List.of(earlier));
            target.put(ReservedKeys.epoch("dr").toStringUtf8(), "7");
            try (KeptLeases kept = kept(cluster)) {
                kept.of(SOURCE);
                var unused = kept.begin();
                kept.held().forEach(lease -> lease.keptAlive(System.nanoTime(), 30));
                kept.in(() -> earlier);
                assertThatThrownBy(() -> kept.hold(List.of(id))).isInstanceOf(SinkException.Fenced.class);
                assertThat(leases.facts(id, false).exists()).isTrue();
                kept.in(List.of(epochOf(target), earlier).iterator()::next);
                assertThatThrownBy(() -> kept.hold(List.of(id)))
                        .as("taken over after the revocation")
                        .isInstanceOf(SinkException.Fenced.class);
                assertThat(leases.facts(id, false).exists()).isFalse();
            }
        }
    }

    /** Else a later writer finds a lease without the keys that ended with it, and takes them for whole. */
    @Test
    void aLossIsRecordedWhileLeasesAreGranted_andEndsThat() throws Exception {
        try (EtcdCluster cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
                TestClient target = TestClient.of(TARGET.cluster().leader())) {
            ClusterCalls calls = new ClusterCalls(cluster, Duty.WRITE, Duration.ofSeconds(2));
            LeaseRegister register = new LeaseRegister("dr", calls);
            long ended = target.lease(60);
            target.put(ReservedKeys.epoch("dr").toStringUtf8(), "8");
            Compare ours = epochOf(target);
            register.add(List.of(ended), SOURCE, List.of(ours));
            try (KeptLeases kept = kept(cluster)) {
                kept.of(SOURCE);
                var unused = kept.begin();
                HeldLease lease = kept.held().iterator().next();
                kept.in(() -> {
                    CompletableFuture.runAsync(() -> kept.lose(lease))
                            .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                            .join();
                    return ours;
                });
                assertThatThrownBy(() -> kept.hold(List.of(ended, 9L)))
                        .isInstanceOf(SinkException.Unavailable.class)
                        .hasMessageContaining("expired despite");
                assertThatThrownBy(kept::forgetMissing).isInstanceOf(SinkException.Unavailable.class);
                assertThat(register.ids()).contains(ended);
            }
        }
    }

    /** A lease that is granted meanwhile with the same ID is another object. */
    @Test
    void keepAlivesAreAnsweredForTheLeasesThatWereSent() throws Exception {
        try (EtcdCluster cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
                TestClient target = TestClient.of(TARGET.cluster().leader())) {
            LeaseCalls leases = new LeaseCalls(new ClusterCalls(cluster, Duty.WRITE, Duration.ofSeconds(2)));
            HeldLease alive = new HeldLease(target.lease(60), 30);
            HeldLease missing = new HeldLease(7, 30);
            List<HeldLease> ended = new CopyOnWriteArrayList<>();
            leases.keepAlive(List.of(alive, missing), 1, ended::add);
            assertThat(ended).containsExactly(missing);
            assertThat(alive.seconds()).isEqualTo(60);
        }
    }

    @Test
    void transactionsHaveNoMoreOperationsThanConfigured() throws Exception {
        try (EtcdCluster cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
                TestClient target = TestClient.of(TARGET.cluster().leader());
                KeptLeases kept = kept(cluster)) {
            target.put(ReservedKeys.epoch("dr").toStringUtf8(), "5");
            Compare ours = epochOf(target);
            kept.in(() -> ours);
            kept.of(SOURCE);
            List<Long> ids = LongStream.range(1_000, 1_000 + 3L * EtcdSinkOptions.LEAST_TXN_OPS)
                    .boxed()
                    .toList();
            assertThat(kept.hold(ids)).isEmpty();
            List<KeyValue> keys = new ArrayList<>();
            for (long id : ids) {
                ByteString key = ByteString.copyFromUtf8("/k/" + id);
                var unused = target.kv()
                        .put(PutRequest.newBuilder().setKey(key).setLease(id).build());
                keys.add(new KeyValue(key, ByteString.EMPTY, new Revision(id), new Revision(id), 1, id));
            }
            List<RequestOp> written = new ArrayList<>();
            assertThat(kept.restore(new Position(SOURCE, new Revision(2_000), null), keys, written::addAll))
                    .isTrue();
            assertThat(written).isEmpty();
        }
    }

    private static KeptLeases kept(EtcdCluster cluster) {
        LeaseMetrics metrics = new LeaseMetrics("dr", new SimpleMeterRegistry());
        return new KeptLeases(
                new LeaseKeeper("dr", "test/1", cluster, EtcdSinkOptions.LEAST_TXN_OPS, metrics),
                MirrorScope.all(),
                cluster,
                new Silent());
    }

    private static Compare epochOf(TestClient target) {
        return Compare.newBuilder()
                .setKey(ReservedKeys.epoch("dr"))
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.EQUAL)
                .setModRevision(target.get(ReservedKeys.epoch("dr")).getKvs(0).getModRevision())
                .build();
    }
}
