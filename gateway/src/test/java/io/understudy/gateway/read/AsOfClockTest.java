package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Staleness of states, measured by rounds alone.
 *
 * <p>Tests invariant C3.
 */
final class AsOfClockTest {

    private final AtomicLong held = new AtomicLong();
    private final AsOfClock clock = new AsOfClock(held::get);

    @Test
    void stalenessIsUnknownBeforeTheFirstRound() {
        assertThat(clock.stalenessNanos(5, 100)).isEqualTo(AsOfClock.UNKNOWN);
        assertThat(clock.revisionWithin(1_000, 100)).isEqualTo(AsOfClock.NONE);
    }

    @Test
    void stalenessIsTheAgeOfTheLastIncludedRound() {
        clock.confirmed(10, 100);
        clock.confirmed(20, 200);
        clock.confirmed(30, 300);

        assertThat(clock.stalenessNanos(9, 1_000)).isEqualTo(AsOfClock.UNKNOWN);
        assertThat(clock.stalenessNanos(10, 1_000)).isEqualTo(900);
        assertThat(clock.stalenessNanos(29, 1_000)).isEqualTo(800);
        assertThat(clock.stalenessNanos(31, 1_000)).isEqualTo(700);
    }

    @Test
    void aRevisionIsBehindSinceTheFirstRoundBeyondIt() {
        clock.confirmed(10, 100);
        assertThat(clock.behindNanos(10, 1_000)).isZero();
        clock.confirmed(20, 200);
        clock.confirmed(20, 800);
        clock.confirmed(30, 900);

        assertThat(clock.behindNanos(10, 1_000)).isEqualTo(800);
        assertThat(clock.behindNanos(20, 1_000)).isEqualTo(100);
        assertThat(clock.behindNanos(30, 1_000)).isZero();
    }

    @Test
    void aLaterRoundOfTheSameRevisionReducesStaleness() {
        clock.confirmed(10, 100);
        clock.confirmed(10, 500);

        assertThat(clock.stalenessNanos(10, 1_000)).isEqualTo(500);
    }

    @Test
    void stalenessGrowsWithoutRounds() {
        clock.confirmed(10, 100);

        assertThat(clock.stalenessNanos(1_000_000, 5_000)).isEqualTo(4_900);
    }

    @Test
    void aBoundMapsToARevision() {
        clock.confirmed(10, 100);
        clock.confirmed(20, 200);
        clock.confirmed(30, 300);

        assertThat(clock.revisionWithin(900, 1_000)).isEqualTo(10);
        assertThat(clock.revisionWithin(800, 1_000)).isEqualTo(20);
        assertThat(clock.revisionWithin(750, 1_000)).isEqualTo(30);
        assertThat(clock.revisionWithin(699, 1_000)).isEqualTo(AsOfClock.NONE);
    }

    @Test
    void aLaggingReplicaKeepsItsRound() {
        held.set(1);
        for (int revision = 1; revision <= 10_000; revision++) {
            clock.confirmed(revision, revision);
        }

        assertThat(clock.stalenessNanos(1, 20_000)).isEqualTo(19_999);
        assertThat(clock.stalenessNanos(10_000, 20_000)).isEqualTo(10_000);
    }

    @Test
    void oldRoundsAreDiscardedAsTheReplicaAdvances() {
        for (int revision = 1; revision <= 10_000; revision++) {
            held.set(revision);
            clock.confirmed(revision, revision);
        }

        assertThat(clock.stalenessNanos(9_990, 20_000)).isEqualTo(10_010);
        assertThat(clock.stalenessNanos(1, 20_000)).isEqualTo(AsOfClock.UNKNOWN);
    }

    @Test
    void decreasingRevisionsAndTimesAreIgnored() {
        clock.confirmed(10, 100);
        clock.confirmed(9, 200);
        clock.confirmed(11, 50);

        assertThat(clock.stalenessNanos(11, 1_000)).isEqualTo(900);
    }
}
