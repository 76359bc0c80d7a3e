package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Times are milliseconds, of which a turn should take fifty. */
final class LatenessTest {

    private final Lateness lateness = new Lateness(nanos(50));
    private long now = 1_000;

    @Test
    void oneLongTurnIsBorne() {
        turn(400);

        assertThat(isLateAfter(80)).isFalse();
    }

    @Test
    void soAreThoseThatFollowItHoweverLongItWas() {
        turn(2_000);
        turn(100);
        turn(60);

        assertThat(isLateAfter(80)).isFalse();
    }

    @Test
    void aTurnThatDoesNotEndIsLate() {
        assertThat(isLateAfter(501)).isTrue();
    }

    @Test
    void turnsThatWereTooLongForHalfASecondMakeTheNextOneLate() {
        overload();

        assertThat(isLateAfter(50)).isFalse();
        assertThat(isLateAfter(51)).isTrue();
    }

    @Test
    void aShortTurnIsNoEndOfAnOverload() {
        overload();
        turn(20);

        assertThat(isLateAfter(51)).isTrue();
    }

    @Test
    void anOverloadIsOverOnceNoTurnWasTooLongForHalfASecond() {
        overload();
        for (int i = 0; i < 26; i++) {
            turn(20);
        }

        assertThat(isLateAfter(51)).isFalse();
    }

    @Test
    void anOverloadIsOverOnceNothingHasComeForHalfASecond() {
        overload();
        now += 500;

        assertThat(isLateAfter(51)).isFalse();
    }

    @Test
    void longTurnsWithShortOnesInBetweenAreBorne() {
        for (int i = 0; i < 20; i++) {
            turn(100);
            turn(20);
        }

        assertThat(isLateAfter(51)).isFalse();
    }

    @Test
    void whoComesFirstOnAConnectionHasFourTimesAsLong() {
        overload();
        lateness.turnBegins(nanos(now));

        assertThat(lateness.isLate(nanos(now + 199), true)).isFalse();
        assertThat(lateness.isLate(nanos(now + 200), true)).isTrue();
    }

    @Test
    void nothingIsLateBetweenTurns() {
        overload();

        assertThat(lateness.isLate(nanos(now + 1_000), false)).isFalse();
    }

    private void overload() {
        for (int i = 0; i < 7; i++) {
            turn(100);
        }
    }

    private void turn(long millis) {
        lateness.turnBegins(nanos(now));
        now += millis;
        lateness.turnEnds(nanos(now));
    }

    /** Of a turn that goes on as before where it is looked at twice. */
    private boolean isLateAfter(long millis) {
        if (!lateness.inTurn()) {
            lateness.turnBegins(nanos(now));
        }
        return lateness.isLate(nanos(now + millis), false);
    }

    private static long nanos(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
