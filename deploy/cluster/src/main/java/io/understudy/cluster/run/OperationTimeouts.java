package io.understudy.cluster.run;

import java.time.Duration;

/**
 * How long things may take.
 *
 * @param look one look at the cluster
 * @param between two looks, at first
 * @param settle a cluster that recovers from the last step, or from an election, before it is taken for what it is; also
 *     what etcd itself wants (members connected for five seconds)
 * @param request what a request to the cluster takes to show
 * @param start a member's process until it serves
 * @param catchUp without any progress of a learner
 */
public record OperationTimeouts(
        Duration look, Duration between, Duration settle, Duration request, Duration start, Duration catchUp) {

    private static final int LOOKS = 20;
    private static final Duration LONGEST = Duration.ofSeconds(1);

    public static final OperationTimeouts DEFAULT = new OperationTimeouts(
            Duration.ofSeconds(3),
            Duration.ofMillis(200),
            Duration.ofSeconds(30),
            Duration.ofSeconds(15),
            Duration.ofMinutes(2),
            Duration.ofMinutes(10));

    /** Looks cost the members something: what takes long is looked at less often, once a second at least. */
    Duration between(long sinceNanos) {
        Duration grown = Duration.ofNanos(Math.min(sinceNanos / LOOKS, LONGEST.toNanos()));
        return grown.compareTo(between) > 0 ? grown : between;
    }

    public OperationTimeouts withLook(Duration newLook) {
        return new OperationTimeouts(newLook, between, settle, request, start, catchUp);
    }

    /** Processes that another system starts take longer. */
    public OperationTimeouts withStart(Duration newStart) {
        return new OperationTimeouts(look, between, settle, request, newStart, catchUp);
    }
}
