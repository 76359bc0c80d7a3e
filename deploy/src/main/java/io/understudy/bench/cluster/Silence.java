package io.understudy.bench.cluster;

import io.understudy.cluster.plan.Plan.Planned;
import io.understudy.cluster.run.CatchUpRate;
import io.understudy.cluster.run.RunListener;
import java.time.Duration;

/** Nobody looks on. */
final class Silence implements RunListener {

    @Override
    public void begins(Planned step) {}

    @Override
    public void ended(Planned step, Duration took) {}

    @Override
    public void catchingUp(CatchUpRate rate) {}

    @Override
    public void notes(String what) {}
}
