package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.junit.EtcdExtension;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Calls every unary method over JSON at a gateway that forwards writes, and at its source. The requests differ only in the
 * names of what they write.
 *
 * <p>Tests invariant J1.
 */
@Timeout(120)
final class JsonMethodsIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static GatewayFixture fixture;
    private static Side gateway;
    private static Side etcd;

    /** A server, with a character for its names and keys, and with its lease id. */
    private record Side(URI url, String own, String lease) {

        /** Returns the status and the body, with the names of this side replaced. */
        String post(String path, String body) throws IOException, InterruptedException {
            String ownBody = body.replace("KEY", base64("key-" + own))
                    .replace("NAME", "name-" + own)
                    .replace("LEASE", lease);
            HttpResponse<String> response = HTTP.send(
                    HttpRequest.newBuilder(url.resolve("/v3/" + path))
                            .POST(BodyPublishers.ofString(ownBody))
                            .build(),
                    BodyHandlers.ofString());
            return response.statusCode() + " "
                    + JsonLines.withoutParserWords(response.body())
                            .replaceAll("\"header\":\\{[^}]*}", "\"header\":{}")
                            .replaceAll("_revision\":\"[0-9]+\"", "_revision\":\"\"")
                            .replaceAll("\"(TTL|rev)\":\"[0-9]+\"", "\"$1\":\"\"")
                            .replaceAll("\"key\":\"" + base64("key-" + own + "/") + "[^\"]*\"", "\"key\":\"LOCK\"")
                            .replace(base64("key-" + own), "KEY")
                            .replace("name-" + own, "NAME")
                            .replace("\"" + lease + "\"", "\"LEASE\"");
        }
    }

    @BeforeAll
    static void start() throws Exception {
        fixture = new GatewayFixture(
                GatewayFixture.settings(SOURCE.cluster()).with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)));
        gateway = new Side(URI.create("http://127.0.0.1:" + fixture.gateway.apiPort()), "g", "4001");
        etcd = new Side(SOURCE.cluster().clientUrls().get(0), "e", "4002");
        fixture.awaitReady();
        await().atMost(GatewayFixture.PATIENCE).untilAsserted(() -> assertAlike("kv/range", "{"));
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    @Test
    void keys() throws Exception {
        assertAlike("kv/put", "{'key':'KEY','value':'YQ=='}");
        assertAlike("kv/put", "{'key':'KEY','value':'Yg==','prevKv':true}");
        assertAlike("kv/put", "{'value':'Yg=='}");
        assertAlike("kv/put", "{'key':'KEY','lease':'99'}");
        assertAlike("kv/txn", """
                {'compare':[{'key':'KEY','target':'LEASE','lease':'0'}],
                 'success':[{'request_put':{'key':'KEY','value':'Yw=='}},{'requestRange':{'key':'KEY'}}]}""");
        assertAlike("kv/txn", "{'success':[{'requestRange':{'key':'KEY'}}]}");
        assertAlike("kv/deleterange", "{'key':'KEY','prev_kv':true}");
        assertAlike("kv/deleterange", "{'key':'KEY'}");
        assertAlike("kv/compaction", "{'revision':'1000000'}");
    }

    @Test
    void leases() throws Exception {
        assertAlike("lease/grant", "{'TTL':'1000','ID':'LEASE'}");
        assertAlike("lease/grant", "{'TTL':1000,'ID':LEASE}");
        assertAlike("lease/grant", "{'TTL':'x'}");
        assertAlike("kv/put", "{'key':'KEY','lease':'LEASE'}");
        assertAlike("lease/timetolive", "{'ID':'LEASE','keys':true}");
        assertAlike("kv/lease/timetolive", "{'ID':'LEASE'}");
        assertAlike("lease/timetolive", "{'ID':'123456'}");
        assertThat(gateway.post("lease/leases", "{}")).contains("LEASE");
        assertAlike("kv/lease/revoke", "{'ID':'LEASE'}");
        assertAlike("lease/revoke", "{'ID':'LEASE'}");
        assertAlike("kv/lease/leases", "{}");
    }

    @Test
    void usersAndRoles() throws Exception {
        assertAlike("auth/status", "{}");
        assertAlike("auth/enable", "{}");
        assertAlike("auth/authenticate", "{'name':'NAME','password':'p'}");
        assertAlike("auth/user/add", "{'name':'NAME','password':'p'}");
        assertAlike("auth/user/add", "{'name':'NAME','options':{'no_password':true}}");
        assertAlike("auth/role/add", "{'name':'NAME'}");
        assertAlike(
                "auth/role/grant", "{'name':'NAME','perm':{'permType':'READWRITE','key':'YQ==','range_end':'Yg=='}}");
        assertAlike("auth/role/get", "{'role':'NAME'}");
        assertAlike("auth/user/grant", "{'user':'NAME','role':'NAME'}");
        assertAlike("auth/user/get", "{'name':'NAME'}");
        assertAlike("auth/user/changepw", "{'name':'NAME','password':'q'}");
        assertAlike("auth/user/revoke", "{'name':'NAME','role':'NAME'}");
        assertAlike("auth/role/revoke", "{'role':'NAME','key':'YQ==','range_end':'Yg=='}");
        assertThat(gateway.post("auth/user/list", "{}")).contains("NAME");
        assertThat(gateway.post("auth/role/list", "{}")).contains("NAME");
        assertAlike("auth/user/delete", "{'name':'NAME'}");
        assertAlike("auth/role/delete", "{'role':'NAME'}");
        assertAlike("auth/user/list", "{}");
        assertAlike("auth/role/list", "{}");
        assertAlike("auth/disable", "{}");
    }

    @Test
    void theCluster() throws Exception {
        assertAlike("cluster/member/list", "{}");
        assertAlike("cluster/member/list", "{'linearizable':true}");
        assertAlike("cluster/member/promote", "{'ID':'1'}");
        assertAlike("cluster/member/remove", "{'ID':'1'}");
        assertAlike("cluster/member/add", "{'peerURLs':['nonsense']}");
        assertAlike("cluster/member/update", "{'ID':'1','peerURLs':['http://127.0.0.1:1']}");
        assertAlike("maintenance/alarm", "{}");
        assertAlike("maintenance/transfer-leadership", "{'targetID':'1'}");
    }

    @Test
    void locksAndElections() throws Exception {
        assertAlike("lease/grant", "{'TTL':'1000','ID':'LEASE'}");
        assertAlike("lock/lock", "{'name':'KEY','lease':'LEASE'}");
        assertAlike("lock/unlock", "{'key':'KEY'}");
        assertAlike("election/leader", "{'name':'KEY'}");
        assertAlike("lease/revoke", "{'ID':'LEASE'}");
    }

    @Test
    void aCancelledLockRequestStopsWaiting() throws Exception {
        assertThat(etcd.post("lock/lock", "{\"name\":\"%s\"}".formatted(base64("held"))))
                .startsWith("200 ");
        CompletableFuture<HttpResponse<String>> waiting = HTTP.sendAsync(
                HttpRequest.newBuilder(gateway.url().resolve("/v3/lock/lock"))
                        .POST(BodyPublishers.ofString("{\"name\":\"%s\"}".formatted(base64("held"))))
                        .build(),
                BodyHandlers.ofString());
        await().atMost(GatewayFixture.PATIENCE)
                .untilAsserted(() -> assertThat(waiters("held")).isEqualTo(2));

        assertThat(waiting.cancel(true)).isTrue();

        await().atMost(GatewayFixture.PATIENCE)
                .untilAsserted(() -> assertThat(waiters("held")).isEqualTo(1));
    }

    private static int waiters(String lock) throws Exception {
        String answer = etcd.post(
                "kv/range",
                "{\"key\":\"%s\",\"range_end\":\"%s\",\"count_only\":true}"
                        .formatted(base64(lock + "/"), base64(lock + "0")));
        return new JsonObject(answer.substring(4)).getMap().get("count") instanceof String count
                ? Integer.parseInt(count)
                : 0;
    }

    @Test
    void statusReturnsTheGatewaysOwn() throws Exception {
        String answer = gateway.post("maintenance/status", "{}");
        assertThat(answer).startsWith("200 ");
        assertThat(new JsonObject(answer.substring(4)).getMap())
                .containsEntry("isLearner", true)
                .containsEntry("version", GatewayFixture.VERSION + "+understudy");
    }

    private static void assertAlike(String path, String body) throws Exception {
        String json = body.replace('\'', '"');
        assertThat(gateway.post(path, json)).as("%s %s", path, json).isEqualTo(etcd.post(path, json));
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
