package io.understudy.local.container;

import io.understudy.local.kafka.KafkaProgram;
import java.nio.file.Path;
import java.util.List;

/** The broker of the image {@code apache/kafka}, or of one with the same scripts below {@code /opt/kafka/bin}. */
public final class KafkaImage implements KafkaProgram {

    private static final String BIN = "/opt/kafka/bin/";

    @Override
    public Path program() {
        return Path.of("/bin/sh");
    }

    @Override
    public List<String> format(Path settings, String clusterId, boolean isController) {
        return script(
                settings,
                "kafka-storage.sh format " + (isController ? "--standalone " : "") + "-t " + clusterId + " -c");
    }

    @Override
    public List<String> run(Path settings) {
        return script(settings, "kafka-server-start.sh");
    }

    /** Runs a script, with its log directory below the server's folder, which is writable. */
    private static List<String> script(Path settings, String line) {
        return List.of(
                "-c",
                "export LOG_DIR=\"$2\" KAFKA_HEAP_OPTS=-Xmx512m; exec " + BIN + line + " \"$1\"",
                "kafka",
                settings.toString(),
                settings.resolveSibling("logs").toString());
    }
}
