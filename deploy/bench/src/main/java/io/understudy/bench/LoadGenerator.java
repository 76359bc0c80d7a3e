package io.understudy.bench;

import com.google.protobuf.ByteString;
import java.net.URI;
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

    /** What a run brought: all requests were answered, and rightly. */
    record Load(Tally tally, Latencies latencies) {}

    /**
     * A request to be sent over and over.
     *
     * @param server without a path
     * @param access the identity of its client
     * @param request as {@link Api#request}
     * @param answerBytes length of each answer's message or body; another length is an error
     * @param connections over which the requests are spread evenly
     * @param inFlight requests that wait for their answers at any time
     */
    record Shot(
            URI server, Access access, Api api, ByteString request, int answerBytes, int connections, int inFlight) {}
}
