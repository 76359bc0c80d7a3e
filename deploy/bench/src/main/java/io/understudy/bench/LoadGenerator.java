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
     * Sends requests for a time, with a constant number of them in flight.
     *
     * @throws BenchException a request failed
     */
    Tally warmUp(Shot shot, Duration duration);

    /**
     * Sends so many requests and waits for all answers.
     *
     * @param pace when requests are sent
     * @throws BenchException a request failed, or its answer has another length than expected; the message has their
     *     number
     */
    Load run(Shot shot, long requests, Pace pace);
}
