package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.understudy.local.junit.EtcdExtension;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The REST API as used by clients. Every response conforms to the OpenAPI document.
 *
 * <p>Tests invariants D3, H1.
 */
@Timeout(120)
final class RestIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static GatewayFixture fixture;
    private static ManagedChannel channel;
    private static JsonObject openApi;

    @BeforeAll
    static void start() throws Exception {
        URI url = SOURCE.cluster().clientUrls().get(0);
        channel = GatewayFixture.channel(url.getHost(), url.getPort());
        fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()));
        put(ByteString.copyFromUtf8("greeting"), ByteString.copyFromUtf8("grüß dich \"Welt\"\n"));
        put(ByteString.copyFromUtf8("a/b c"), ByteString.EMPTY);
        put(ByteString.copyFrom(new byte[] {'b', (byte) 0xff, '/'}), ByteString.copyFrom(new byte[] {(byte) 0x80}));
        for (int i = 10; i < 35; i++) {
            put(ByteString.copyFromUtf8("page/" + i), ByteString.copyFromUtf8("v" + i));
        }
        fixture.awaitReady();
        openApi = new JsonObject(send("GET", "/openapi.json").body());
    }

    @AfterAll
    static void stop() {
        channel.shutdownNow();
        fixture.close();
    }

    @Test
    void aKeyIsAnsweredAsTextWithItsRevisions() throws Exception {
        HttpResponse<String> response = get("/v1/kv/greeting");
        JsonObject key = new JsonObject(response.body());
        assertThat(key.getMap())
                .contains(
                        entry("key", "greeting"),
                        entry("key_encoding", "text"),
                        entry("value", "grüß dich \"Welt\"\n"),
                        entry("value_encoding", "text"),
                        entry("version", 1))
                .doesNotContainKey("lease");
        assertThat(response.headers().firstValue("etag").orElseThrow())
                .endsWith("-" + key.getLong("mod_revision") + "\"");
        assertThat(response.headers().firstValueAsLong("understudy-revision")).isPresent();
    }

    @Test
    void binaryValuesAreReturnedInBase64() throws Exception {
        JsonObject key = new JsonObject(get("/v1/kv/b%ff/").body());
        assertThat(key.getMap())
                .contains(
                        entry("key", "Yv8v"),
                        entry("key_encoding", "base64"),
                        entry("value", "gA=="),
                        entry("value_encoding", "base64"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/kv/a/b%20c", "/v1/kv/a%2Fb%20c", "/v1/kv/%61/b%20c"})
    void slashesInKeysMayBeEncodedOrNot(String path) throws Exception {
        assertThat(new JsonObject(get(path).body()).getString("key")).isEqualTo("a/b c");
    }

    @Test
    void aKeyThatTheClientHasIsNotSentAgain() throws Exception {
        String tag = get("/v1/kv/greeting").headers().firstValue("etag").orElseThrow();
        for (String known : List.of(tag, "*", "\"1\", W/" + tag)) {
            HttpResponse<String> response = send("GET", serializable("/v1/kv/greeting"), "If-None-Match", known);
            assertThat(response.statusCode()).isEqualTo(304);
            assertThat(response.body()).isEmpty();
            assertThat(response.headers().firstValue("etag")).hasValue(tag);
        }
        assertThat(send("GET", serializable("/v1/kv/greeting"), "If-None-Match", "\"1\"", "If-None-Match", tag)
                        .statusCode())
                .isEqualTo(304);
        assertThat(send("GET", serializable("/v1/kv/greeting"), "If-None-Match", "\"1\"")
                        .statusCode())
                .isEqualTo(200);
        String cluster = Long.toHexString(GatewayFixture.kv(channel)
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("a"))
                        .build())
                .getHeader()
                .getClusterId());
        assertThat(tag).startsWith("\"" + cluster + "-");
    }

    @Test
    void onlyEntriesMayBeStored() throws Exception {
        for (String path : List.of("/v1/kv", "/v1/kv/missing", "/v1/status")) {
            assertThat(send("GET", serializable(path).replace("/status?consistency=serializable", "/status"))
                            .headers()
                            .allValues("cache-control"))
                    .containsExactly("no-store");
        }
        assertThat(get("/v1/kv/greeting").headers().allValues("cache-control")).containsExactly("no-cache");
    }

    @Test
    void pagesAreOfOneRevisionDespiteConcurrentWrites() throws Exception {
        List<String> keys = new ArrayList<>();
        JsonObject page = new JsonObject(get("/v1/kv?prefix=page/&limit=10").body());
        long revision = page.getLong("revision");
        while (true) {
            assertThat(page.getLong("revision")).isEqualTo(revision);
            assertThat(page.getLong("count")).isEqualTo(25);
            JsonArray kvs = page.getJsonArray("kvs");
            kvs.forEach(each -> keys.add(((JsonObject) each).getString("key")));
            String cursor = page.getString("cursor");
            if (cursor == null) {
                break;
            }
            page = new JsonObject(
                    checked(send("GET", "/v1/kv?limit=10&cursor=" + cursor)).body());
        }
        assertThat(keys).hasSize(25).isSorted().doesNotHaveDuplicates().allMatch(key -> key.startsWith("page/"));
    }

    @Test
    void headReturnsTheHeadersOfGetWithoutABody() throws Exception {
        HttpResponse<String> got = get("/v1/kv/greeting");
        HttpResponse<String> head = send("HEAD", serializable("/v1/kv/greeting"));
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
        for (String name : List.of("etag", "content-type", "content-length", "understudy-revision")) {
            assertThat(head.headers().firstValue(name))
                    .as(name)
                    .isEqualTo(got.headers().firstValue(name));
        }
    }

    @Test
    void theStatusNamesTheReplica() throws Exception {
        JsonObject status = new JsonObject(checked(send("GET", "/v1/status")).body());
        assertThat(status.getMap()).contains(entry("name", "test"), entry("ready", true));
        assertThat(status.getLong("keys")).isGreaterThanOrEqualTo(28);
    }

    @Test
    void aBoundAloneChoosesItsConsistency() throws Exception {
        HttpResponse<String> bounded = checked(send("GET", "/v1/kv/greeting?max_staleness=5s"));
        assertThat(bounded.headers().firstValueAsLong("understudy-staleness-ms").orElseThrow())
                .isBetween(0L, 5_000L);
        for (int i = 0; i < 20; i++) {
            HttpResponse<String> narrow = checked(send("GET", "/v1/kv/greeting?max_staleness=1ms"));
            assertThat(narrow.headers()
                            .firstValueAsLong("understudy-staleness-ms")
                            .orElseThrow())
                    .isLessThanOrEqualTo(1);
        }
        assertThat(checked(send("GET", "/v1/kv/greeting?min_revision=2")).statusCode())
                .isEqualTo(200);
        assertThat(problem(checked(send("GET", "/v1/kv/greeting?min_revision=1000000")), 400)
                        .getString("code"))
                .isEqualTo("OUT_OF_RANGE");
    }

    @Test
    void withoutAnyWordOfItAReadIsLinearizable() throws Exception {
        put(ByteString.copyFromUtf8("fresh"), ByteString.copyFromUtf8("now"));
        assertThat(new JsonObject(checked(send("GET", "/v1/kv/fresh")).body()).getString("value"))
                .isEqualTo("now");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/kv/greeting?consistency=strong",
                "/v1/kv/greeting?consistency=bounded",
                "/v1/kv/greeting?consistency=at-least",
                "/v1/kv/greeting?consistency=serializable&min_revision=1",
                "/v1/kv/greeting?max_staleness=1h",
                "/v1/kv/greeting?revision=0",
                "/v1/kv/greeting?min_revision=x",
                "/v1/kv/greeting?nothing=1",
                "/v1/kv/greeting?revision=1&revision=1",
                "/v1/kv?limit=0",
                "/v1/kv?limit=1001",
                "/v1/kv?cursor=x",
                "/v1/kv?cursor=AQ",
                "/v1/kv/greeting?consistency=serializable&revision=1000000",
                "/v1/status?x=1",
                "/openapi.json?x"
            })
    void invalidParametersAreABadRequest(String path) throws Exception {
        JsonObject problem = problem(checked(send("GET", path)), 400);
        assertThat(problem.getString("title")).isEqualTo("Bad Request");
    }

    @Test
    void aLevelOfTheTreeHasKeysAndBranchesWithTheirNumberOfKeys() throws Exception {
        JsonObject all = new JsonObject(get("/v1/tree").body());
        assertThat(all.getJsonArray("entries"))
                .contains(
                        new JsonObject()
                                .put("key", "a/")
                                .put("key_encoding", "text")
                                .put("keys", 1),
                        new JsonObject()
                                .put("key", "Yv8v")
                                .put("key_encoding", "base64")
                                .put("keys", 1),
                        new JsonObject().put("key", "greeting").put("key_encoding", "text"),
                        new JsonObject()
                                .put("key", "page/")
                                .put("key_encoding", "text")
                                .put("keys", 25));
        assertThat(all.getJsonArray("entries").stream()
                        .mapToLong(entry -> ((JsonObject) entry).getLong("keys", 1L))
                        .sum())
                .isEqualTo(all.getLong("count"));

        JsonObject page = new JsonObject(get("/v1/tree?prefix=page/&limit=10").body());
        assertThat(page.getLong("count")).isEqualTo(25);
        assertThat(page.getJsonArray("entries"))
                .hasSize(10)
                .first()
                .isEqualTo(new JsonObject().put("key", "page/10").put("key_encoding", "text"));
        assertThat(new JsonObject(get("/v1/tree?prefix=pag&limit=1").body()).getJsonArray("entries"))
                .containsExactly(new JsonObject()
                        .put("key", "page/")
                        .put("key_encoding", "text")
                        .put("keys", 25));
        assertThat(new JsonObject(get("/v1/tree?prefix=none").body()).getJsonArray("entries"))
                .isEmpty();
    }

    @Test
    void missingKeysAndRoutesAreNotFound() throws Exception {
        assertThat(problem(checked(send("GET", serializable("/v1/kv/nothing"))), 404)
                        .getString("detail"))
                .contains("nothing");
        for (String path : List.of(
                "/dashboard", "/dashboard/", "/dashboard/Page.class", "/v1", "/v1/kv/", "/v1/kvx", "/v2/kv/greeting")) {
            JsonObject unused = problem(send("GET", path), 404);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/kv/greeting", "/v1/kv", "/v1/status", "/openapi.json"})
    void otherMethodsAreNotAllowed(String path) throws Exception {
        for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS", "PATCH")) {
            HttpResponse<String> response = send(method, path);
            assertThat(problem(checked(response), 405).getString("code")).isEqualTo("UNIMPLEMENTED");
            assertThat(response.headers().firstValue("allow")).hasValue("GET, HEAD");
        }
    }

    @Test
    void anUnencodedKeyInUtf8IsFound() throws Exception {
        put(ByteString.copyFromUtf8("größe"), ByteString.copyFromUtf8("1"));
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), fixture.gateway.restPort())) {
            client.getOutputStream()
                    .write("GET /v1/kv/größe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.UTF_8));
            assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 200 ")
                    .contains("\"key\":\"größe\"");
        }
    }

    @Test
    void aTargetThatIsTooLongIsRefused() throws Exception {
        assertThat(send("GET", "/v1/kv/" + "x".repeat(20_000)).statusCode()).isEqualTo(414);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/", "/dashboard/app.js", "/dashboard/uplot.js", "/dashboard/tokens.css", "/dashboard/icons.svg"
            })
    void thePageIsServedOnceAndKeptToItself(String path) throws Exception {
        HttpResponse<String> page = send("GET", path);
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("content-security-policy").orElseThrow())
                .contains("default-src 'self'", "frame-ancestors 'none'")
                .doesNotContain("unsafe");
        assertThat(page.headers().firstValue("x-content-type-options")).hasValue("nosniff");
        assertThat(page.headers().firstValue("x-frame-options")).hasValue("DENY");
        String tag = page.headers().firstValue("etag").orElseThrow();
        assertThat(send("GET", path, "If-None-Match", tag).statusCode()).isEqualTo(304);
        HttpResponse<String> head = send("HEAD", path);
        assertThat(head.body()).isEmpty();
        assertThat(head.headers().firstValue("content-type"))
                .isEqualTo(page.headers().firstValue("content-type"));
        HttpResponse<String> packed = send("GET", path, "Accept-Encoding", "br, gzip;q=0.8");
        assertThat(packed.headers().firstValue("content-encoding")).hasValue("gzip");
        assertThat(packed.headers().firstValue("etag"))
                .isPresent()
                .isNotEqualTo(page.headers().firstValue("etag"));
        assertThat(send("GET", path, "Accept-Encoding", "gzip;q=0, identity")
                        .headers()
                        .firstValue("content-encoding"))
                .isEmpty();
        assertThat(send("POST", path).statusCode()).isEqualTo(405);
        assertThat(fixture.page("/metrics").body()).contains("route=\"/dashboard\",status=\"304\"");
    }

    @Test
    void requestsAreCountedByRouteAndStatus() throws Exception {
        HttpResponse<String> unused = get("/v1/kv/greeting");
        assertThat(fixture.page("/metrics").body())
                .contains("understudy_gateway_rest_requests_seconds_count")
                .contains("route=\"/v1/kv/{key}\",status=\"200\"");
    }

    private static String serializable(String path) {
        return path + (path.contains("?") ? "&" : "?") + "consistency=serializable";
    }

    private static HttpResponse<String> get(String path) throws Exception {
        HttpResponse<String> response = checked(send("GET", serializable(path)));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response;
    }

    private static HttpResponse<String> send(String method, String path, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + fixture.gateway.restPort() + path))
                .method(method, BodyPublishers.noBody());
        return HTTP.send(
                headers.length == 0 ? request.build() : request.headers(headers).build(), BodyHandlers.ofString());
    }

    private static JsonObject problem(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("content-type")).hasValue("application/problem+json");
        JsonObject problem = new JsonObject(response.body());
        assertThat(problem.getInteger("status")).isEqualTo(status);
        return problem;
    }

    /** Checks that the document has the response for its route. */
    private static HttpResponse<String> checked(HttpResponse<String> response) {
        String path = response.uri().getPath();
        String route = openApi.getJsonObject("paths").containsKey(path) ? path : "/v1/kv/{key}";
        JsonObject documented = openApi.getJsonObject("paths")
                .getJsonObject(route)
                .getJsonObject("get")
                .getJsonObject("responses")
                .getJsonObject(Integer.toString(response.statusCode()));
        assertThat(documented).as("%s of %s", response.statusCode(), route).isNotNull();
        String type = response.headers().firstValue("content-type").orElseThrow();
        JsonObject schema = documented.containsKey("$ref")
                ? new JsonObject().put("$ref", "#/components/schemas/Problem")
                : documented.getJsonObject("content").getJsonObject(type).getJsonObject("schema");
        JsonSchema whole = JsonSchema.of(schema.copy()
                .put("components", openApi.getJsonObject("components").copy()));
        OutputUnit verdict = Validator.create(
                        whole,
                        new JsonSchemaOptions().setDraft(Draft.DRAFT202012).setBaseUri("https://understudy"))
                .validate(new JsonObject(response.body()));
        assertThat(verdict.getValid())
                .as("%s: %s", response.body(), verdict.toJson())
                .isTrue();
        return response;
    }

    private static void put(ByteString key, ByteString value) {
        var unused = GatewayFixture.kv(channel)
                .put(PutRequest.newBuilder().setKey(key).setValue(value).build());
    }
}
