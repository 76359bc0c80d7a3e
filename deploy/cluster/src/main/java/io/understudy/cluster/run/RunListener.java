package io.understudy.cluster.run;

import io.understudy.cluster.plan.Plan.Planned;
import java.time.Duration;

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
}
