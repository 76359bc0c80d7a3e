package io.understudy.gateway.caller;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a request asks beyond etcd's own {@code serializable} flag. Both given, both hold. A linearizable read satisfies any
 * staleness.
 *
 * @param maxStaleness of the answer; null for any
 * @param minRevision that the answer's state includes; 0 for any
 */
public record Freshness(@Nullable Duration maxStaleness, long minRevision) {

    /** Whatever there is. */
    public static final Freshness ANY = new Freshness(null, 0);

    /** The gRPC metadata, or header, that carries the first, a number of milliseconds. */
    public static final String MAX_STALENESS_KEY = "understudy-max-staleness-ms";

    /** The gRPC metadata, or header, that carries the second. */
    public static final String MIN_REVISION_KEY = "understudy-min-revision";

    /** More than this is as good as any: so long no process runs. */
    private static final long MOST_MILLIS = Duration.ofDays(36_500).toMillis();

    /**
     * Reads the values of gRPC metadata.
     *
     * @param maxStalenessMillis null if it was not given
     * @param minRevision null if it was not given
     * @throws ApiException InvalidArgument, naming what is wrong
     */
    public static Freshness ofMetadata(@Nullable String maxStalenessMillis, @Nullable String minRevision)
            throws ApiException {
        if (maxStalenessMillis == null && minRevision == null) {
            return ANY;
        }
        return new Freshness(
                maxStalenessMillis == null
                        ? null
                        : Duration.ofMillis(
                                Math.min(MOST_MILLIS, number(MAX_STALENESS_KEY, maxStalenessMillis, "milliseconds"))),
                minRevision == null ? 0 : number(MIN_REVISION_KEY, minRevision, "revision"));
    }

    private static long number(String key, String value, String what) throws ApiException {
        try {
            long number = Long.parseLong(value.strip());
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Told below, like a negative one.
        }
        throw new ApiException(
                Status.Code.INVALID_ARGUMENT,
                "understudy: " + key + " is '" + value + "'; allowed: a non-negative integer (" + what + ")");
    }
}
