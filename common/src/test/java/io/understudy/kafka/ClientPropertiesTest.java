package io.understudy.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invariant FK8. */
class ClientPropertiesTest {

    @TempDir
    private Path folder;

    @Test
    void whatSaysHowToGetInIsPassedOn() throws Exception {
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

    @Test
    void aFileThatIsNotThereIsNamed() {
        Path file = folder.resolve("missing.properties");
        assertThatThrownBy(() -> new KafkaClients(settings(file), "test"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file.toString());
    }

    /** PATH stands in for a secret: an environment has it, and it is no protocol. */
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
