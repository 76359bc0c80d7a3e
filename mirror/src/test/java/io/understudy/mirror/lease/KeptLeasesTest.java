package io.understudy.mirror.lease;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.Binder;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.LeaseServer;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.lease.LeaseKeeper.LeaseMetrics;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Leases of a sink, with clusters that fail or reject requests. */
final class KeptLeasesTest {

    private static final ClusterId SOURCE = new ClusterId(0xfeed);
    private static final ByteString KEY = ByteString.copyFromUtf8("k");

    private final LeaseServer source = new LeaseServer();
    private final LeaseServer target = new LeaseServer();
    private final EtcdCluster sourceCluster = EtcdCluster.connect(
            Binder.with(EtcdSettings.of(source.uri()), "requestTimeout", Duration.ofMillis(200)),
            new SimpleMeterRegistry());
    private final EtcdCluster targetCluster =
            EtcdCluster.connect(EtcdSettings.of(target.uri()), new SimpleMeterRegistry());

    @AfterEach
    void disconnect() {
        sourceCluster.close();
        targetCluster.close();
        source.close();
        target.close();
    }

    /** The sink would not notice a failover to its target. */
    @Test
    @Timeout(60)
    void aSourceThatDoesNotAnswerEndsTheSink() {
        source.silence();
        try (LeaseKeeper keeper = keeper();
                KeptLeases leases = leases(keeper)) {
            leases.expect(5);
            assertThatThrownBy(() -> leases.forPut(KEY, 5))
                    .isInstanceOf(SinkException.Unavailable.class)
                    .hasMessageContaining("from the source");
            assertThatThrownBy(
                            () -> leases.restore(new Position(SOURCE, new Revision(1), null), null, operations -> {}))
                    .isInstanceOf(SinkException.Unavailable.class)
                    .hasMessageContaining("from the source");
            assertThat(source.pastReads()).as("the second exceeds the limit").isBetween(1, 2);
        }
    }

    @Test
    void keysWithLeasesAreReadInSmallerPagesIfAnAnswerIsTooLarge() {
        source.limitPages(2);
        try (LeaseKeeper keeper = keeper();
                KeptLeases leases = leases(keeper)) {
            Position at = new Position(new ClusterId(0), new Revision(1), null);
            assertThat(leases.restore(at, null, operations -> {})).isTrue();
            assertThat(source.pastReads())
                    .as("of 16, 8, 4 and 2 keys, on both sides of reserved keys")
                    .isEqualTo(8);
        }
    }

    /** As one with a key that the mirror's user may not write: etcd ends the stream of keep-alives. */
    @Test
    void aLeaseThatIsDeniedEndsNoOthers() throws Exception {
        List<Long> ids = LongStream.rangeClosed(1, 1_100).boxed().toList();
        ids.forEach(id -> target.grant(id, 1));
        ids.forEach(id -> target.put(ReservedKeys.of("dr", "lease/" + Long.toHexString(id)), SOURCE.toString()));
        List.of(1L, 700L, 701L).forEach(target::deny);
        try (LeaseKeeper keeper = keeper();
                KeptLeases leases = leases(keeper)) {
            assertThat(leases.begin()).as("whole").isFalse();
            assertThat(leases.held()).hasSize(ids.size()).allMatch(lease -> lease.seconds() == 1);
            assertThat(target.keptAlive()).hasSize(ids.size() - 3).doesNotContainKeys(1L, 700L, 701L);
            leases.requireNoneLost();
        }
        LeaseKeeper keeper = LeaseKeeper.start("dr", "test/1", targetCluster, EtcdSinkOptions.LEAST_TXN_OPS, metrics());
        try {
            // Without a sink, since it closed.
            await().atMost(PATIENCE).until(() -> ids.stream()
                    .allMatch(id -> isDenied(id) || target.keptAlive().getOrDefault(id, 0) > 2));
            List.of(1L, 700L, 701L).forEach(target::permit);
            await().atMost(PATIENCE).until(() -> target.keptAlive().containsKey(700L));
        } finally {
            keeper.close();
        }
    }

    /** Each takes a stream. Keep-alives of 1,000 take longer than the TTL of others. */
    @Test
    void leasesThatAreDeniedDelayNoOthers() {
        int perTick = 10;
        int ticks = 4;
        // The last one in the order of registers.
        long permitted = 0xffff;
        List<Long> ids = LongStream.concat(LongStream.rangeClosed(1, 1_000), LongStream.of(permitted))
                .boxed()
                .toList();
        ids.forEach(id -> register(target, id));
        ids.stream().filter(id -> id != permitted).forEach(target::deny);
        LeaseKeeper keeper = LeaseKeeper.start("dr", "test/1", targetCluster, EtcdSinkOptions.LEAST_TXN_OPS, metrics());
        try (KeptLeases next = leases(keeper)) {
            await().atMost(PATIENCE).until(() -> Set.copyOf(target.keepAlives()).containsAll(ids));
            List<Long> firsts = List.copyOf(target.keepAlives());
            assertThat(firsts.indexOf(permitted))
                    .as("first denials before it, of two groups")
                    .isLessThanOrEqualTo(2 * perTick);
            assertThat(Collections.frequency(firsts, permitted)).isGreaterThan(ticks);
            // Later it comes first. A tick has two groups and leases that were denied before.
            assertSpread(firsts, permitted, ticks * (2 + 1) * perTick);
            int first = firsts.size();
            await().atMost(PATIENCE).until(() -> keepAlives(permitted, first) > ticks && hasDenied(permitted, first));
            // Three keep-alives per TTL, and ten ticks per second.
            List<Long> all = List.copyOf(target.keepAlives());
            assertSpread(all.subList(first, all.size()), permitted, ticks * perTick);

            ids.forEach(id -> target.delete(ReservedKeys.of("dr", "lease/" + Long.toHexString(id))));
            register(target, 3_000);
            source.grant(3_000, 1);
            assertThat(next.attach(Compare::getDefaultInstance, () -> new Revision(1)))
                    .as("whole")
                    .isFalse();
            await().atMost(PATIENCE).until(() -> target.keptAlive().getOrDefault(3_000L, 0) > 2);
        } finally {
            keeper.close();
        }
    }

    private static void assertSpread(List<Long> keepAlives, long permitted, int maxOthers) {
        int others = 0;
        for (long id : keepAlives.subList(keepAlives.indexOf(permitted), keepAlives.lastIndexOf(permitted))) {
            others = id == permitted ? 0 : others + 1;
            assertThat(others).as("between keep-alives").isLessThanOrEqualTo(maxOthers);
        }
    }

    private static void register(LeaseServer target, long id) {
        target.grant(id, 1);
        target.put(ReservedKeys.of("dr", "lease/" + Long.toHexString(id)), SOURCE.toString());
    }

    private long keepAlives(long id, int from) {
        return target.keepAlives().stream()
                .skip(from)
                .filter(each -> each == id)
                .count();
    }

    private boolean hasDenied(long permitted, int from) {
        return target.keepAlives().stream().skip(from).anyMatch(each -> each != permitted);
    }

    /** The keep-alive may be answered before the revocation. */
    @Test
    void aLeaseThatTheMirrorRevokesIsNotLost() throws Exception {
        try (LeaseKeeper keeper = keeper();
                KeptLeases leases = leases(keeper)) {
            HeldLease ended = registered(leases, 5);
            target.onRevoke(id -> leases.lose(ended));
            assertThat(leases.end(ended)).isTrue();
            leases.requireNoneLost();
            assertThat(target.exists(5)).isFalse();
            assertThat(leases.held()).isEmpty();
        }
    }

    @Test
    void aLeaseThatAnotherMirrorUsesIsLeftToIt() throws Exception {
        target.put(ReservedKeys.home("other"), "");
        target.put(ReservedKeys.of("other", "lease/5"), SOURCE.toString());
        try (LeaseKeeper keeper = keeper();
                KeptLeases leases = leases(keeper)) {
            assertThat(leases.end(registered(leases, 5))).isTrue();
            assertThat(leases.held()).isEmpty();
            assertThat(target.has(ReservedKeys.of("dr", "lease/5"))).isFalse();
            assertThat(target.exists(5)).isTrue();
        }
    }

    /** Returns a lease that the source lacks. */
    private HeldLease registered(KeptLeases leases, long id) {
        target.grant(id, 60);
        target.put(ReservedKeys.of("dr", "lease/" + Long.toHexString(id)), SOURCE.toString());
        var unused = leases.begin();
        HeldLease lease = leases.held().iterator().next();
        lease.checked(new Revision(1));
        return lease;
    }

    private static boolean isDenied(long id) {
        return id == 1 || id == 700 || id == 701;
    }

    private LeaseKeeper keeper() {
        return new LeaseKeeper("dr", "test/1", targetCluster, EtcdSinkOptions.LEAST_TXN_OPS, metrics());
    }

    private static LeaseMetrics metrics() {
        return new LeaseMetrics("dr", new SimpleMeterRegistry());
    }

    private KeptLeases leases(LeaseKeeper keeper) {
        KeptLeases leases = new KeptLeases(keeper, MirrorScope.all(), sourceCluster, new Silent());
        leases.of(SOURCE);
        leases.in(Compare::getDefaultInstance);
        return leases;
    }
}
