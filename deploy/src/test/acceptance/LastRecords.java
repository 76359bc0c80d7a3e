import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Prints the last record of each key of a topic in the order of keys, a line each for key and value, as etcdctl does.
 *
 * <p>Deleted keys and marks, which have an empty key, are left out. Run from its source, with Kafka's clients on the class
 * path: {@code java -cp 'lib/*' LastRecords.java HOST:PORT TOPIC}.
 */
final class LastRecords {

    private LastRecords() {}

    public static void main(String[] arguments) {
        Map<String, String> state = new TreeMap<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", arguments[0],
                        "allow.auto.create.topics", false,
                        "isolation.level", "read_committed"),
                new StringDeserializer(),
                new StringDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(arguments[1]).stream()
                    .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (!ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
                consumer.poll(Duration.ofMillis(200)).forEach(record -> {
                    if (record.value() == null) {
                        state.remove(record.key());
                    } else if (!record.key().isEmpty()) {
                        state.put(record.key(), record.value());
                    }
                });
            }
        }
        StringBuilder text = new StringBuilder();
        state.forEach((key, value) -> text.append(key).append('\n').append(value).append('\n'));
        System.out.writeBytes(text.toString().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }
}
