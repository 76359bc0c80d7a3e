package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.junit.EtcdExtension;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Compares JSON requests at the gateway and at its source: equal bytes, or errors that are equal
 * except for the words of JSON parsers.
 *
 * <p>Tests invariant J1.
 */
@Timeout(180)
@Tag("core")
final class JsonDifferenceIT {

    private static final int WRITES = 200;
    private static final int REQUESTS = 1_500;
    private static final byte[] ALPHABET = {0, 1, 'a', 'b', 0x7f, (byte) 0x80, (byte) 0xff};
    private static final String RANGE = "/v3/kv/range";
    private static final String TXN = "/v3/kv/txn";

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final long SEED = Long.getLong("understudy.seed", System.nanoTime());

    private static GatewayFixture fixture;
    private static URI etcd;
    private static URI gateway;
    private static long revision;

    private final Random random = new Random(SEED);

    /** An answer without its member id and raft term. */
    private record Seen(int status, String type, String body) {}

    @Test
    void deeplyNestedValuesAreRejectedAsByEtcd() throws Exception {
        for (String body : List.of("[".repeat(10_001), "{\"a\":".repeat(10_001), "{\"key\":" + "[".repeat(10_000))) {
            assertAlike(RANGE, body.getBytes(StandardCharsets.US_ASCII));
        }
    }

    @BeforeAll
    static void start() throws Exception {
        etcd = SOURCE.cluster().clientUrls().get(0);
        fixture = new GatewayFixture(
                GatewayFixture.settings(SOURCE.cluster()).with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)));
        gateway = URI.create("http://127.0.0.1:" + fixture.gateway.apiPort());
        new JsonDifferenceIT().fill();
        fixture.awaitReady();
        revision = headerRevision();
        fixture.awaitRevision(revision);
        // The gateway uses the source's dialect once it is detected.
        await().atMost(GatewayFixture.PATIENCE)
                .untilAsserted(() -> assertThat(post(gateway, RANGE, "{")).isEqualTo(post(etcd, RANGE, "{")));
    }

    private static long headerRevision() throws Exception {
        Matcher header = Pattern.compile("\"revision\":\"([0-9]+)\"")
                .matcher(post(etcd, RANGE, "{\"key\":\"YQ==\"}").body());
        assertThat(header.find()).isTrue();
        return Long.parseLong(header.group(1));
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    @Test
    void rangesAreAnsweredAsByEtcd() throws Exception {
        for (int i = 0; i < REQUESTS; i++) {
            assertAlike(RANGE, range(true));
        }
    }

    @Test
    void malformedBodiesAreRejectedAsByEtcd() throws Exception {
        for (int i = 0; i < REQUESTS; i++) {
            byte[] body = damaged(range(false));
            assertAlike(RANGE, body);
        }
    }

    @Test
    void readOnlyTransactionsAreAnsweredAsByEtcd() throws Exception {
        for (int i = 0; i < REQUESTS; i++) {
            assertAlike(TXN, txn(2).getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void unusualBodiesAreParsedAsByEtcd() throws Exception {
        for (String body : List.of(
                "",
                " \n",
                "null",
                "[]",
                "1",
                "-",
                "\"a\"x",
                "true",
                "nul",
                "{",
                "{}",
                "{}}",
                "{\"a\":[1,2}",
                "{,}",
                "{'key':1}",
                "{\"key\" 1}",
                "{\"key\":01}",
                "{\"key\":1.}",
                "{\"key\":1e}",
                "{\"key\":\"\t\"}",
                "{\"key\":\"\\x\"}",
                "{\"key\":\"\\u00g0\"}",
                "{\"key\":\"\\ud800\"}",
                "{\"key\":\"\\ud800abcdef\"}",
                "{\"key\":\"\\ud83d\\ude00\"}",
                "{\"key\":{}}",
                "{\"key\":[\"YQ==\"]}",
                "{\"key\":null}",
                "{\"serializable\":true,\"serializable\":true}",
                "{\"key\":\"YQ==\",\n \"limit\":\"x\"}",
                "{\"key\":\"Y*==\"}",
                "{\"key\":\"é\"}",
                "{\"é\":1,\"limit\":{}}",
                "{\"limit\":1.5}",
                "{\"limit\":\" 1\"}",
                "{\"limit\":\"\"}",
                "{\"limit\":9223372036854775808}",
                "{\"limit\":1e999999999}",
                "{\"limit\":1e-400000000}",
                "{\"limit\":\"1e-400000000\"}",
                "{\"limit\":10e-99999999999}",
                "{\"limit\":0e99999999999}",
                "{\"limit\":30e-1,\"key\":\"AA==\"}",
                "{\"limit\":0.01e2,\"key\":\"AA==\"}",
                "{\"limit\":1" + "0".repeat(5_000) + "e-5000}",
                "{\"limit\":" + "9".repeat(5_000) + "}",
                "{\"serializable\":\"true\"}",
                "{\"sort_order\":1.5}",
                "{\"sort_order\":{}}",
                "{\"key\":\"YQ==\",\"sort_order\":\"ascend\"}",
                "{\"key\":\"YQ==\",\"sort_order\":1.0}",
                "{\"key\":\"YQ==\",\"limit\":\" 1\"}",
                "{\"key\":\"YQ\"}",
                "{\"key\":\"-_==\"}",
                "{\"key\":\"Yg==\",\"key\":\"YQ==\"}",
                "{\"unknown\":\"\\ud800\"}",
                "{\"unknown\":{\"a\":[1,{\"b\":\"c\"}]},\"key\":1}",
                "{\"KEY\":\"YQ==\"}")) {
            assertAlike(RANGE, body.getBytes(StandardCharsets.UTF_8));
        }
        for (String txn : List.of(
                "{\"compare\":[null]}",
                "{\"success\":[null]}",
                "{\"compare\":[{\"key\":\"YQ==\",\"target\":\"CREATED\",\"create_revision\":0}]}",
                "{\"compare\":[{\"key\":\"YQ==\",\"lease\":7,\"version\":0}]}")) {
            assertAlike(TXN, txn.getBytes(StandardCharsets.UTF_8));
        }
        // Without that role, so that nothing is granted by one of both.
        assertAlike(
                "/v3/auth/role/grant",
                "{\"name\":\"none\",\"perm\":{\"permType\":\"write\"}}".getBytes(StandardCharsets.UTF_8));
        assertAlike(RANGE, new byte[] {'{', (byte) 0x80});
        assertAlike(RANGE, new byte[] {'{', '"', (byte) 0x80, '"', ':', '1', '}'});
        assertAlike(RANGE, new byte[] {'{', '"', 'k', 'e', 'y', '"', ':', '"', (byte) 0xc3, '"', '}'});
    }

    @Test
    void routesAreMatchedAsByEtcd() throws Exception {
        for (String path :
                List.of("/v3/", "/v3/kv", "/v3/kv/range/", "/v3/kv/range:x", "/v3/nothing", "/v3beta/kv/range")) {
            assertThat(post(gateway, path, "{}")).as(path).isEqualTo(post(etcd, path, "{}"));
        }
        for (String method : List.of("GET", "HEAD", "PUT", "DELETE")) {
            assertThat(seen(gateway, RANGE, method, new byte[0]))
                    .as(method)
                    .isEqualTo(seen(etcd, RANGE, method, new byte[0]));
        }
    }

    private void assertAlike(String path, byte[] body) throws Exception {
        assertThat(seen(gateway, path, "POST", body))
                .as("seed %d, %s", SEED, new String(body, StandardCharsets.ISO_8859_1))
                .isEqualTo(seen(etcd, path, "POST", body));
    }

    private static Seen post(URI at, String path, String body) throws IOException, InterruptedException {
        return seen(at, path, "POST", body.getBytes(StandardCharsets.UTF_8));
    }

    private static Seen seen(URI at, String path, String method, byte[] body) throws IOException, InterruptedException {
        HttpResponse<byte[]> response = HTTP.send(
                HttpRequest.newBuilder(at.resolve(path))
                        .method(method, BodyPublishers.ofByteArray(body))
                        .build(),
                BodyHandlers.ofByteArray());
        return new Seen(
                response.statusCode(),
                response.headers().firstValue("content-type").orElse(""),
                JsonLines.withoutParserWords(new String(response.body(), StandardCharsets.UTF_8)
                        .replaceAll("\"member_id\":\"[0-9]+\"", "\"member_id\":\"\"")
                        .replaceAll("\"raft_term\":\"[0-9]+\"", "\"raft_term\":\"\"")));
    }

    private void fill() throws Exception {
        for (int i = 0; i < WRITES; i++) {
            boolean delete = random.nextInt(8) == 0;
            // Values differ, so that an order by value is the only one.
            String put =
                    "{\"key\":\"%s\",\"value\":\"%s\"}".formatted(key(), base64(Integer.toString(i * 7919 % 10_007)));
            Seen answer = post(
                    etcd,
                    delete ? "/v3/kv/deleterange" : "/v3/kv/put",
                    delete ? "{\"key\":\"%s\"}".formatted(key()) : put);
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        }
    }

    private byte[] range(boolean numbersForNames) {
        List<String> fields = new ArrayList<>();
        fields.add("\"serializable\":true");
        if (random.nextInt(50) > 0) {
            fields.add("\"key\":\"" + key() + '"');
        }
        if (random.nextInt(4) > 0) {
            fields.add(
                    oneOf("\"range_end\":", "\"rangeEnd\":") + '"' + (random.nextInt(3) == 0 ? "AA==" : key()) + '"');
        }
        if (random.nextInt(3) == 0) {
            fields.add("\"limit\":" + oneOf("1", "\"2\"", "3.0", "1e1", "-1", "\"0\"", "null"));
        }
        if (random.nextInt(3) == 0) {
            fields.add("\"sort_target\":"
                    + (numbersForNames && random.nextBoolean()
                            ? oneOf("0", "2", "4")
                            : oneOf("\"KEY\"", "\"MOD\"", "\"VALUE\"", "\"NONE\"")));
            fields.add("\"sort_order\":" + oneOf("\"NONE\"", "\"ASCEND\"", "\"DESCEND\"", "1", "2"));
        }
        if (random.nextInt(6) == 0) {
            fields.add("\"min_mod_revision\":" + random.nextInt(WRITES));
            fields.add("\"maxCreateRevision\":\"" + random.nextInt(WRITES) + '"');
        }
        if (random.nextInt(6) == 0) {
            fields.add(oneOf("\"count_only\":true", "\"keysOnly\":true", "\"keys_only\":false"));
        }
        if (random.nextInt(10) == 0) {
            fields.add("\"revision\":" + oneOf(Long.toString(revision), "\"" + (revision + 1) + '"'));
        }
        if (random.nextInt(6) == 0) {
            fields.add(oneOf("\"unknown\":{\"a\":[1,\"b\",null]}", "\"x\":\"\\u00e9\\n\""));
        }
        String comma = oneOf(",", ", ", "\n, ");
        return ("{" + String.join(comma, fields) + "}").getBytes(StandardCharsets.UTF_8);
    }

    private String txn(int depth) {
        return "{\"compare\":%s,\"success\":%s,\"failure\":%s}"
                .formatted(list(this::compare), list(() -> op(depth)), list(() -> op(depth)));
    }

    private String list(Supplier<String> element) {
        return Stream.generate(element).limit(random.nextInt(3)).collect(Collectors.joining(",", "[", "]"));
    }

    private String op(int depth) {
        if (depth > 0 && random.nextInt(3) == 0) {
            return "{\"request_txn\":" + txn(depth - 1) + "}";
        }
        return "{\"%s\":%s}"
                .formatted(oneOf("request_range", "requestRange"), new String(range(true), StandardCharsets.UTF_8));
    }

    private String compare() {
        String known = oneOf("\"version\":1", "\"create_revision\":\"0\"", "\"modRevision\":" + random.nextInt(WRITES));
        return "{\"key\":\"%s\"%s,\"target\":%s,\"result\":%s,%s}"
                .formatted(
                        key(),
                        random.nextInt(4) == 0 ? ",\"range_end\":\"" + key() + '"' : "",
                        oneOf("\"VERSION\"", "\"CREATE\"", "\"MOD\"", "\"VALUE\"", "\"LEASE\"", "0", "3", "4"),
                        oneOf("\"EQUAL\"", "\"GREATER\"", "\"LESS\"", "\"NOT_EQUAL\"", "3"),
                        oneOf(known, known, "\"value\":\"" + base64("5000") + '"', "\"lease\":\"7\""));
    }

    private byte[] damaged(byte[] body) {
        byte[] damaged = body.clone();
        for (int i = 0; i <= random.nextInt(2); i++) {
            int at = random.nextInt(damaged.length);
            switch (random.nextInt(3)) {
                case 0 -> damaged[at] = (byte) random.nextInt(256);
                case 1 -> damaged[at] = (byte) "{}[]\",:\\\n0-.eEtfn".charAt(random.nextInt(17));
                default -> damaged = without(damaged, at);
            }
            if (damaged.length == 0) {
                return damaged;
            }
        }
        return damaged;
    }

    private static byte[] without(byte[] body, int at) {
        byte[] shorter = new byte[body.length - 1];
        System.arraycopy(body, 0, shorter, 0, at);
        System.arraycopy(body, at + 1, shorter, at, shorter.length - at);
        return shorter;
    }

    private String key() {
        byte[] key = new byte[1 + random.nextInt(3)];
        for (int i = 0; i < key.length; i++) {
            key[i] = ALPHABET[random.nextInt(ALPHABET.length)];
        }
        return Base64.getEncoder().encodeToString(key);
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    @SafeVarargs
    private <T> T oneOf(T... options) {
        return options[random.nextInt(options.length)];
    }
}
