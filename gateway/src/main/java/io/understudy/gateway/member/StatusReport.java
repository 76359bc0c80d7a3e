package io.understudy.gateway.member;

import io.understudy.health.HealthChecks;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What {@code /v1/status} says of the gateway itself.
 *
 * @param name the gateway's
 * @param version of Understudy, as {@code /version} has it
 * @param memberId the gateway's own, as its answers carry it
 * @param source of which kind its source is, {@code etcd} or {@code kafka}
 * @param ready the checks of {@code /readyz}
 * @param replica what is held; asked for each request, on any thread
 */
public record StatusReport(
        String name, String version, String memberId, String source, HealthChecks ready, Supplier<Held> replica) {

    /**
     * What the replica holds.
     *
     * @param clusterId the source's, in hexadecimal; empty before the first snapshot
     * @param revision 0 before the first snapshot
     * @param keys number of keys
     * @param bytes of keys and values
     * @param staleness how long ago it is known to have been current; null while nobody knows
     */
    public record Held(
            String clusterId,
            long revision,
            long keys,
            long bytes,
            @Nullable Duration staleness) {}
}
