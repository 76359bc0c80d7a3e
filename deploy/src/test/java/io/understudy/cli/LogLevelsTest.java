package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An unavailable Kafka is reported by Understudy, once, not by each attempt of Kafka's clients. */
final class LogLevelsTest {

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"/logback.xml", "/io/understudy/cli/logback-to-file.xml"})
    void attemptsOfKafkaClientsAreNotLogged(String resource) throws Exception {
        LoggerContext context = new LoggerContext();
        context.putProperty("understudy.log.file", folder.resolve("log").toString());
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(LogLevelsTest.class.getResource(resource));
        assertThat(level(context, "org.apache.kafka.clients.NetworkClient")).isEqualTo(Level.OFF);
        assertThat(level(context, "org.apache.kafka.clients.admin.internals.PartitionLeaderStrategy"))
                .isEqualTo(Level.OFF);
        assertThat(level(context, "org.apache.kafka.clients.producer.ProducerConfig"))
                .isEqualTo(Level.WARN);
        assertThat(level(context, "io.understudy.mirror.pipeline.MirrorStatus")).isEqualTo(Level.INFO);
        context.stop();
    }

    private static Level level(LoggerContext context, String name) {
        return context.getLogger(name).getEffectiveLevel();
    }
}
