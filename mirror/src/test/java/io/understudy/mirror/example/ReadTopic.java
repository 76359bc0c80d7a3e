package io.understudy.mirror.example;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** The consumer that docs/operate/kafka.md shows. */
public final class ReadTopic {

    private ReadTopic() {}

    public static void main(String[] arguments) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("group.id", "example");
        settings.put("isolation.level", "read_committed");
        settings.put("auto.offset.reset", "earliest");
        var text = new StringDeserializer();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, text, text)) {
            consumer.subscribe(List.of(arguments[1]));
            while (true) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                    if (!record.key().isEmpty()) { // else it is a mark
                        byte[] revision = record.headers()
                                .lastHeader("understudy.revision")
                                .value();
                        String change = record.value() == null ? " is gone" : " = " + record.value();
                        System.out.println(new String(revision, StandardCharsets.UTF_8) + ": " + record.key() + change);
                    }
                }
            }
        }
    }
}
