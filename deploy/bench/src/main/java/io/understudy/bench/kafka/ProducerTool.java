package io.understudy.bench.kafka;

import com.google.protobuf.ByteString;
import io.understudy.bench.BenchException;
import io.understudy.bench.Figure;
import io.understudy.bench.relay.SourceLoad;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.kafka.KafkaLibrary;
import io.understudy.local.kafka.LocalKafka;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;

/**
 * Kafka's {@code ProducerPerformance} as a process, with transactions and records like the mirror's.
 *
 * @param folder for the broker's data and the tool's output
 */
record ProducerTool(Path folder, int partitions) {

    static final int UNLIMITED = -1;

    /** Maximum age of the mirror's transactions under load. */
    static final int TRANSACTION_MILLIS = 50;

    private static final String TOPIC = "producer";
    private static final long PATIENCE_SECONDS = 300;
    /** As of the mirror's producer. */
    private static final List<String> PROPERTIES =
            List.of("acks=all", "compression.type=lz4", "linger.ms=5", "batch.size=262144");

    private static final Pattern RESULT =
            Pattern.compile("([\\d.]+) records/sec .* (\\d+) ms 50th, .* (\\d+) ms 99th,");

    /** Bytes of a record that the mirror writes for a put of {@link SourceLoad}. */
    static int recordBytes() {
        Revision revision = new Revision(100_000);
        KeyValue entry = new KeyValue(
                SourceLoad.key(0), ByteString.copyFrom(new byte[SourceLoad.VALUE_BYTES]), revision, revision, 1, 0);
        TopicRecord changed = new TopicRecord.Changed(new ClusterId(-1), revision, 0, 1, new Change.Put(entry));
        TopicOrigin origin = new TopicOrigin(System.currentTimeMillis(), TopicScope.all(), 1);
        ProducerRecord<byte[], byte[]> record = RecordFormat.write(TOPIC, 0, changed, origin);
        int bytes = record.key().length + record.value().length;
        for (Header header : record.headers()) {
            bytes += header.key().length() + header.value().length;
        }
        return bytes;
    }

    /**
     * Runs it with a new broker.
     *
     * @param perSecond rate of records, or {@link #UNLIMITED}
     */
    Map<Figure, Double> run(int records, int perSecond) throws InterruptedException {
        Path data = folder.resolve("kafka");
        try (LocalKafka kafka = LocalKafka.builder().dataDirectory(data).build()) {
            kafka.start();
            createTopic(kafka.bootstrapServers());
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Dlogback.configurationFile=" + data.resolve("logback.xml"),
                    "-cp",
                    KafkaLibrary.find().classPath(),
                    "org.apache.kafka.tools.ProducerPerformance",
                    "--topic=" + TOPIC,
                    "--num-records=" + records,
                    "--throughput=" + perSecond,
                    "--record-size=" + recordBytes(),
                    "--transactional-id=" + TOPIC,
                    "--transaction-duration-ms=" + TRANSACTION_MILLIS,
                    "--producer-props",
                    "bootstrap.servers=" + kafka.bootstrapServers()));
            command.addAll(PROPERTIES);
            return figures(print(command));
        }
    }

    private void createTopic(String bootstrapServers) throws InterruptedException {
        KafkaClients clients = new KafkaClients(KafkaSettings.of(bootstrapServers), "understudy-bench");
        try (Admin admin = clients.admin()) {
            admin.createTopics(List.of(new NewTopic(TOPIC, partitions, (short) 1)))
                    .all()
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new BenchException("cannot create topic " + TOPIC, e);
        }
    }

    private String print(List<String> command) throws InterruptedException {
        Path printed = folder.resolve("producer.log");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(printed.toFile())
                    .start();
            boolean isOver;
            try {
                isOver = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } finally {
                process.destroyForcibly();
            }
            String output = Files.readString(printed);
            if (!isOver || process.exitValue() != 0) {
                throw new BenchException("ProducerPerformance "
                        + (isOver ? "failed" : "exceeded " + PATIENCE_SECONDS + " s") + ": " + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run ProducerPerformance", e);
        }
    }

    static Map<Figure, Double> figures(String output) {
        Matcher result = RESULT.matcher(output);
        if (!result.find()) {
            throw new BenchException("ProducerPerformance printed no result: " + output);
        }
        double perSecond = Double.parseDouble(result.group(1));
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.CHANGES_PER_SECOND, perSecond);
        figures.put(Figure.MEGABYTES_PER_SECOND, perSecond * recordBytes() / 1e6);
        figures.put(Figure.P50_MILLIS, Double.valueOf(result.group(2)));
        figures.put(Figure.P99_MILLIS, Double.valueOf(result.group(3)));
        return figures;
    }
}
