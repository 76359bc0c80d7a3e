package io.understudy.cluster.observe;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.MemberId;
import java.net.ConnectException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * Reads the state of the member at one endpoint. A partial reply counts at the end of the observation.
 *
 * <p>Whether a voter reaches the quorum shows in a linearizable read of one key. A learner rejects that; its page
 * {@code /readyz/linearizable_read} answers only after a read index that the quorum confirmed was applied.
 */
final class Probe {

    private static final RangeRequest ONE_KEY = RangeRequest.newBuilder()
            .setKey(ByteString.copyFrom(new byte[] {0}))
            .setCountOnly(true)
            .build();
    private static final int HTTP_OK = 200;

    private final EtcdConnections connections;
    private final Endpoint endpoint;
    private final Duration deadline;
    private final CompletableFuture<StatusResponse> status;
    private final CompletableFuture<Optional<Failure>> unreached;
    private final CompletableFuture<ProbeReply.Page> metrics;

    /**
     * Sends everything at once.
     *
     * @param suspicious whether a member was unhealthy in the previous observation
     */
    Probe(EtcdConnections connections, Endpoint endpoint, Duration deadline, boolean suspicious) {
        this.connections = connections;
        this.endpoint = endpoint;
        this.deadline = deadline;
        this.status = connections.call(
                endpoint, MaintenanceGrpc.getStatusMethod(), StatusRequest.getDefaultInstance(), deadline);
        this.unreached = status.thenCompose(this::unreached)
                .exceptionally(failure -> Optional.of(Failure.of(failure, deadline)));
        CompletableFuture<Map<MemberId, Long>> behind = suspicious
                ? connections
                        .page(endpoint, "/debug/vars", deadline)
                        .thenApply(page -> RaftProgress.behind(page.body()))
                        .exceptionally(failure -> Map.of())
                : CompletableFuture.completedFuture(Map.of());
        this.metrics = page(connections, endpoint, deadline).thenCombine(behind, ProbeReply.Page::with);
    }

    /** The metrics page; empty if it can't be read. */
    static CompletableFuture<ProbeReply.Page> page(EtcdConnections connections, Endpoint endpoint, Duration deadline) {
        long sent = System.nanoTime();
        return connections
                .page(endpoint, "/metrics", deadline)
                .thenApply(page -> page(page, sent))
                .exceptionally(failure -> ProbeReply.Page.NONE);
    }

    /** Whether the member responds and follows that leader. */
    static CompletableFuture<Boolean> follows(
            EtcdConnections connections, Endpoint endpoint, MemberId member, MemberId leader, Duration deadline) {
        return connections
                .page(endpoint, "/debug/vars", deadline)
                .thenApply(page -> RaftProgress.follows(page.body(), member, leader))
                .exceptionally(failure -> false);
    }

    /** Completes, successfully, when nothing more will come. */
    CompletableFuture<Void> whole() {
        return CompletableFuture.allOf(status.handle((answer, failure) -> answer), unreached, metrics);
    }

    /** Returns the received responses; empty without a status. */
    Optional<ProbeReply> reply() {
        if (!status.isDone() || status.isCompletedExceptionally()) {
            return Optional.empty();
        }
        StatusResponse answer = status.join();
        return Optional.of(new ProbeReply(
                endpoint,
                answer,
                unreached.getNow(Optional.of(Failure.timeout(deadline))),
                metrics.getNow(ProbeReply.Page.NONE)));
    }

    /** Whether the endpoint refuses connections: its host is up, and no process listens. */
    boolean isRefused() {
        return status.isCompletedExceptionally()
                && status.handle((answer, failure) -> Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                                .anyMatch(Probe::isRefusal))
                        .join();
    }

    /** Other connection failures, a timeout above all, have subclasses and texts of their own. */
    private static boolean isRefusal(Throwable failure) {
        return failure instanceof ConnectException
                && String.valueOf(failure.getMessage()).contains("Connection refused");
    }

    /** Returns why there is no status. */
    Failure failure() {
        return status.isDone()
                ? status.handle((answer, failure) -> Failure.of(failure, deadline))
                        .join()
                : Failure.timeout(deadline);
    }

    private static ProbeReply.Page page(HttpResponse<String> page, long sent) {
        Optional<Duration> clockAhead = page.headers()
                .firstValue("Date")
                .flatMap(Probe::date)
                .map(date -> Duration.between(Instant.now().truncatedTo(ChronoUnit.SECONDS), date));
        MetricsPage metrics = new MetricsPage(page.statusCode() == HTTP_OK ? page.body() : "");
        return new ProbeReply.Page(metrics, clockAhead, Map.of(), sent, System.nanoTime());
    }

    private static Optional<Instant> date(String text) {
        try {
            return Optional.of(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text, Instant::from));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    /** Returns why its member does not reach the quorum; empty if it does. */
    private CompletableFuture<Optional<Failure>> unreached(StatusResponse answer) {
        EtcdVersion version = EtcdVersion.parse(answer.getVersion());
        if (!answer.getIsLearner()) {
            return connections
                    .call(endpoint, KVGrpc.getRangeMethod(), ONE_KEY, deadline)
                    .handle((read, failure) -> failure == null || isForbidden(failure)
                            ? Optional.empty()
                            : Optional.of(Failure.of(failure, deadline)));
        }
        if (!version.learnerReadIndexOverHttp()) {
            // It serves nothing that needs the quorum, and reports only whether it has a leader.
            return CompletableFuture.completedFuture(
                    answer.getLeader() != 0 ? Optional.empty() : Optional.of(new Failure("no leader", false, false)));
        }
        return connections
                .page(endpoint, "/readyz/linearizable_read", deadline)
                .thenApply(page -> page.statusCode() == HTTP_OK
                        ? Optional.empty()
                        : Optional.of(new Failure("read index failed", false, false)));
    }

    /** Permissions are looked at only after the quorum has confirmed the read ({@code EtcdServer.Range}). */
    private static boolean isForbidden(Throwable failure) {
        EtcdError error = EtcdErrors.classify(Duty.READ_INDEX, failure).error();
        return error == EtcdError.PERMISSION_DENIED || error == EtcdError.USER_EMPTY;
    }

    /** Raft status of a member on its page {@code /debug/vars}; the leader's has the progress of its followers. */
    static final class RaftProgress {

        private static final ObjectMapper JSON = new ObjectMapper();
        private static final int HEXADECIMAL = 16;
        private static final String SNAPSHOT = "StateSnapshot";

        private RaftProgress() {}

        /** Whether it is the page of that member and names that leader. */
        static boolean follows(String page, MemberId member, MemberId leader) {
            try {
                JsonNode status = JSON.readTree(page).path("raft.status");
                return status.path("id").asText().equals(member.toString())
                        && status.path("lead").asText().equals(leader.toString());
            } catch (JsonProcessingException e) {
                return false;
            }
        }

        /**
         * Returns the last log index of each member behind the commit index. Members that receive a snapshot are left out,
         * since their index does not grow. Empty for any other page.
         */
        static Map<MemberId, Long> behind(String page) {
            try {
                JsonNode status = JSON.readTree(page).path("raft.status");
                long committed = status.path("commit").asLong();
                Map<MemberId, Long> behind = new HashMap<>();
                status.path("progress").properties().forEach(each -> {
                    long match = each.getValue().path("match").asLong();
                    if (match < committed
                            && !each.getValue().path("state").asText().equals(SNAPSHOT)) {
                        behind.put(new MemberId(Long.parseUnsignedLong(each.getKey(), HEXADECIMAL)), match);
                    }
                });
                return behind;
            } catch (JsonProcessingException | NumberFormatException e) {
                return Map.of();
            }
        }
    }
}
