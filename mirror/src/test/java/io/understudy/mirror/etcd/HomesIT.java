package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * How the clusters of a mirror come to know of its home, and what stays when they may not.
 *
 * <p>Tests invariant M23.
 */
final class HomesIT {

    @RegisterExtension
    static final EtcdExtension A = EtcdExtension.voters(1).named("a");

    @RegisterExtension
    static final EtcdExtension B = EtcdExtension.voters(1).named("b");

    private EtcdCluster a;
    private EtcdCluster b;
    private TestClient inA;
    private TestClient inB;

    @BeforeEach
    void connect() {
        a = EtcdCluster.connect(Mirrors.settings(A.cluster()), new SimpleMeterRegistry());
        b = EtcdCluster.connect(Mirrors.settings(B.cluster()), new SimpleMeterRegistry());
        inA = TestClient.of(A.cluster().leader());
        inB = TestClient.of(B.cluster().leader());
        inA.deleteAll();
        inB.deleteAll();
    }

    @AfterEach
    void disconnect() {
        inA.close();
        inB.close();
        a.close();
        b.close();
    }

    @Test
    void aFullSourceStoresThePrimaryAtTheNextStart() {
        alarm(AlarmRequest.AlarmAction.ACTIVATE);
        try {
            homes("ab", a, b).settle(id(inA));
            assertThat(home(inB, "ab")).containsExactly(id(inA));
            assertThat(home(inA, "ab")).isEmpty();
        } finally {
            alarm(AlarmRequest.AlarmAction.DEACTIVATE);
        }
        homes("ab", a, b).settle(id(inA));
        assertThat(home(inA, "ab")).containsExactly(id(inA));
    }

    @Test
    void anotherSourceIsSettledAsWell() {
        Homes homes = homes("ab", a, b);
        homes.settle(id(inA));
        ClusterId next = new ClusterId(7);
        homes.settle(next);
        assertThat(home(inB, "ab")).containsExactly(next);
        assertThat(homes.path(next)).containsExactly(next);
    }

    /** Such as one of a later version. */
    @Test
    void anUnreadableRecordOfAnotherMirrorStopsNewMirrorsOnly() {
        homes("ab", a, b).settle(id(inA));
        List<Homes> fresh = List.of(homes("other", a, b), homes("ba", b, a));
        for (TestClient side : List.of(inA, inB)) {
            side.put(ReservedKeys.home("later").toStringUtf8(), "{\"format\":9}");
            Homes known = homes("ab", a, b);
            known.requireElsewhere();
            known.settle(id(inA));
            assertThat(known.path(id(inA))).containsExactly(id(inA));
            assertThatThrownBy(() -> fresh.get(0).settle(id(inA)))
                    .isInstanceOf(SinkException.Refused.class)
                    .hasMessageContaining("home/later");
            assertThatThrownBy(() -> fresh.get(1).settle(id(inB))).isInstanceOf(SinkException.Refused.class);
        }
        assertThatThrownBy(() -> homes("ab", a, b).settle(new ClusterId(7)))
                .as("another source")
                .hasMessageContaining("home/later");
        assertThat(home(inB, "ab")).containsExactly(id(inA));
    }

    @Test
    void oneOfTwoOppositeMirrorsStartedAtOnceRunsAloneWithoutTraces() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < 20; round++) {
                CyclicBarrier start = new CyclicBarrier(2);
                String ab = "ab" + round;
                String ba = "ba" + round;
                Future<Boolean> forth = threads.submit(settling(homes(ab, a, b), id(inA), start));
                Future<Boolean> back = threads.submit(settling(homes(ba, b, a), id(inB), start));
                boolean forthRuns = forth.get();
                assertThat(back.get()).as("one of two, round %s", round).isNotEqualTo(forthRuns);
                assertThat(Stream.of(home(inA, forthRuns ? ba : ab), home(inB, forthRuns ? ba : ab)))
                        .allMatch(List::isEmpty);
                assertThat(Stream.of(home(inA, forthRuns ? ab : ba), home(inB, forthRuns ? ab : ba)))
                        .allMatch(List.of(id(forthRuns ? inA : inB))::equals);
                inA.deleteAll();
                inB.deleteAll();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aMirrorWithAnOppositeRecordedOnlyAtItsSourceIsRejected() {
        homes("ab", a, b).settle(id(inA));
        inA.delete(ReservedKeys.home("ab").toStringUtf8());
        assertThatThrownBy(() -> homes("ba", b, a).settle(id(inB)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("mirror ab copies");
        assertThat(home(inA, "ba")).isEmpty();
        assertThat(home(inB, "ba")).isEmpty();
    }

    @Test
    void aNewMirrorDoesNotWaitForAnUpstreamMirrorThatIsReversed() {
        assertThatThrownBy(() -> UpstreamMirrors.requireBegun("ab", a, b, Set.of("up"), new Silent()))
                .isInstanceOf(SinkException.NotYet.class);
        ClusterId primary = id(inA);
        Home reversed = new Home("up", primary, primary, new ClusterId(7), MirrorScope.prefix("/k/"), 1, Instant.EPOCH);
        inA.put(ReservedKeys.home("up").toStringUtf8(), reversed.encode().toStringUtf8());
        assertThatCode(() -> UpstreamMirrors.requireBegun("ab", a, b, Set.of("up"), new Silent()))
                .doesNotThrowAnyException();
    }

    private static Callable<Boolean> settling(Homes homes, ClusterId source, CyclicBarrier start) {
        return () -> {
            start.await();
            try {
                homes.settle(source);
                return true;
            } catch (SinkException.Refused e) {
                assertThat(e).hasMessageContaining("have their primary in its target");
                return false;
            }
        };
    }

    private static Homes homes(String mirror, EtcdCluster source, EtcdCluster target) {
        return new Homes(
                mirror,
                MirrorScope.prefix("/k/"),
                new HomeKeys(TargetCalls.ofSource(source, new Silent()), "source", mirror),
                new HomeKeys(new TargetCalls(target, new Silent()), "target", mirror));
    }

    private void alarm(AlarmRequest.AlarmAction action) {
        var unused = MaintenanceGrpc.newBlockingStub(inA.kv().getChannel())
                .alarm(AlarmRequest.newBuilder()
                        .setAction(action)
                        .setAlarm(AlarmType.NOSPACE)
                        .setMemberID(inA.get(ByteString.copyFromUtf8("any"))
                                .getHeader()
                                .getMemberId())
                        .build());
    }

    private static ClusterId id(TestClient cluster) {
        return new ClusterId(
                cluster.get(ByteString.copyFromUtf8("any")).getHeader().getClusterId());
    }

    private static List<ClusterId> home(TestClient cluster, String mirror) {
        return cluster.get(ReservedKeys.home(mirror)).getKvsList().stream()
                .map(found -> Home.decode(mirror, found.getValue()).cluster())
                .toList();
    }
}
