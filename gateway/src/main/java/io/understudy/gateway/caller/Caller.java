package io.understudy.gateway.caller;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The context of a request.
 *
 * @param deadlineNanos by {@link System#nanoTime} when the client gives up; {@link Long#MAX_VALUE} for none
 * @param gone whether the client has disconnected; called on the session's event loop
 * @param whenOver registers a task for the session's event loop, run once the client has read the answer or
 *     disconnected, at once if it already has
 */
public record Caller(
        Principal principal,
        Session session,
        Freshness freshness,
        long deadlineNanos,
        BooleanSupplier gone,
        Consumer<Runnable> whenOver) {

    /** No deadline. */
    public static final long NO_DEADLINE = Long.MAX_VALUE;

    /**
     * Requirements beyond etcd's {@code serializable} flag; all apply. A linearizable read satisfies any staleness.
     *
     * @param maxStaleness of the answer; null for any
     * @param minRevision that the answer's state includes; 0 for any
     * @param requiresLeader whether to fail while the source has no leader
     * @param replicaOnly whether to fail instead of reading from the source
     */
    public record Freshness(
            @Nullable Duration maxStaleness, long minRevision, boolean requiresLeader, boolean replicaOnly) {

        /** No requirement. */
        public static final Freshness ANY = new Freshness(null, 0);

        /** gRPC metadata key or HTTP header of the maximum staleness in milliseconds. */
        public static final String MAX_STALENESS_KEY = "understudy-max-staleness-ms";

        /** gRPC metadata key or HTTP header of the minimum revision. */
        public static final String MIN_REVISION_KEY = "understudy-min-revision";

        /** etcd's metadata key to require a leader; any value but {@code true} is ignored (api/v3rpc/rpctypes/md.go). */
        public static final String REQUIRES_LEADER_KEY = "hasleader";

        /** Maximum that limits anything; larger values are unlimited. */
        private static final long MOST_MILLIS = Duration.ofDays(36_500).toMillis();

        /**
         * Reads the values of gRPC metadata.
         *
         * @param maxStalenessMillis null if absent
         * @param minRevision null if absent
         * @param requiresLeader likewise
         * @param replicaOnly likewise
         * @throws ApiException InvalidArgument, with the invalid value
         */
        public static Freshness ofMetadata(
                @Nullable String maxStalenessMillis,
                @Nullable String minRevision,
                @Nullable String requiresLeader,
                @Nullable String replicaOnly)
                throws ApiException {
            if (maxStalenessMillis == null && minRevision == null && requiresLeader == null && replicaOnly == null) {
                return ANY;
            }
            return new Freshness(
                    maxStalenessMillis == null
                            ? null
                            : Duration.ofMillis(Math.min(
                                    MOST_MILLIS, number(MAX_STALENESS_KEY, maxStalenessMillis, "milliseconds"))),
                    minRevision == null ? 0 : number(MIN_REVISION_KEY, minRevision, "revision"),
                    "true".equals(requiresLeader),
                    "true".equals(replicaOnly));
        }

        /** Creates requirements that need neither a leader nor the replica. */
        public Freshness(@Nullable Duration maxStaleness, long minRevision) {
            this(maxStaleness, minRevision, false, false);
        }

        private static long number(String key, String value, String what) throws ApiException {
            try {
                long number = Long.parseLong(value.strip());
                if (number >= 0) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // Reported below, like a negative value.
            }
            throw new ApiException(
                    Status.Code.INVALID_ARGUMENT,
                    "understudy: " + key + " is '" + value + "'; allowed: a non-negative integer (" + what + ")");
        }
    }
}
