package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.sink.SinkException;
import java.io.FileNotFoundException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;

final class KafkaFailuresTest {

    @Test
    void aSettingThatCannotBeUsedIsNotTriedAgain() {
        ConfigException setting = new ConfigException("bad", "value", "no number");
        assertThat(KafkaFailures.explained(
                        "beginning", new KafkaException("Failed to construct kafka producer", setting)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("bad: no number");
    }

    @Test
    void theInnermostCauseIsTold() {
        ConfigException setting = new ConfigException("Failed to load SSL keystore");
        setting.initCause(new FileNotFoundException("/no/such/store.p12"));
        assertThat(KafkaFailures.explained(
                        "beginning", new KafkaException("Failed to construct kafka producer", setting)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("/no/such/store.p12");
    }

    @Test
    void aNameThatDoesNotResolveMayLater() {
        ConfigException unknown = new ConfigException("No resolvable bootstrap urls given in bootstrap.servers");
        assertThat(KafkaFailures.explained(
                        "beginning", new KafkaException("Failed to construct kafka producer", unknown)))
                .isInstanceOf(SinkException.Unavailable.class);
    }
}
