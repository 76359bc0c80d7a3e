package io.understudy.bench;

import java.time.Duration;

/**
 * Sends requests.
 *
 * <p>Invariant DP18: a benchmark reports no figures for a path with errors.
 */
interface LoadGenerator {

    /** For the report. */
    String description();

    /**
     * Sends requests for a time, so that always as many are in flight as the shot says.
     *
     * @throws BenchException a request failed
     */
    Tally warmUp(Shot shot, Duration duration);

    /**
     * Sends so many requests and waits for all answers.
     *
     * @param pace when requests are sent
     * @throws BenchException a request failed, or its answer has not the length it should have; the message says how
     *     many did
     */
    Load run(Shot shot, long requests, Pace pace);
}
