package io.understudy.local.kafka;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The broker as a folder of jars, run by this JVM's own Java. */
public final class KafkaLibrary implements KafkaProgram {

    static final String PROPERTY = "understudy.kafka.lib";
    static final String VARIABLE = "UNDERSTUDY_KAFKA_LIB";

    /** Soon up and small; a broker for tests never runs long enough to gain from the better compiler. */
    private static final List<String> JVM =
            List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");

    private final Path folder;

    private KafkaLibrary(Path folder) {
        this.folder = folder;
    }

    /**
     * The folder that the property {@code understudy.kafka.lib} or the variable {@code UNDERSTUDY_KAFKA_LIB} names.
     *
     * @throws IllegalStateException neither does, or the broker is not there
     */
    public static KafkaLibrary find() {
        return at(System.getProperty(PROPERTY, System.getenv(VARIABLE)));
    }

    static KafkaLibrary at(@Nullable String named) {
        if (named == null || named.isBlank()) {
            throw new IllegalStateException("no Kafka broker: name the folder of its jars by " + VARIABLE + " or -D"
                    + PROPERTY + " (in a checkout: common/kafka-broker/target/lib)");
        }
        Path folder = Path.of(named).toAbsolutePath();
        if (!Files.isDirectory(folder) || !hasBroker(folder)) {
            throw new IllegalStateException("no Kafka broker in " + folder + ", which " + VARIABLE + " or -D" + PROPERTY
                    + " names: it has no jar kafka_*.jar");
        }
        return new KafkaLibrary(folder);
    }

    private static boolean hasBroker(Path folder) {
        String[] jars = folder.toFile().list((parent, name) -> name.startsWith("kafka_") && name.endsWith(".jar"));
        return jars != null && jars.length > 0;
    }

    @Override
    public Path program() {
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    @Override
    public List<String> format(Path settings, String clusterId) {
        return java("kafka.tools.StorageTool", settings)
                .plus("format", "--standalone", "-t", clusterId, "-c", settings.toString());
    }

    @Override
    public List<String> run(Path settings) {
        return java("kafka.Kafka", settings).plus(settings.toString());
    }

    private Line java(String main, Path settings) {
        return new Line(JVM)
                .and("-cp", folder.resolve("*").toString())
                .and("-Dlogback.configurationFile=" + settings.resolveSibling(KafkaFiles.LOGGING), main);
    }

    private record Line(List<String> words) {

        Line and(String... more) {
            return new Line(plus(more));
        }

        List<String> plus(String... more) {
            return Stream.concat(words.stream(), List.of(more).stream()).toList();
        }
    }
}
