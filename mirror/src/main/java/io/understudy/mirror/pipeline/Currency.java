package io.understudy.mirror.pipeline;

import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Time at which the mirror was current: that of the last covered query.
 *
 * <p>A response below the revision received before the query is ignored: the source was restored or wiped, so its
 * history differs.
 *
 * <p>Thread-safe.
 *
 * <p>Invariant M30: a reported time is that of the last read index that the delivered commits cover.
 */
final class Currency {

    private static final int MAX_ANSWERS = 1_000;

    /**
     * A query of the source's revision.
     *
     * @param given revision received completely at that time
     */
    record RevisionQuery(Instant sentAt, Revision given) {}

    private record Answer(Instant sentAt, Revision revision) {}

    private final Deque<Answer> uncovered = new ArrayDeque<>();
    private Revision given = Revision.ZERO;

    synchronized RevisionQuery query(Instant at) {
        return new RevisionQuery(at, given);
    }

    synchronized void answered(RevisionQuery query, Revision revision) {
        if (revision.isBefore(query.given())) {
            return;
        }
        if (uncovered.size() == MAX_ANSWERS) {
            uncovered.removeLast();
        }
        uncovered.add(new Answer(query.sentAt(), revision));
    }

    /** Starts with another feed at that revision. */
    synchronized void begin(Revision from) {
        uncovered.clear();
        given = from;
    }

    /** Records that the mirror has received everything up to that revision. */
    synchronized void given(Revision revision) {
        given = revision;
    }

    /** Returns a new time once; null if no response was covered since. */
    synchronized @Nullable Instant covered() {
        Instant last = null;
        for (Answer next = uncovered.peek(); next != null && !next.revision().isAfter(given); next = uncovered.peek()) {
            last = next.sentAt();
            uncovered.remove();
        }
        return last;
    }
}
