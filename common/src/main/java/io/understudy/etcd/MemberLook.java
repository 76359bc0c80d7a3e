package io.understudy.etcd;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.Channel;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Probes a server for its role and health. It reads the status. Where etcd restricts that to root, as 3.5.30 does once
 * authentication is enabled, it reads the header of a read and, less often, the page of metrics. Any thread.
 *
 * <p>Invariant E11: read permission on some keys suffices to learn roles, leader and read indexes.
 */
final class MemberLook {

    /** Pause before a denied status is requested again. */
    private static final long DENIED_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Maximum age of a metrics page, which is long, within the same term. */
    private static final long PAGE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final int HTTP_OK = 200;

    private final Function<Endpoint, Channel> channels;
    private final HttpPages pages;
    private final RangeRequest oneKey;
    private final Map<Endpoint, Long> deniedNanos = new ConcurrentHashMap<>();
    private final Map<Endpoint, Described> described = new ConcurrentHashMap<>();

    /**
     * @param readable has the key that is read, whether it exists or not
     */
    MemberLook(Function<Endpoint, Channel> channels, HttpPages pages, KeyRange readable) {
        this.channels = channels;
        this.pages = pages;
        this.oneKey = RangeRequest.newBuilder()
                .setKey(readable.etcdKey())
                .setCountOnly(true)
                .setSerializable(true)
                .build();
    }

    /** Returns the server's facts. Fails if it doesn't respond in time, or not with the required fields. */
    CompletableFuture<Observation.Facts> at(Endpoint endpoint, Duration deadline) {
        Long denied = deniedNanos.get(endpoint);
        if (denied != null && System.nanoTime() - denied < DENIED_NANOS) {
            return byRead(endpoint, deadline);
        }
        CompletableFuture<StatusResponse> status = Calls.unary(
                channels.apply(endpoint),
                MaintenanceGrpc.getStatusMethod(),
                StatusRequest.getDefaultInstance(),
                deadline);
        return status.thenApply(answer -> {
                    deniedNanos.remove(endpoint);
                    return Observation.Facts.of(answer);
                })
                .exceptionallyCompose(failure -> {
                    if (EtcdErrors.classify(Duty.SNAPSHOT, failure).error() != EtcdError.PERMISSION_DENIED) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    deniedNanos.put(endpoint, System.nanoTime());
                    return byRead(endpoint, deadline);
                });
    }

    private CompletableFuture<Observation.Facts> byRead(Endpoint endpoint, Duration deadline) {
        return Calls.unary(channels.apply(endpoint), KVGrpc.getRangeMethod(), oneKey, deadline)
                .thenCompose(answer -> {
                    ResponseHeader header = answer.getHeader();
                    return description(endpoint, header, deadline).thenApply(server -> server.facts(header));
                });
    }

    private CompletableFuture<Described> description(Endpoint endpoint, ResponseHeader header, Duration deadline) {
        Described known = described.get(endpoint);
        if (known != null && known.isOf(header) && System.nanoTime() - known.atNanos() < PAGE_NANOS) {
            return CompletableFuture.completedFuture(known);
        }
        return page(endpoint, "/version", deadline)
                .thenCombine(page(endpoint, "/metrics", deadline), (version, metrics) -> {
                    MemberPages pages = new MemberPages(version, metrics);
                    if (!pages.mayBeOf(new MemberId(header.getMemberId()))) {
                        throw new IllegalStateException(endpoint + " reaches more than one member");
                    }
                    Described now = new Described(header, System.nanoTime(), pages);
                    described.put(endpoint, now);
                    return now;
                });
    }

    private CompletableFuture<String> page(Endpoint endpoint, String path, Duration deadline) {
        return pages.get(endpoint, path, deadline).thenApply(answer -> {
            if (answer.statusCode() != HTTP_OK) {
                throw new IllegalStateException(endpoint + path + " returned HTTP status " + answer.statusCode());
            }
            return answer.body();
        });
    }

    /** Forgets all other endpoints. */
    void retain(Set<Endpoint> wanted) {
        deniedNanos.keySet().retainAll(wanted);
        described.keySet().retainAll(wanted);
    }

    /**
     * The content of a server's pages.
     *
     * @param header of the preceding read
     */
    private record Described(ResponseHeader header, long atNanos, MemberPages pages) {

        boolean isOf(ResponseHeader other) {
            return header.getMemberId() == other.getMemberId()
                    && header.getClusterId() == other.getClusterId()
                    && header.getRaftTerm() == other.getRaftTerm();
        }

        Observation.Facts facts(ResponseHeader now) {
            MemberId member = new MemberId(now.getMemberId());
            EtcdVersion version = pages.version();
            return new Observation.Facts(
                    new ClusterId(now.getClusterId()),
                    member,
                    pages.isLeader() ? member : null,
                    // A gateway reports none, and answers as well.
                    pages.hasLeader() || version.isUnderstudy(),
                    pages.isLearner(),
                    version,
                    now.getRaftTerm(),
                    new Revision(Math.max(0, now.getRevision())),
                    // Neither reports them.
                    List.of(),
                    null);
        }
    }

    /**
     * The required fields of a server's pages.
     *
     * @param versionPage of {@code /version}
     * @param metricsPage of {@code /metrics}
     */
    record MemberPages(String versionPage, String metricsPage) {

        private static final Pattern VERSION = Pattern.compile("\"etcdserver\"\\s*:\\s*\"([^\"]+)\"");

        /** The name of a gateway's own version. */
        private static final String GATEWAY = "\"understudy\"";

        /** Gauges of {@code etcdserver/metrics.go} that are 0 or 1. */
        private static final Pattern ROLE =
                Pattern.compile("^etcd_server_(is_leader|has_leader|is_learner) 1(?:\\.0|e\\+00)?$", Pattern.MULTILINE);

        /** A gauge of {@code etcdserver/metrics.go}, labelled with the member's id. */
        private static final Pattern MEMBER = Pattern.compile(
                "^etcd_server_id\\{server_id=\"([0-9a-f]{1,16})\"} 1(?:\\.0|e\\+00)?$", Pattern.MULTILINE);

        /** Whether the pages may be of that member: they name it, or no member. */
        boolean mayBeOf(MemberId member) {
            Matcher found = MEMBER.matcher(metricsPage);
            return !found.find() || new MemberId(Long.parseUnsignedLong(found.group(1), 16)).equals(member);
        }

        EtcdVersion version() {
            Matcher found = VERSION.matcher(versionPage);
            EtcdVersion version = found.find() ? EtcdVersion.parse(found.group(1)) : EtcdVersion.UNKNOWN;
            return versionPage.contains(GATEWAY) ? version.ofGateway() : version;
        }

        boolean isLeader() {
            return hasRole("is_leader");
        }

        boolean hasLeader() {
            return hasRole("has_leader");
        }

        boolean isLearner() {
            return hasRole("is_learner");
        }

        private boolean hasRole(String role) {
            return ROLE.matcher(metricsPage).results().anyMatch(line -> line.group(1)
                    .equals(role));
        }
    }
}
