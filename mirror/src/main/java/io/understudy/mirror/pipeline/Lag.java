package io.understudy.mirror.pipeline;

import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Lag of a mirror, by sampling the source's revision. A mirror that has reached the last sample is not behind; else it
 * has been behind since the first sample that it hasn't reached. A sample without an answer counts as not reached,
 * until a later one clears it.
 *
 * <p>Thread-safe.
 */
final class Lag {

    private static final int MAX_SAMPLES = 1_000;

    /** A query; the revision is null without a response. */
    private record Sample(Instant sentAt, @Nullable Revision revision) {}

    private final Deque<Sample> uncovered = new ArrayDeque<>();
    private @Nullable Revision newest;

    /**
     * The source's revision was queried.
     *
     * @param revision what it answered; null if it didn't
     */
    synchronized void sampled(Instant sentAt, @Nullable Revision revision) {
        if (revision != null) {
            newest = revision;
        }
        if (uncovered.size() == MAX_SAMPLES) {
            uncovered.removeLast();
        }
        uncovered.add(new Sample(sentAt, revision));
    }

    /** Resets: nothing is known. */
    synchronized void forget() {
        uncovered.clear();
        newest = null;
    }

    /** Revisions the source is ahead of {@code complete}; empty before the first answer. */
    synchronized OptionalLong revisions(Revision complete) {
        return newest == null ? OptionalLong.empty() : OptionalLong.of(Math.max(0, newest.value() - complete.value()));
    }

    /** Milliseconds since which the source has been ahead of {@code complete}; empty before the first answer. */
    synchronized OptionalLong millis(Revision complete, Instant now) {
        int covered = 0;
        int index = 0;
        for (Sample sample : uncovered) {
            index++;
            if (sample.revision() != null && !sample.revision().isAfter(complete)) {
                covered = index;
            }
        }
        for (int i = 0; i < covered; i++) {
            uncovered.remove();
        }
        if (newest == null) {
            return OptionalLong.empty();
        }
        Sample oldest = uncovered.peek();
        return OptionalLong.of(
                oldest == null
                        ? 0
                        : Math.max(0, Duration.between(oldest.sentAt(), now).toMillis()));
    }
}
