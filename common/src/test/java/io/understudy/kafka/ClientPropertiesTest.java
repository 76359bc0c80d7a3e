package io.understudy.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.understudy.kafka.KafkaClients.ClientProperties;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invariant FK8. */
class ClientPropertiesTest {

    private static final String OAUTH = "org.apache.kafka.common.security.oauthbearer";

    @TempDir
    private Path folder;

    @Test
    void connectionPropertiesArePassedOn() throws Exception {
        Path file = Files.writeString(folder.resolve("kafka.properties"), """
                security.protocol=SASL_SSL
                sasl.mechanism=SCRAM-SHA-512
                ssl.truststore.location=/etc/ca.pem
                client.rack=here
                """);
        assertThat(ClientProperties.read(file))
                .containsAllEntriesOf(Map.of(
                        "security.protocol", "SASL_SSL",
                        "sasl.mechanism", "SCRAM-SHA-512",
                        "ssl.truststore.location", "/etc/ca.pem",
                        "client.rack", "here"));
    }

    @Test
    void withoutAFileNothingIsSet() {
        assertThat(ClientProperties.read(null)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "isolation.level=read_uncommitted",
                "auto.offset.reset=latest",
                "acks=1",
                "bootstrap.servers=elsewhere:9092",
                "group.id=mine",
                "interceptor.classes=some.Interceptor"
            })
    void whatMirrorsRelyOnIsNotForAUserToSet(String line) throws Exception {
        Path file = Files.writeString(folder.resolve("kafka.properties"), line);
        assertThatThrownBy(() -> ClientProperties.read(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining(line.substring(0, line.indexOf('=')));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "PRODUCER; transactional.id; set transactionalIdPrefix",
                "PRODUCER; transaction.timeout.ms; set transactionTimeout",
                "PRODUCER; acks; remove it",
                "PRODUCER; enable.idempotence; remove it",
                "PRODUCER; max.in.flight.requests.per.connection; remove it",
                "PRODUCER; retries; set timeout",
                "PRODUCER; delivery.timeout.ms; set timeout",
                "PRODUCER; value.serializer; set format",
                "CONSUMER; key.deserializer; remove it",
                "CONSUMER; isolation.level; remove it",
                "CONSUMER; enable.auto.commit; remove it",
                "CONSUMER; auto.offset.reset; remove it",
                "CONSUMER; allow.auto.create.topics; remove it",
                "CONSUMER; group.id; remove it",
                "CONSUMER; interceptor.classes; remove it",
                "ADMIN; bootstrap.servers; set bootstrap.servers beside",
                "ADMIN; bootstrap.controllers; set bootstrap.servers beside",
                "ADMIN; default.api.timeout.ms; set timeout",
                "ADMIN; sasl.jaas.config; set it in propertiesFile",
                "PRODUCER; ssl.key.password; set it in propertiesFile"
            })
    void aPropertyThatDeliveryDependsOnIsDenied(KafkaClient client, String name, String instead) {
        assertThatThrownBy(() -> client.check(Map.of(name, "1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not allowed")
                .hasMessageContaining(instead);
    }

    @Test
    void otherPropertiesArePassedOnAndTheirValuesChecked() {
        KafkaClients clients = new KafkaClients(new KafkaSettings("127.0.0.1:1", null, Duration.ofSeconds(1)), "test");
        Map<String, String> properties =
                Map.of("linger.ms", "50", "compression.type", "zstd", "client.id", "quota-a", "plugin.x", "1");
        try (Producer<byte[], byte[]> producer = clients.producer("t", Duration.ofSeconds(5), 1 << 20, properties)) {
            assertThat(producer.metrics().keySet())
                    .extracting(metric -> metric.tags().get("client-id"))
                    .contains("quota-a");
        }
        assertThatThrownBy(() -> KafkaClient.PRODUCER.check(Map.of("linger.ms", "soon")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot be 'soon'");
        assertThatThrownBy(() -> KafkaClient.PRODUCER.check(Map.of("compression.type", "best")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot be 'best'");
        assertThatThrownBy(() -> KafkaClient.PRODUCER.check(Map.of("compresion.type", "zstd")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("did you mean compression.type?");
        assertThatThrownBy(() -> KafkaClient.ADMIN.check(Map.of("linger.ms", "5")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("move it to producer");
    }

    /** Kafka declares a library that this login needs as optional. */
    @Test
    void aTokenForOauthbearerIsRequested() throws Exception {
        Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
        long now = System.currentTimeMillis() / 1000;
        String token = Stream.of(
                        "{\"alg\":\"none\"}", "{\"sub\":\"u\",\"iat\":" + now + ",\"exp\":" + (now + 600) + "}", "s")
                .map(part -> base64.encodeToString(part.getBytes(StandardCharsets.US_ASCII)))
                .collect(Collectors.joining("."));
        byte[] answer = ("{\"access_token\":\"" + token + "\",\"expires_in\":600}").getBytes(StandardCharsets.US_ASCII);
        AtomicInteger requests = new AtomicInteger();
        HttpServer provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.createContext("/", exchange -> {
            requests.incrementAndGet();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        provider.start();
        String url = "http://127.0.0.1:" + provider.getAddress().getPort() + "/token";
        System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", url);
        Path file = Files.writeString(folder.resolve("kafka.properties"), """
                security.protocol=SASL_PLAINTEXT
                sasl.mechanism=OAUTHBEARER
                sasl.oauthbearer.token.endpoint.url=%s
                sasl.login.callback.handler.class=%s.OAuthBearerLoginCallbackHandler
                sasl.jaas.config=%s.OAuthBearerLoginModule required clientId="c" clientSecret="s";
                """.formatted(url, OAUTH, OAUTH));
        try (Admin admin = new KafkaClients(settings(file), "test").admin()) {
            assertThat(requests).hasValue(1);
            assertThat(admin).isNotNull();
        } finally {
            System.clearProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls");
            provider.stop(0);
        }
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        Path file = folder.resolve("missing.properties");
        assertThatThrownBy(() -> new KafkaClients(settings(file), "test"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file.toString());
    }

    /** PATH serves as a secret: an environment has it, and it is no protocol. */
    @Test
    void secretsAreTakenFromTheEnvironmentAndFromFiles() throws Exception {
        Path secret = Files.writeString(folder.resolve("secret.properties"), "protocol=PLAINTEXT");
        Path good = Files.writeString(
                folder.resolve("good.properties"), "security.protocol=${file:" + secret + ":protocol}");
        Admin admin = new KafkaClients(settings(good), "test").admin();
        admin.close(Duration.ZERO);
        Path bad = Files.writeString(folder.resolve("bad.properties"), "security.protocol=${env:PATH}");
        assertThatThrownBy(() -> {
                    Admin refused = new KafkaClients(settings(bad), "test").admin();
                    refused.close(Duration.ZERO);
                })
                .isInstanceOf(KafkaException.class)
                .hasMessageContaining(System.getenv("PATH"));
    }

    private static KafkaSettings settings(Path file) {
        return new KafkaSettings("127.0.0.1:1", file, Duration.ofSeconds(1));
    }
}
