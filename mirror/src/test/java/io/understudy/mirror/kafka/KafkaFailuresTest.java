package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.sink.SinkException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class KafkaFailuresTest {

    private static final KafkaSettings SETTINGS = KafkaSettings.of("127.0.0.1:1");

    @Test
    void anInvalidSettingIsNotRetried() {
        ConfigException setting = new ConfigException("bad", "value", "no number");
        assertThat(KafkaFailures.explained(
                        "beginning",
                        AclOperation.WRITE,
                        SETTINGS,
                        new KafkaException("Failed to construct kafka producer", setting)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("bad: no number");
    }

    @Test
    void theInnermostCauseIsReported() {
        ConfigException setting = new ConfigException("Failed to load SSL keystore");
        setting.initCause(new FileNotFoundException("/no/such/store.p12"));
        assertThat(KafkaFailures.explained(
                        "beginning",
                        AclOperation.WRITE,
                        SETTINGS,
                        new KafkaException("Failed to construct kafka producer", setting)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("/no/such/store.p12");
    }

    @Test
    void anUnresolvableNameIsRetried() {
        ConfigException unknown = new ConfigException("No resolvable bootstrap urls given in bootstrap.servers");
        assertThat(KafkaFailures.explained(
                        "beginning",
                        AclOperation.WRITE,
                        SETTINGS,
                        new KafkaException("Failed to construct kafka producer", unknown)))
                .isInstanceOf(SinkException.Unavailable.class);
    }

    @Test
    void aTimeoutWithoutAMessageNamesTheLimit() {
        assertThat(KafkaFailures.explained(
                        "describing topic t", AclOperation.DESCRIBE, SETTINGS, new TimeoutException()))
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessage("describing topic t failed: no response within 20000 ms");
    }

    @Test
    void aFailureWithoutAMessageIsNamedByItsType() {
        assertThat(KafkaFailures.explained("writing", AclOperation.WRITE, SETTINGS, new DisconnectException()))
                .hasMessage("writing failed: DisconnectException");
    }

    @Test
    void aDeniedOperationIsRetriedAndReportedWithItsPrincipal(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("kafka.properties"), """
                security.protocol=SASL_PLAINTEXT
                sasl.mechanism=PLAIN
                sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="writer" \
                    password="secret";
                """);
        KafkaSettings settings = new KafkaSettings("127.0.0.1:1", file, Duration.ofSeconds(1));
        assertThat(KafkaFailures.explained(
                        "writing to topic t",
                        AclOperation.WRITE,
                        settings,
                        new KafkaException("error state", new TopicAuthorizationException(Set.of("t")))))
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessage(
                        "writing to topic t failed: TopicAuthorizationException: Not authorized to access topics: [t]"
                                + " (principal User:writer; required operation: WRITE)");
        assertThat(KafkaFailures.explained(
                        "describing topic t",
                        AclOperation.DESCRIBE,
                        settings,
                        new SaslAuthenticationException("Authentication failed")))
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessageEndingWith("SaslAuthenticationException: Authentication failed (principal User:writer)");
        assertThat(KafkaFailures.explained(
                        "describing topic t",
                        AclOperation.DESCRIBE,
                        SETTINGS,
                        new TopicAuthorizationException(Set.of("t"))))
                .hasMessageEndingWith("(principal User:ANONYMOUS; required operation: DESCRIBE)");
    }
}
