package io.understudy.gateway.read;

import io.understudy.gateway.api.OpResult;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A read's result, with what the caller is told of it beside.
 *
 * @param revision of the answer's header
 * @param staleness of the state that was read, measured by a read index; zero if that was sent after the request
 *     arrived; null when unknown
 */
public record Answer<R extends OpResult>(
        R result, long revision, @Nullable Duration staleness, Provenance provenance) {

    /** Returns the same answer of a state that was confirmed after the request arrived: nothing before that is missing. */
    Answer<R> asOfArrival() {
        return new Answer<>(result, revision, Duration.ZERO, provenance);
    }

    /** The gRPC metadata, or header, that tells the revision. */
    public static final String REVISION_KEY = "understudy-revision";

    /** The gRPC metadata, or header, that tells the staleness in milliseconds; left out when nobody knows it. */
    public static final String STALENESS_KEY = "understudy-staleness-ms";
}
