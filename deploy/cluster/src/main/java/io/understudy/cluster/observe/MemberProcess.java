package io.understudy.cluster.observe;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The externally visible state of a member's process; empty values are unknown.
 *
 * @param startedAt when it started, by its own clock ({@code process_start_time_seconds} of its metrics)
 * @param clockAhead how far its clock is ahead of ours, as its HTTP answers are dated: to a second, negative if behind
 * @param servesPeers whether something answers at every peer URL that the cluster lists for it
 * @param quotaBytes limit of its database file
 */
public record MemberProcess(
        Optional<Instant> startedAt,
        Optional<Duration> clockAhead,
        Optional<Boolean> servesPeers,
        Optional<Long> quotaBytes) {

    /** Error of a start time and a clock, each rounded to a second. */
    private static final Duration ROUNDED = Duration.ofSeconds(2);

    public static final MemberProcess UNSEEN = new MemberProcess(Optional.empty(), Optional.empty(), Optional.empty());

    /** Creates a state with an unknown quota. */
    public MemberProcess(Optional<Instant> startedAt, Optional<Duration> clockAhead, Optional<Boolean> servesPeers) {
        this(startedAt, clockAhead, servesPeers, Optional.empty());
    }

    /** Returns the least time that its clock may have shown at a time of ours. */
    public Instant byItsClock(Instant ours) {
        return ours.plus(clockAhead.orElse(Duration.ZERO)).minus(ROUNDED);
    }
}
