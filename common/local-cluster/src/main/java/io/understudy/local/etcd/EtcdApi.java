package io.understudy.local.etcd;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.local.certificate.ServerTls;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The few requests that running a cluster takes, over etcd's JSON mapping. Every request has a deadline. */
final class EtcdApi {

    private static final Duration QUICK = Duration.ofSeconds(2);
    private static final Duration RECONFIGURATION = Duration.ofSeconds(15);

    /** Errors of a member that requires authentication, or has lost the token. Nothing has happened then. */
    private static final Set<String> NO_TOKEN =
            Set.of("etcdserver: user name is empty", "etcdserver: invalid auth token");

    private final ObjectMapper json = new ObjectMapper();
    private final HttpClient http;

    private volatile @Nullable Root root;
    private volatile String token = "";

    /** @param tls null for plain text */
    EtcdApi(@Nullable ServerTls tls) {
        HttpClient.Builder builder =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(QUICK);
        this.http = (tls == null ? builder : builder.sslContext(tls.clients())).build();
    }

    /** The login as root, once authentication is enabled, and the voters that issue tokens. */
    private record Root(String password, Supplier<List<URI>> voters) {}

    /**
     * A member as in the cluster's list.
     *
     * @param id unsigned
     * @param name empty until it has started for the first time
     */
    record Listed(long id, String name, List<String> peerUrls, boolean learner) {

        boolean wasStarted() {
            return !name.isEmpty();
        }
    }

    /** Completes with true when the member serves a linearizable read, and so reaches the quorum. */
    CompletableFuture<Boolean> healthy(URI client) {
        HttpRequest request =
                HttpRequest.newBuilder(client.resolve("/health")).timeout(QUICK).build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .handle((answer, failure) -> failure == null && answer.statusCode() == 200);
    }

    CompletableFuture<MemberStatus> status(URI client) {
        return post(client, "/v3/maintenance/status", json.createObjectNode(), QUICK)
                .thenApply(answer -> {
                    JsonNode header = answer.path("header");
                    return new MemberStatus(
                            id(header.path("cluster_id")),
                            id(header.path("member_id")),
                            id(answer.path("leader")),
                            header.path("revision").asLong(),
                            header.path("raft_term").asLong(),
                            answer.path("raftAppliedIndex").asLong(),
                            answer.path("isLearner").asBoolean(),
                            answer.path("version").asText());
                });
    }

    List<Listed> members(URI client) {
        JsonNode answer = await(post(client, "/v3/cluster/member/list", json.createObjectNode(), RECONFIGURATION));
        List<Listed> members = new ArrayList<>();
        for (JsonNode member : answer.path("members")) {
            List<String> urls = new ArrayList<>();
            member.path("peerURLs").forEach(url -> urls.add(url.asText()));
            members.add(new Listed(
                    id(member.path("ID")),
                    member.path("name").asText(),
                    List.copyOf(urls),
                    member.path("isLearner").asBoolean()));
        }
        return members;
    }

    void addMember(URI client, URI peer, boolean learner) {
        ObjectNode body = json.createObjectNode();
        body.putArray("peerURLs").add(peer.toString());
        body.put("isLearner", learner);
        await(post(client, "/v3/cluster/member/add", body, RECONFIGURATION));
    }

    void removeMember(URI client, long id) {
        ObjectNode body = json.createObjectNode().put("ID", Long.toUnsignedString(id));
        await(post(client, "/v3/cluster/member/remove", body, RECONFIGURATION));
    }

    void promoteMember(URI client, long id) {
        ObjectNode body = json.createObjectNode().put("ID", Long.toUnsignedString(id));
        await(post(client, "/v3/cluster/member/promote", body, RECONFIGURATION));
    }

    void moveLeader(URI leader, long target) {
        ObjectNode body = json.createObjectNode().put("targetID", Long.toUnsignedString(target));
        await(post(leader, "/v3/maintenance/transfer-leadership", body, RECONFIGURATION));
    }

    /** Creates root with that password, and enables authentication. */
    void enableAuthentication(URI client, String rootPassword) {
        ObjectNode user = json.createObjectNode().put("name", "root").put("password", rootPassword);
        await(post(client, "/v3/auth/user/add", user, RECONFIGURATION));
        ObjectNode grant = json.createObjectNode().put("user", "root").put("role", "root");
        await(post(client, "/v3/auth/user/grant", grant, RECONFIGURATION));
        await(post(client, "/v3/auth/enable", json.createObjectNode(), RECONFIGURATION));
    }

    /** Deletes all keys and leases. Returns false if there are users, roles or alarms, or if it failed. */
    boolean deleteAll(URI client) {
        if (root != null) {
            return false;
        }
        try {
            for (String list : List.of("/v3/auth/user/list", "/v3/auth/role/list")) {
                JsonNode found = await(post(client, list, json.createObjectNode(), RECONFIGURATION));
                if (!found.path("users").isEmpty() || !found.path("roles").isEmpty()) {
                    return false;
                }
            }
            ObjectNode alarms = json.createObjectNode().put("action", "GET");
            if (!await(post(client, "/v3/maintenance/alarm", alarms, RECONFIGURATION))
                    .path("alarms")
                    .isEmpty()) {
                return false;
            }
            JsonNode leases = await(post(client, "/v3/lease/leases", json.createObjectNode(), RECONFIGURATION));
            for (JsonNode lease : leases.path("leases")) {
                ObjectNode body =
                        json.createObjectNode().put("ID", lease.path("ID").asText());
                await(post(client, "/v3/lease/revoke", body, RECONFIGURATION));
            }
            // So that the revision changes, whatever keys there are.
            await(post(client, "/v3/kv/put", json.createObjectNode().put("key", "AA=="), RECONFIGURATION));
            // Both a zero byte: every key.
            ObjectNode everything = json.createObjectNode().put("key", "AA==").put("range_end", "AA==");
            await(post(client, "/v3/kv/deleterange", everything, RECONFIGURATION));
            return true;
        } catch (EtcdRequestException e) {
            return false;
        }
    }

    /** @param voters that issue tokens */
    void authenticateAs(String rootPassword, Supplier<List<URI>> voters) {
        root = new Root(rootPassword, voters);
    }

    private CompletableFuture<JsonNode> post(URI client, String path, ObjectNode body, Duration deadline) {
        CompletableFuture<JsonNode> answer = send(client, path, body, deadline);
        Root known = root;
        if (known == null) {
            return answer;
        }
        return answer.exceptionallyCompose(failure -> {
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
            return cause instanceof EtcdRequestException refused && NO_TOKEN.contains(refused.reason())
                    ? login(known, 0, refused).thenCompose(yes -> send(client, path, body, deadline))
                    : CompletableFuture.failedFuture(failure);
        });
    }

    /** Fetches a token from the first voter that issues one. A request's member may be a learner, which doesn't. */
    private CompletableFuture<Void> login(Root known, int tried, EtcdRequestException last) {
        List<URI> voters = known.voters().get();
        if (tried >= voters.size()) {
            return CompletableFuture.failedFuture(last);
        }
        ObjectNode body = json.createObjectNode().put("name", "root").put("password", known.password());
        return send(voters.get(tried), "/v3/auth/authenticate", body, QUICK)
                .thenAccept(answer -> token = answer.path("token").asText())
                .exceptionallyCompose(failure -> login(known, tried + 1, last));
    }

    private CompletableFuture<JsonNode> send(URI client, String path, ObjectNode body, Duration deadline) {
        URI address = client.resolve(path);
        HttpRequest.Builder request = HttpRequest.newBuilder(address)
                .timeout(deadline)
                // Without this header etcd, if it requires certificates, maps its gateway to the user named in its own.
                .header("Accept", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body.toString()));
        if (!token.isEmpty()) {
            request.header("Authorization", token);
        }
        return http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString())
                .handle((answer, failure) -> {
                    if (failure != null) {
                        throw new EtcdRequestException(address, String.valueOf(failure.getMessage()), failure);
                    }
                    return parse(address, answer);
                });
    }

    private JsonNode parse(URI address, HttpResponse<String> answer) {
        try {
            JsonNode parsed = json.readTree(answer.body());
            if (answer.statusCode() != 200) {
                throw new EtcdRequestException(
                        address, parsed.path("message").asText("status " + answer.statusCode()), null);
            }
            return parsed;
        } catch (JsonProcessingException e) {
            throw new EtcdRequestException(
                    address, "status " + answer.statusCode() + ", not JSON: " + answer.body(), e);
        }
    }

    /** Waits for an answer; every request ends by its own deadline. */
    static <T> T await(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof EtcdRequestException refused) {
                throw refused;
            }
            throw e;
        }
    }

    private static long id(JsonNode node) {
        String text = node.asText();
        return text.isEmpty() ? 0 : Long.parseUnsignedLong(text);
    }
}
