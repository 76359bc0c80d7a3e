package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class LagTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final Lag lag = new Lag();

    @Test
    void isUnknownBeforeTheFirstAnswer() {
        lag.sampled(at(0), null);
        assertThat(lag.revisions(revision(5))).isEqualTo(OptionalLong.empty());
        assertThat(lag.millis(revision(5), at(1))).isEqualTo(OptionalLong.empty());
    }

    @Test
    void isZeroOnceTheLastSampleIsReached() {
        lag.sampled(at(0), revision(10));
        assertThat(lag.revisions(revision(10))).hasValue(0);
        assertThat(lag.millis(revision(10), at(60))).hasValue(0);
        assertThat(lag.revisions(revision(12))).hasValue(0);
    }

    @Test
    void countsFromTheFirstSampleNotYetReached() {
        lag.sampled(at(0), revision(10));
        lag.sampled(at(1), revision(20));
        lag.sampled(at(2), revision(30));
        assertThat(lag.revisions(revision(10))).hasValue(20);
        assertThat(lag.millis(revision(10), at(5))).hasValue(4_000);
        assertThat(lag.millis(revision(20), at(5))).hasValue(3_000);
        assertThat(lag.millis(revision(30), at(5))).hasValue(0);
    }

    @Test
    void growsWithoutAnswersAndIsClearedByTheNextReachedOne() {
        lag.sampled(at(0), revision(10));
        lag.sampled(at(1), null);
        lag.sampled(at(2), null);
        assertThat(lag.millis(revision(10), at(9))).hasValue(8_000);
        lag.sampled(at(9), revision(10));
        assertThat(lag.millis(revision(10), at(10))).hasValue(0);
    }

    @Test
    void keepsTheOldestMissingAnswerHoweverManyFollow() {
        for (int i = 0; i < 5_000; i++) {
            lag.sampled(at(i), revision(i + 1));
        }
        assertThat(lag.millis(Revision.ZERO, at(5_000))).hasValue(5_000_000);
        assertThat(lag.revisions(Revision.ZERO)).hasValue(5_000);
        assertThat(lag.millis(revision(5_000), at(5_000))).hasValue(0);
    }

    private static Instant at(int seconds) {
        return START.plusSeconds(seconds);
    }

    private static Revision revision(long value) {
        return new Revision(value);
    }
}
