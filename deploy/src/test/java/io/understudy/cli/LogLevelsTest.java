package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
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

    @BeforeEach
    @AfterEach
    void selectTheOrdinaryLog() {
        for (String property : List.of("understudy.log.level", "understudy.log.format")) {
            System.clearProperty(property);
        }
    }

    /** A command that prints a result logs warnings only, without the names of classes. */
    @Test
    void commandsPrintNoLog() throws Exception {
        var unused =
                Understudy.run(new PrintWriter(new StringWriter()), new PrintWriter(new StringWriter()), "version");
        LoggerContext context = new LoggerContext();
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(LogLevelsTest.class.getResource("/logback.xml"));

        assertThat(level(context, "io.understudy.cluster.observe.PatientObserver"))
                .isEqualTo(Level.WARN);
        assertThat(level(context, "com.example.Library")).isEqualTo(Level.WARN);
        assertThat(System.getProperty("understudy.log.format")).isEqualTo("command");
        assertThat(new String(
                        LogLevelsTest.class
                                .getResourceAsStream("/io/understudy/cli/log-command.xml")
                                .readAllBytes(),
                        StandardCharsets.UTF_8))
                .contains("understudy: %msg")
                .doesNotContain("%logger");
        context.stop();
    }

    private static Level level(LoggerContext context, String name) {
        return context.getLogger(name).getEffectiveLevel();
    }
}
