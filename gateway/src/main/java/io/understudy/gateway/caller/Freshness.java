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
 * @param requiresLeader whether to fail while the source has no leader
 */
public record Freshness(@Nullable Duration maxStaleness, long minRevision, boolean requiresLeader) {

    /** Whatever there is. */
    public static final Freshness ANY = new Freshness(null, 0, false);

    /** The gRPC metadata, or header, that carries the first, a number of milliseconds. */
    public static final String MAX_STALENESS_KEY = "understudy-max-staleness-ms";

    /** The gRPC metadata, or header, that carries the second. */
    public static final String MIN_REVISION_KEY = "understudy-min-revision";

    /** The metadata of etcd that carries the third; any value but {@code true} is ignored (api/v3rpc/rpctypes/md.go). */
    public static final String REQUIRES_LEADER_KEY = "hasleader";

    /** More than this is as good as any: so long no process runs. */
    private static final long MOST_MILLIS = Duration.ofDays(36_500).toMillis();

    /**
     * Reads the values of gRPC metadata.
     *
     * @param maxStalenessMillis null if it was not given
     * @param minRevision null if it was not given
     * @param requiresLeader likewise
     * @throws ApiException InvalidArgument, naming what is wrong
     */
    public static Freshness ofMetadata(
            @Nullable String maxStalenessMillis, @Nullable String minRevision, @Nullable String requiresLeader)
            throws ApiException {
        if (maxStalenessMillis == null && minRevision == null && requiresLeader == null) {
            return ANY;
        }
        return new Freshness(
                maxStalenessMillis == null
                        ? null
                        : Duration.ofMillis(
                                Math.min(MOST_MILLIS, number(MAX_STALENESS_KEY, maxStalenessMillis, "milliseconds"))),
                minRevision == null ? 0 : number(MIN_REVISION_KEY, minRevision, "revision"),
                "true".equals(requiresLeader));
    }

    /** Of a request that may be answered without a leader. */
    public Freshness(@Nullable Duration maxStaleness, long minRevision) {
        this(maxStaleness, minRevision, false);
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
