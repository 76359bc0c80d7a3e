package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.process.FreePorts;
import java.net.URI;
import java.time.Duration;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lock of a command, by a clock of the test. */
final class LockTest {

    private static final Duration MOST = Lock.TTL.minusMillis(1);

    private final FakeCluster cluster = new FakeCluster("target", 2, new FakeCluster.World() {
        @Override
        public <T> T request(FakeCluster at, String what, Supplier<T> body) {
            now += sending;
            return body.get();
        }
    });
    private final Records records = new Records(cluster, "dr");
    /** Far from zero, as the clock of a process may be. */
    private long now = Long.MAX_VALUE - 1;
    /** The time of day, which may be set. */
    private long wall;
    /** How long each request takes. */
    private long sending;

    private Runnable keepAlive = () -> {};
    private boolean isRepeated;
    private final Lock lock = lock("host a, pid 1");

    private Lock lock(String process) {
        return new Lock(process, () -> new Lock.ClockTime(now, wall), (work, pause) -> {
            keepAlive = work;
            isRepeated = true;
            return () -> isRepeated = false;
        });
    }

    @BeforeEach
    void take() {
        lock.take(records, "close");
        assertThat(isRepeated).isTrue();
    }

    @Test
    void itLivesForItsTtlAfterTheLastKeepAliveWasSent() {
        pass(MOST);
        sending = Duration.ofSeconds(1).toNanos();
        keepAlive.run();
        pass(MOST.minusNanos(sending));
        assertThatCode(lock::require).doesNotThrowAnyException();
        pass(Duration.ofMillis(1));
        assertThatThrownBy(lock::require)
                .isInstanceOf(Lock.Expired.class)
                .hasMessageContainingAll("lock at target has expired", "10 s");
    }

    @Test
    void itExpiresWhileTheMachineIsSuspended_andNoClockThatIsSetBackProlongsIt() {
        wall = Lock.TTL.toNanos();
        assertThatThrownBy(lock::require).isInstanceOf(Lock.Expired.class);
        assertThat(lock.again()).isFalse();
        assertThatCode(lock::require).doesNotThrowAnyException();
        wall = 0;
        pass(Lock.TTL);
        assertThatThrownBy(lock::require).isInstanceOf(Lock.Expired.class);
    }

    @Test
    void aKeepAliveOfAnExpiredLeaseProlongsNothing() {
        cluster.expireLeases();
        keepAlive.run();
        pass(Lock.TTL);
        assertThatThrownBy(lock::require).isInstanceOf(Lock.Expired.class);
        assertThat(lock.again()).as("another command may have been at work").isTrue();
        assertThatCode(lock::require).doesNotThrowAnyException();
        assertThat(Lock.holder(records)).contains("host a, pid 1, step close");
    }

    @Test
    void aLeaseThatLivesWasNoOthersMeanwhile() {
        pass(Lock.TTL);
        assertThat(lock.again()).isFalse();
        assertThatCode(lock::require).doesNotThrowAnyException();
    }

    @Test
    void itIsNotTakenAgainFromAnotherCommand() {
        cluster.expireLeases();
        pass(Lock.TTL);
        Lock other = lock("host b, pid 2");
        other.take(records, "undo");
        assertThatThrownBy(lock::again)
                .hasMessageContainingAll("another command is moving", "host b, pid 2, step undo");
        assertThatThrownBy(lock::require).isInstanceOf(Lock.Expired.class);
        lock.release();
        assertThat(Lock.holder(records)).as("of the other").isPresent();
        other.release();
        assertThat(Lock.holder(records)).isEmpty();
        assertThat(isRepeated).isFalse();
    }

    /** So that enough is left to open the former primary. */
    @Test
    void aClusterThatDoesNotRespondIsGivenUpBeforeTheLockExpires_andNotCalledAfterwards() {
        try (FreePorts ports = FreePorts.take(1);
                EtcdCluster away = EtcdCluster.connect(
                        EtcdSettings.of(URI.create("http://127.0.0.1:" + ports.get(0))), new SimpleMeterRegistry())) {
            PatientCalls calls = new PatientCalls(away, null, Duration.ofDays(1), lock);
            pass(Duration.ofSeconds(7));
            assertThat(lock.within(Duration.ofSeconds(5))).isEqualTo(Duration.ofSeconds(3));
            assertThatThrownBy(calls::roles).hasMessageContaining("did not answer the list of roles");
            pass(Duration.ofSeconds(3));
            assertThatThrownBy(calls::roles).isInstanceOf(Lock.Expired.class);
            lock.release();
            assertThat(lock.within(Duration.ofSeconds(5))).isEqualTo(Duration.ofSeconds(5));
        }
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }
}
