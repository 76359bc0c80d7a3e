package io.understudy.bench;

import java.time.Duration;

/** Sends requests so that always as many are in flight as the shot says. */
interface LoadGenerator {

    /** For the report. */
    String description();

    /**
     * Sends requests for a time.
     *
     * @return requests answered per second
     * @throws BenchException a request failed
     */
    double warmUp(Shot shot, Duration duration);

    /**
     * Sends so many requests and waits for all answers.
     *
     * @throws BenchException a request failed, or its answer has not the length it should have; the message says how
     *     many did
     */
    Load run(Shot shot, long requests);
}
