package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
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

    /** A command that prints a result logs warnings only, without the names of classes. */
    @Test
    void commandsPrintNoLog() throws Exception {
        for (String property : List.of("understudy.log.level", "understudy.log.format")) {
            System.clearProperty(property);
        }
        var unused = Understudy.run(new PrintWriter(new StringWriter()), new PrintWriter(new StringWriter()), "version");
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        LoggerContext context = new LoggerContext();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            JoranConfigurator configurator = new JoranConfigurator();
            configurator.setContext(context);
            configurator.doConfigure(LogLevelsTest.class.getResource("/logback.xml"));
            for (String name : List.of("io.understudy.cluster.observe.PatientObserver", "com.example.Library")) {
                context.getLogger(name).info("event");
                context.getLogger(name).atWarn().addKeyValue("key", "x").log("problem");
            }
        } finally {
            System.setErr(before);
            context.stop();
        }

        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .containsExactly("understudy: problem key=x", "understudy: problem key=x");
    }

    private static Level level(LoggerContext context, String name) {
        return context.getLogger(name).getEffectiveLevel();
    }
}
