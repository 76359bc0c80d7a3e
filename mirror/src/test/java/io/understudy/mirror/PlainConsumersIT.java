package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.understudy.consumer.Position;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.example.ReadTopic;
import io.understudy.mirror.fixture.JavaPrograms;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Consumers that know nothing of us read a mirror's topic, as docs/operate/kafka.md shows it. */
@Tag("kafka")
final class PlainConsumersIT {

    private static final Path PAGE = Path.of("../docs/operate/kafka.md");

    /** The command, and its documented output. */
    private static final Pattern CONSOLE =
            Pattern.compile("\\$ kafka-console-consumer\\.sh(?<arguments>.*?)\n\n(?<records>.*?)\n```", Pattern.DOTALL);

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    @TempDir
    private static Path folder;

    private final TestClient source = CLUSTERS.sourceClient();
    private String topic;

    @BeforeEach
    void name(TestInfo test) {
        topic = test.getTestMethod().orElseThrow().getName();
    }

    @Test
    void theExampleReadsStateAndChanges() throws Exception {
        String code = Files.readString(Path.of("src/test/java/io/understudy/mirror/example/ReadTopic.java"));
        assertThat(Files.readString(PAGE))
                .contains(code.substring(code.indexOf("    public static void main"), code.lastIndexOf("}")));
        Path stored = folder.resolve("position");
        List<String> arguments = List.of(KAFKA.bootstrapServers(), topic, stored.toString());
        whileReading(JavaPrograms.ofTests(ReadTopic.class, arguments), output -> {
            // Changes before the state is complete are part of it.
            await().atMost(PATIENCE).until(() -> Files.exists(stored));
            long put = source.put("greeting", "hello");
            long deleted = source.delete("greeting");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(output)
                    .content()
                    .contains(
                            "discard all keys: no position\n",
                            put + ": Put[key=greeting, value=hello, createRevision=" + put,
                            deleted + ": Delete[key=greeting]\n"));
            await().atMost(PATIENCE)
                    .until(() -> Position.parse(Files.readString(stored)).revision() >= deleted);
        });
    }

    /** Skipped where Python or its package is not available. */
    @Test
    void thePythonExampleReadsStateAndChanges() throws Exception {
        Path python = pythonWithKafka();
        source.put("known", "1");
        ProcessBuilder consumer = new ProcessBuilder(
                        python.toString(), "../docs/operate/read_topic.py", KAFKA.bootstrapServers(), topic)
                .redirectErrorStream(true);
        whileReading(consumer, output -> {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(output).content().contains("state: known = 1\n", "is complete\n"));
            long put = source.put("greeting", "hello");
            long deleted = source.delete("greeting");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(output)
                    .content()
                    .contains(put + ": greeting = hello\n" + deleted + ": greeting is gone\n"));
        });
    }

    private static Path pythonWithKafka() throws IOException, InterruptedException {
        Path venv = Path.of(System.getProperty("user.home"), ".cache/understudy/confluent-kafka-2.16.1");
        Path python = venv.resolve("bin/python");
        if (!succeeds(python.toString(), "-c", "import confluent_kafka")) {
            boolean isInstalled = succeeds("python3", "-m", "venv", venv.toString())
                    && succeeds(python.toString(), "-m", "pip", "install", "-q", "confluent-kafka==2.16.1");
            assumeTrue(isInstalled, "Python with confluent-kafka is not available");
        }
        return python;
    }

    private static boolean succeeds(String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void kafkasOwnPrintsTheRecords() throws Exception {
        Matcher block = CONSOLE.matcher(Files.readString(PAGE));
        assertThat(block.find()).isTrue();
        String arguments = block.group("arguments")
                .replace("\\\n", "")
                .replace("127.0.0.1:29092", KAFKA.bootstrapServers())
                .replace("--topic understudy", "--topic " + topic);
        ProcessBuilder consumer = JavaPrograms.ofKafka(
                "org.apache.kafka.tools.consumer.ConsoleConsumer",
                List.of(arguments.strip().split("\\s+")),
                folder.resolve("log"));
        whileReading(consumer, output -> {
            long put = source.put("greeting", "hello");
            for (String record : block.group("records").lines().toList()) {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(output).content().containsPattern(shown(record.strip(), put)));
            }
            long deleted = source.delete("greeting");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(output)
                    .content()
                    .containsPattern("understudy.revision:" + deleted + ",.*\tgreeting\tnull\n"));
        });
    }

    /** A record of the page, of which some is left out, at the revision that it has here. */
    private static String shown(String record, long revision) {
        return "(?m)^"
                + Pattern.quote(record)
                        .replace("…", "\\E.*\\Q")
                        .replace("revision:7", "revision:" + revision)
                        .replace("previous:6", "previous:" + (revision - 1))
                + "\\s*$";
    }

    /** Runs the script during a consumer; the script receives the file with its output. */
    private void whileReading(ProcessBuilder consumer, ThrowingConsumer<Path> script) throws Exception {
        Path output = folder.resolve(topic);
        consumer.redirectOutput(output.toFile());
        try (MirrorProcess mirror = Mirrors.kafka(CLUSTERS.source(), KAFKA.bootstrapServers(), topic)) {
            awaitCaughtUp(mirror, source);
            Process running = consumer.start();
            try {
                script.accept(output);
            } finally {
                running.destroyForcibly().waitFor();
            }
        }
    }
}
