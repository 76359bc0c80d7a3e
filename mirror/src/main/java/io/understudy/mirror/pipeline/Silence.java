package io.understudy.mirror.pipeline;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Whether the source has told nothing for longer than can be suffered, though it was asked: since the first question after
 * which it neither answered one nor gave anything.
 *
 * <p>One thread at a time.
 */
final class Silence {

    private final Duration patience;
    private @Nullable Instant since;
    private @Nullable Instant looked;
    /** What the last question failed with. */
    private @Nullable String why;

    Silence(Duration patience) {
        this.patience = patience;
    }

    /** The source is asked. */
    void asked(Instant at) {
        if (since == null) {
            since = at;
        }
    }

    /** The question failed. */
    void failed(String cause) {
        if (since != null) {
            why = cause;
        }
    }

    /** The source has answered, or given something that it did not have before. */
    void heard() {
        since = null;
        why = null;
    }

    /** Since when, and why, in words; null while it may still be suffered. To be called about once a second. */
    @Nullable String lasting(Instant now) {
        Instant last = looked;
        looked = now;
        if (since != null && last != null && now.isAfter(last.plus(patience))) {
            // This process stood still: silence meanwhile is ours.
            since = now;
        }
        if (since == null || !now.isAfter(since.plus(patience))) {
            return null;
        }
        return "has not responded since " + since.truncatedTo(ChronoUnit.SECONDS) + (why == null ? "" : ": " + why);
    }
}
