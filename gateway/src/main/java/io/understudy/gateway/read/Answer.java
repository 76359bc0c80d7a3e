package io.understudy.gateway.read;

import io.understudy.gateway.api.OpResult;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The result of a read, with its metadata.
 *
 * @param revision of the answer's header
 * @param staleness of the state that was read, measured by a read index; zero if that was sent after the request
 *     arrived; null when unknown
 */
public record Answer<R extends OpResult>(
        R result, long revision, @Nullable Duration staleness, Provenance provenance) {

    /** Returns this answer with zero staleness: the state was confirmed after the request arrived. */
    Answer<R> asOfArrival() {
        return new Answer<>(result, revision, Duration.ZERO, provenance);
    }

    /** gRPC metadata key or HTTP header of the revision. */
    public static final String REVISION_KEY = "understudy-revision";

    /** gRPC metadata key or HTTP header of the staleness in milliseconds; absent if unknown. */
    public static final String STALENESS_KEY = "understudy-staleness-ms";
}
