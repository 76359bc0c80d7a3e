package io.understudy.bench;

import java.time.Duration;
import java.util.Map;

/** One way to measure watchers. */
interface WatchProbe {

    /** How often each path is to be measured. */
    int runs();

    /**
     * Makes a path ready.
     *
     * @return for how long
     * @throws BenchException something was lost
     */
    Duration warmUp(ServerPath path) throws InterruptedException;

    /**
     * Measures a path.
     *
     * @param idle as {@link CpuMeter#idleRates}
     * @throws BenchException something was lost
     */
    Run run(ServerPath path, Map<ProcessRole, Double> idle) throws InterruptedException;
}
