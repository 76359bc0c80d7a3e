package io.understudy.cluster.run;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * How a learner's catching up goes.
 *
 * @param unit of all figures
 * @param done what it has of them
 * @param target what the leader has
 * @param perSecond how fast it went since the wait began
 */
public record CatchUpRate(String label, Unit unit, long done, long target, double perSecond) {

    /** What is counted. */
    public enum Unit {
        /** Of a snapshot that is being sent. */
        BYTES("received"),
        /** Of the raft log: applied one by one, or by a snapshot. */
        ENTRIES("applied");

        private final String how;

        Unit(String how) {
            this.how = how;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Until it is where the leader is now; empty while nothing moves. */
    public Optional<Duration> remaining() {
        return perSecond <= 0
                ? Optional.empty()
                : Optional.of(Duration.ofMillis(Math.round(Math.max(0, target - done) / perSecond * 1000)));
    }

    @Override
    public String toString() {
        return label + " has " + unit.how + " " + done + " of " + target + " " + unit + ", " + Math.round(perSecond)
                + "/s"
                + remaining()
                        .map(left -> ", " + Math.max(1, left.toSeconds()) + " s remaining")
                        .orElse("");
    }
}
