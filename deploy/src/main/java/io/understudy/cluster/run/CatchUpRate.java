package io.understudy.cluster.run;

import java.time.Duration;
import java.util.Optional;

/**
 * How a learner's catching up goes.
 *
 * @param applied raft entries it has applied, or was brought to by a snapshot
 * @param target what the leader has
 * @param perSecond entries applied in a second, since the wait began
 */
public record CatchUpRate(String label, long applied, long target, double perSecond) {

    /** Until it is where the leader is now; empty while nothing moves. */
    public Optional<Duration> remaining() {
        return perSecond <= 0
                ? Optional.empty()
                : Optional.of(Duration.ofMillis(Math.round((target - applied) / perSecond * 1000)));
    }

    @Override
    public String toString() {
        return label + " has applied " + applied + " of " + target + " entries, " + Math.round(perSecond) + "/s"
                + remaining()
                        .map(left -> ", " + Math.max(1, left.toSeconds()) + " s to go")
                        .orElse("");
    }
}
