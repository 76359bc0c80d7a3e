package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.grpc.Status;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.read.Confirmations.Heartbeats;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Staleness by another host's clock is never understated within the allowed skew.
 *
 * <p>Tests invariant K1.
 */
final class HeartbeatsTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration SKEW = Duration.ofSeconds(1);

    private final AsOfClock clock = new AsOfClock(() -> 7);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final long beganNanos = System.nanoTime();
    private Instant wall = NOW;
    private final Heartbeats heartbeats = new Heartbeats(SKEW, () -> wall, clock, new ReadMetrics(registry));

    @Test
    void stalenessIncludesTheAllowedSkew() {
        heartbeats.asOf(7, NOW.minusMillis(300));
        assertStaleness(Duration.ofMillis(1_300));
    }

    @Test
    void heartbeatsAheadWithinTheSkewAreAccepted() {
        heartbeats.asOf(7, NOW.plusMillis(400));
        assertStaleness(Duration.ofMillis(600));
        heartbeats.asOf(7, NOW.plus(SKEW));
        assertStaleness(Duration.ZERO);
        assertThat(heartbeats.problem()).isEmpty();
        assertThat(count("accepted")).isEqualTo(2);
    }

    @Test
    void heartbeatsAheadBeyondTheSkewAreReportedAndIgnored() {
        heartbeats.asOf(7, NOW.plusMillis(1_001));
        assertThat(clock.stalenessNanos(7, System.nanoTime())).isEqualTo(AsOfClock.UNKNOWN);
        assertThat(heartbeats.problem()).hasValueSatisfying(why -> assertThat(why)
                .isEqualTo("timestamps are 1001 ms in the future; allowed: 1000 ms. Synchronize the clocks of this host"
                        + " and of the mirror's host, or increase source.kafka.maxClockSkew"));
        assertThat(count("future")).isEqualTo(1);
    }

    @Test
    void anIgnoredHeartbeatKeepsThePreviousStaleness() {
        heartbeats.asOf(7, NOW);
        heartbeats.asOf(7, NOW.plusSeconds(100));
        assertStaleness(SKEW);
        wall = NOW.plusSeconds(100);
        heartbeats.asOf(7, NOW.plusSeconds(100));
        assertStaleness(SKEW);
        assertThat(heartbeats.problem()).isEmpty();
    }

    @Test
    void aClockSetForwardDoesNotReduceStaleness() {
        heartbeats.asOf(7, NOW);
        wall = NOW.plusSeconds(60);
        heartbeats.asOf(7, NOW.plusMillis(10));
        // The first heartbeat remains valid.
        assertStaleness(SKEW);
    }

    @Test
    void ridersReceiveTheNextAcceptedHeartbeatOnce() {
        List<String> received = new ArrayList<>();
        heartbeats.join(new Rider(received));
        heartbeats.asOf(7, NOW.plusSeconds(5));
        assertThat(received).isEmpty();
        heartbeats.asOf(8, NOW);
        heartbeats.asOf(9, NOW);
        assertThat(received).containsExactly("sent", "8");
    }

    @Test
    void linearizableReadsAreRejected() {
        assertThatExceptionOfType(ApiException.class)
                .isThrownBy(heartbeats::requireLinearizable)
                .satisfies(why -> assertThat(why.code()).isEqualTo(Status.Code.FAILED_PRECONDITION));
    }

    private void assertStaleness(Duration expected) {
        // The test itself takes time.
        long now = System.nanoTime();
        assertThat(clock.stalenessNanos(7, now)).isBetween(expected.toNanos(), expected.toNanos() + now - beganNanos);
    }

    private double count(String outcome) {
        return registry.get("understudy.gateway.heartbeats")
                .tag("outcome", outcome)
                .counter()
                .count();
    }

    private record Rider(List<String> received) implements Confirmations.Rider {

        @Override
        public void sent() {
            received.add("sent");
        }

        @Override
        public void confirmed(long revision, long asOfNanos) {
            received.add(Long.toString(revision));
        }

        @Override
        public void failed(@Nullable ApiException fatal) {
            received.add("failed");
        }
    }
}
