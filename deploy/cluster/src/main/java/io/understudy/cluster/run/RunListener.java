package io.understudy.cluster.run;

import io.understudy.cluster.plan.Plan.Planned;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** Receives events of a run, on its thread. */
public interface RunListener {

    /** Ignores everything. */
    RunListener NONE = new RunListener() {
        @Override
        public void begins(Planned step) {}

        @Override
        public void ended(Planned step, Duration took) {}

        @Override
        public void catchingUp(CatchUpRate rate) {}

        @Override
        public void notes(String what) {}
    };

    void begins(Planned step);

    void ended(Planned step, Duration took);

    /** A learner is behind; called several times a second while it catches up. */
    void catchingUp(CatchUpRate rate);

    /** Something is waited for or undone; once for each reason. */
    void notes(String what);

    /**
     * The progress of a learner that catches up.
     *
     * @param unit unit of all values
     * @param done value of the learner
     * @param target value of the leader
     * @param perSecond rate since the start of the wait
     */
    record CatchUpRate(String label, Unit unit, long done, long target, double perSecond) {

        /** The counted unit. */
        public enum Unit {
            /** Bytes of a snapshot that is being sent. */
            BYTES("received"),
            /** Entries of the Raft log, applied one by one or by a snapshot. */
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

        /** Returns the time to the leader's current value; empty without progress. */
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
}
