package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.bench.WatchLoadProbe.WatchDrive;
import io.understudy.bench.WatchLoadProbe.WatchLoad;
import io.understudy.bench.Watchers.Spread;
import io.understudy.bench.Watchers.WatchedKeys;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Our own watchers at a real etcd. */
@Timeout(60)
@Tag("speed")
final class WatchDriveIT {

    @RegisterExtension
    static final EtcdExtension ETCD = EtcdExtension.voters(1).named("watched");

    private static final Duration MOMENT = Duration.ofMillis(300);

    static Stream<Watchers> watchers() {
        return Stream.of(
                Watchers.one(),
                new Watchers(50, Spread.SHARED, false),
                new Watchers(50, Spread.EACH, false),
                new Watchers(WatchedKeys.COUNT, Spread.SHARED, true));
    }

    @ParameterizedTest
    @MethodSource("watchers")
    void everyPutReachesAllItsWatchersAndIsTimed(Watchers watchers) {
        try (WatchClient client = WatchClient.open(server(), Access.OPEN, watchers)) {
            WatchLoad load = new WatchDrive(server(), Access.OPEN).run(client, watchers, new Pace(100), 1_000, MOMENT);

            assertThat(load.puts()).isPositive();
            assertThat(load.events().requests()).isEqualTo(load.puts() * watchers.reachedByEachPut());
            assertThat(load.sinceSent().millis(0.5)).isPositive();
        }
    }

    @Test
    void asFastAsPossibleNoMoreAreUnderWayThanAllowed() {
        Watchers watchers = new Watchers(50, Spread.SHARED, false);
        try (WatchClient client = WatchClient.open(server(), Access.OPEN, watchers)) {
            WatchLoad load = new WatchDrive(server(), Access.OPEN).run(client, watchers, Pace.FULL, 1, MOMENT);

            double elapsedMillis = load.events().elapsed().toNanos() / 1e6;
            assertThat(load.puts() / 2.0 * load.sinceSent().millis(0.5))
                    .as("half of the puts took at least the median, one after the other")
                    .isLessThanOrEqualTo(elapsedMillis);
        }
    }

    @Test
    void theEndOfAWatchedServerIsAFailure() {
        try (WatchClient client = WatchClient.open(server(), Access.OPEN, Watchers.one())) {
            ETCD.cluster().leader().restart();

            assertThatThrownBy(() -> client.await(1)).isInstanceOf(BenchException.class);
        }
    }

    private static URI server() {
        return ETCD.cluster().leader().directClientUrl();
    }
}
