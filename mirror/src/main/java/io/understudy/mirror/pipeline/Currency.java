package io.understudy.mirror.pipeline;

import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * When the source had nothing beyond what its mirror was given: at the last question whose answer is covered by that.
 *
 * <p>Thread-safe.
 */
final class Currency {

    private static final int MAX_ANSWERS = 1_000;

    private record Answer(Instant askedAt, Revision revision) {}

    private final Deque<Answer> uncovered = new ArrayDeque<>();

    synchronized void answered(Instant askedAt, Revision revision) {
        if (uncovered.size() == MAX_ANSWERS) {
            uncovered.removeLast();
        }
        uncovered.add(new Answer(askedAt, revision));
    }

    /** Begins anew: another feed is read. */
    synchronized void forget() {
        uncovered.clear();
    }

    /** The time, told once; null if no answer was covered since. */
    synchronized @Nullable Instant coveredBy(Revision given) {
        Instant last = null;
        for (Answer next = uncovered.peek(); next != null && !next.revision().isAfter(given); next = uncovered.peek()) {
            last = next.askedAt();
            uncovered.remove();
        }
        return last;
    }
}
