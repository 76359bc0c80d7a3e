package io.understudy.local.kafka;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The broker as a folder of jars, run by this JVM's own Java. */
public final class KafkaLibrary implements KafkaProgram {

    private static final JarFolder.Place PLACE = new JarFolder.Place(
            "Kafka broker", "understudy.kafka.lib", "UNDERSTUDY_KAFKA_LIB", "kafka_", "common/kafka-broker/target/lib");
    private static final String HEAP = "512m";

    private final JarFolder jars;

    private KafkaLibrary(JarFolder jars) {
        this.jars = jars;
    }

    /**
     * The folder that the property {@code understudy.kafka.lib} or the variable {@code UNDERSTUDY_KAFKA_LIB} names.
     *
     * @throws IllegalStateException neither does, or the broker is not there
     */
    public static KafkaLibrary find() {
        return new KafkaLibrary(PLACE.find());
    }

    static KafkaLibrary at(@Nullable String named) {
        return new KafkaLibrary(PLACE.at(named));
    }

    /** Class path of the broker and of Kafka's own tools. */
    public String classPath() {
        return jars.classPath();
    }

    @Override
    public Path program() {
        return jars.program();
    }

    @Override
    public List<String> format(Path settings, String clusterId, boolean isController) {
        List<String> arguments = new ArrayList<>(List.of("format", "-t", clusterId, "-c", settings.toString()));
        if (isController) {
            arguments.add("--standalone");
        }
        return java(settings, "kafka.tools.StorageTool", arguments.toArray(String[]::new));
    }

    @Override
    public List<String> run(Path settings) {
        return java(settings, "kafka.Kafka", settings.toString());
    }

    private List<String> java(Path settings, String main, String... arguments) {
        return jars.run(HEAP, settings.resolveSibling(KafkaFiles.LOGGING), main, arguments);
    }
}
