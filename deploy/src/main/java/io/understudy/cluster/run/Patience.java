package io.understudy.cluster.run;

import java.time.Duration;

/**
 * How long things may take.
 *
 * @param look one look at the cluster
 * @param between two looks
 * @param settle a cluster that recovers from the last step, or from an election, before it is taken for what it is; also
 *     what etcd itself wants (members connected for five seconds)
 * @param request what a request to the cluster takes to show
 * @param start a member's process until it serves
 * @param catchUp without any progress of a learner
 */
public record Patience(
        Duration look, Duration between, Duration settle, Duration request, Duration start, Duration catchUp) {

    public static final Patience DEFAULT = new Patience(
            Duration.ofSeconds(3),
            Duration.ofMillis(200),
            Duration.ofSeconds(30),
            Duration.ofSeconds(15),
            Duration.ofMinutes(2),
            Duration.ofMinutes(10));

    /** Whoever starts processes elsewhere takes longer. */
    public Patience withStart(Duration newStart) {
        return new Patience(look, between, settle, request, newStart, catchUp);
    }
}
