package io.understudy.mirror.kafka;

import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's clients, set up so that nothing is lost, reordered or held without bound. */
final class KafkaClients {

    private static final int REQUEST_TIMEOUT_MILLIS = 10_000;
    private static final long BUFFER_BYTES = 32L << 20;
    private static final long POLL_MILLIS = 200;
    /** Room for headers beside the largest message a topic takes. */
    private static final int HEADER_BYTES = 64 * 1024;

    private final KafkaSinkOptions options;
    private final String clientId;

    KafkaClients(KafkaSinkOptions options, String clientId) {
        this.options = options;
        this.clientId = clientId;
    }

    /**
     * Idempotent, and without an end to its retries: a record that were given up while later ones succeed would leave a
     * hole. An outage shows by acknowledgements that don't come and by a full buffer, which end the wait.
     */
    Producer<byte[], byte[]> producer() {
        Map<String, Object> settings = common();
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        settings.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5);
        settings.put(ProducerConfig.RETRIES_CONFIG, Integer.MAX_VALUE);
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.MAX_VALUE);
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, options.timeout().toMillis());
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, BUFFER_BYTES);
        settings.put(ProducerConfig.BATCH_SIZE_CONFIG, 64 * 1024);
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 1);
        settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, KafkaSinkOptions.MAX_MESSAGE_BYTES + HEADER_BYTES);
        return create(() -> new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()));
    }

    Admin admin() {
        return create(() -> Admin.create(common()));
    }

    /**
     * Reads the one partition of {@code topic} from its beginning to the end it has now.
     *
     * @throws SinkException.Unavailable nothing came for the options' timeout
     */
    void readAll(String topic, Consumer<ConsumerRecord<byte[], byte[]>> each) {
        String doing = "reading topic " + topic;
        try (KafkaConsumer<byte[], byte[]> consumer = create(this::consumer)) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end =
                    consumer.endOffsets(List.of(partition), options.timeout()).getOrDefault(partition, 0L);
            long heardNanos = System.nanoTime();
            while (consumer.position(partition, options.timeout()) < end) {
                var records = consumer.poll(Duration.ofMillis(POLL_MILLIS));
                if (!records.isEmpty()) {
                    heardNanos = System.nanoTime();
                } else if (System.nanoTime() - heardNanos > options.timeout().toNanos()) {
                    throw new SinkException.Unavailable(doing + " failed: nothing came for " + options.timeout(), null);
                }
                records.forEach(each);
            }
        } catch (KafkaException e) {
            throw KafkaFailures.explained(doing, e);
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        Map<String, Object> settings = common();
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private Map<String, Object> common() {
        Map<String, Object> settings = new HashMap<>();
        settings.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, options.bootstrapServers());
        settings.put(CommonClientConfigs.CLIENT_ID_CONFIG, clientId);
        settings.put(CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG, REQUEST_TIMEOUT_MILLIS);
        settings.put(
                CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG,
                Math.toIntExact(
                        Math.max(REQUEST_TIMEOUT_MILLIS, options.timeout().toMillis())));
        return settings;
    }

    /** A constructor fails on bad settings, but also when no bootstrap server's name can be resolved now. */
    private <T> T create(Supplier<T> constructor) {
        try {
            return constructor.get();
        } catch (KafkaException e) {
            throw new SinkException.Unavailable(
                    "no client for " + options.bootstrapServers() + ": "
                            + (e.getCause() == null
                                    ? e.getMessage()
                                    : e.getCause().getMessage()),
                    e);
        }
    }
}
