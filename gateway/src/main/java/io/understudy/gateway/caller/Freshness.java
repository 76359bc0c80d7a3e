package io.understudy.gateway.caller;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a request asks beyond etcd's own {@code serializable} flag: over gRPC by the metadata {@code
 * understudy-max-staleness-ms} and {@code understudy-min-revision}. Both given, both hold.
 *
 * @param maxStaleness of the answer; null for any
 * @param minRevision that the answer's state includes; 0 for any
 */
public record Freshness(@Nullable Duration maxStaleness, long minRevision) {

    /** Whatever there is. */
    public static final Freshness ANY = new Freshness(null, 0);
}
