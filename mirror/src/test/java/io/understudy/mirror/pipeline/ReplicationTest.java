package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class ReplicationTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Replication replication = new Replication("dr", meters);

    @Test
    void latencyLastsFromTheSourceToTheWriteAtTheTarget() {
        replication.given(at(0), new Revision(10));
        replication.given(at(1_000), new Revision(20));
        replication.written(new Revision(9), at(1_100));
        assertThat(latency().count()).isZero();
        replication.written(new Revision(15), at(1_500));
        assertThat(latency().count()).isOne();
        assertThat(latency().totalAmount()).isEqualTo(1_500);
        replication.written(new Revision(20), at(1_700));
        assertThat(latency().totalAmount()).isEqualTo(1_500 + 700);
        assertThat(latency().max()).isEqualTo(1_500);
    }

    @Test
    void ageOfAHeartbeatIsNeverNegativeDespiteClockSkew() {
        replication.read(at(0), new Revision(10), at(40));
        replication.read(at(1_000), new Revision(10), at(900));
        DistributionSummary age = meters.get("understudy.mirror.record.age").summary();
        assertThat(age.count()).isEqualTo(2);
        assertThat(age.totalAmount()).isEqualTo(40);
    }

    @Test
    void anotherSinkResetsTheMeasurement() {
        replication.given(at(0), new Revision(10));
        replication.forget();
        replication.written(new Revision(10), at(5_000));
        assertThat(latency().count()).isZero();
    }

    private DistributionSummary latency() {
        return meters.get("understudy.mirror.replication.latency").summary();
    }

    private static Instant at(long millis) {
        return START.plusMillis(millis);
    }
}
