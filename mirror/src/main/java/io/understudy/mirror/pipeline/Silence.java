package io.understudy.mirror.pipeline;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Detects a source that has been silent for longer than permitted: since the first query after which it neither
 * answered one nor delivered anything.
 *
 * <p>One thread at a time.
 */
final class Silence {

    private final Duration patience;
    private @Nullable Instant since;
    private @Nullable Instant lastCheck;
    /** Failure of the last query. */
    private @Nullable String why;

    Silence(Duration patience) {
        this.patience = patience;
    }

    /** A query is sent. */
    void queried(Instant at) {
        if (since == null) {
            since = at;
        }
    }

    /** The query failed. */
    void failed(String cause) {
        if (since != null) {
            why = cause;
        }
    }

    /** The source has answered, or delivered something new. */
    void responded() {
        since = null;
        why = null;
    }

    /** Since when, and why, in words; null within the permitted time. To be called about once a second. */
    @Nullable String lasting(Instant now) {
        Instant last = lastCheck;
        lastCheck = now;
        if (since != null && last != null && now.isAfter(last.plus(patience))) {
            // This process was suspended, and has caused the silence.
            since = now;
        }
        if (since == null || !now.isAfter(since.plus(patience))) {
            return null;
        }
        return "has not responded since " + since.truncatedTo(ChronoUnit.SECONDS) + (why == null ? "" : ": " + why);
    }
}
