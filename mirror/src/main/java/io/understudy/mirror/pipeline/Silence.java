package io.understudy.mirror.pipeline;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Detects a source without response or event for longer than permitted since a query.
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

    /** Records a query. */
    void queried(Instant at) {
        if (since == null) {
            since = at;
        }
    }

    /** Records a failed query. */
    void failed(String cause) {
        if (since != null) {
            why = cause;
        }
    }

    /** Records a response or a new event. */
    void responded() {
        since = null;
        why = null;
    }

    /** Describes the silence; null within the permitted time. Called about once a second. */
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
