package io.understudy.mirror.pipeline;

import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * When the source had nothing beyond what its mirror was given: at the last question whose answer is covered by that.
 *
 * <p>A source that answers with less than had been given when it was asked has gone back: it was restored or wiped. What was
 * given is then of a history that is no more, and the answer tells nothing of it.
 *
 * <p>Thread-safe.
 *
 * <p>Invariant M30: a reported time is that of the last read index that the delivered commits cover.
 */
final class Currency {

    private static final int MAX_ANSWERS = 1_000;

    /**
     * Put to the source.
     *
     * @param given up to where the mirror had been given everything by then
     */
    record Question(Instant askedAt, Revision given) {}

    private record Answer(Instant askedAt, Revision revision) {}

    private final Deque<Answer> uncovered = new ArrayDeque<>();
    private Revision given = Revision.ZERO;

    synchronized Question ask(Instant at) {
        return new Question(at, given);
    }

    synchronized void answered(Question question, Revision revision) {
        if (revision.isBefore(question.given())) {
            return;
        }
        if (uncovered.size() == MAX_ANSWERS) {
            uncovered.removeLast();
        }
        uncovered.add(new Answer(question.askedAt(), revision));
    }

    /** Another feed is read, from there on. */
    synchronized void begin(Revision from) {
        uncovered.clear();
        given = from;
    }

    /** The mirror was given everything up to there. */
    synchronized void given(Revision revision) {
        given = revision;
    }

    /** The time, told once; null if no answer was covered since. */
    synchronized @Nullable Instant covered() {
        Instant last = null;
        for (Answer next = uncovered.peek(); next != null && !next.revision().isAfter(given); next = uncovered.peek()) {
            last = next.askedAt();
            uncovered.remove();
        }
        return last;
    }
}
