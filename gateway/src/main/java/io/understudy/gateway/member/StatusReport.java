package io.understudy.gateway.member;

import io.understudy.health.HealthChecks;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The gateway's own part of {@code /v1/status}.
 *
 * @param name the gateway's
 * @param version of Understudy, as {@code /version} has it
 * @param memberId the gateway's own, as its answers carry it
 * @param source kind of the source, {@code etcd} or {@code kafka}
 * @param ready the checks of {@code /readyz}
 * @param replica state of the replica; read for each request, on any thread
 */
public record StatusReport(
        String name, String version, String memberId, String source, HealthChecks ready, Supplier<Held> replica) {

    /**
     * The state of the replica.
     *
     * @param clusterId the source's, in hexadecimal; empty before the first snapshot
     * @param revision 0 before the first snapshot
     * @param keys number of keys
     * @param bytes of keys and values
     * @param staleness null if unknown
     */
    public record Held(
            String clusterId,
            long revision,
            long keys,
            long bytes,
            @Nullable Duration staleness) {}
}
