package io.understudy.consumer;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Kafka's clients of one consumer. Polls end at the deadline of the current {@link MirrorConsumer#next}. Requests have at
 * least {@link #REQUEST}: a shorter timeout would end each of them before its answer.
 */
final class Topics implements AutoCloseable {

    private static final Duration DELETE_RETENTION = Duration.ofDays(1);
    private static final Duration REQUEST = Duration.ofSeconds(5);
    private static final Duration CLOSING = Duration.ofSeconds(5);
    private static final List<String> OWN = List.of(
            ConsumerConfig.GROUP_ID_CONFIG,
            ConsumerConfig.GROUP_INSTANCE_ID_CONFIG,
            ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG,
            ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG,
            ConsumerConfig.ISOLATION_LEVEL_CONFIG,
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
            ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Admin admin;
    private long deadline = System.nanoTime();

    /** @throws KafkaException a property is invalid */
    Topics(Map<String, Object> properties) {
        Map<String, Object> settings = new HashMap<>(properties);
        OWN.forEach(name -> {
            if (settings.remove(name) != null) {
                throw new IllegalArgumentException("property " + name + " is set by the library; remove it");
            }
        });
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        try {
            Map<String, Object> common = new HashMap<>(properties);
            common.keySet().removeIf(Topics::isOfConsumersOnly);
            common.putIfAbsent(CommonClientConfigs.CLIENT_ID_CONFIG, "understudy-consumer");
            admin = Admin.create(common);
        } catch (RuntimeException e) {
            consumer.close();
            throw e;
        }
    }

    /** Admin clients log a warning for properties that they do not know. */
    private static boolean isOfConsumersOnly(String name) {
        return ConsumerConfig.configNames().contains(name)
                && !AdminClientConfig.configNames().contains(name);
    }

    /** Sets the deadline of the next calls. */
    void deadline(Duration timeout) {
        deadline = System.nanoTime() + timeout.toNanos();
    }

    Duration remaining() {
        return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    }

    private Duration forRequest() {
        Duration remaining = remaining();
        return remaining.compareTo(REQUEST) < 0 ? REQUEST : remaining;
    }

    TopicDescription describe(String topic) {
        return call(client -> Objects.requireNonNull(
                client.describeTopics(List.of(topic)).topicNameValues().get(topic)));
    }

    /** The topic's {@code delete.retention.ms}; Kafka's default if it may not be read. */
    Duration deleteRetention(String topic) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        try {
            String value = call(client -> Objects.requireNonNull(
                            client.describeConfigs(List.of(resource)).values().get(resource)))
                    .get(TopicConfig.DELETE_RETENTION_MS_CONFIG)
                    .value();
            return value == null ? DELETE_RETENTION : Duration.ofMillis(Long.parseLong(value));
        } catch (AuthorizationException e) {
            return DELETE_RETENTION;
        }
    }

    long beginning(TopicPartition partition) {
        return known(consumer.beginningOffsets(List.of(partition), forRequest()).get(partition));
    }

    /** Offset after the last transaction that is over. */
    long end(TopicPartition partition) {
        return known(consumer.endOffsets(List.of(partition), forRequest()).get(partition));
    }

    private static long known(@Nullable Long offset) {
        if (offset == null) {
            throw new TimeoutException("Kafka returned no offset in time");
        }
        return offset;
    }

    void assign(List<TopicPartition> partitions) {
        consumer.assign(partitions);
    }

    void seek(TopicPartition partition, long offset) {
        consumer.seek(partition, offset);
    }

    void pauseOnly(List<TopicPartition> partitions) {
        consumer.resume(consumer.assignment());
        consumer.pause(partitions);
    }

    ConsumerRecords<byte[], byte[]> poll() {
        return consumer.poll(remaining());
    }

    List<ConsumerRecord<byte[], byte[]>> poll(TopicPartition partition) {
        return poll().records(partition);
    }

    long position(TopicPartition partition) {
        return consumer.position(partition, forRequest());
    }

    private <T> T call(Function<Admin, KafkaFuture<T>> request) {
        try {
            return request.apply(admin).get(forRequest().toNanos(), TimeUnit.NANOSECONDS);
        } catch (java.util.concurrent.TimeoutException e) {
            throw new TimeoutException("Kafka did not answer in time", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e.getCause());
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    @Override
    public void close() {
        try {
            consumer.close(CloseOptions.timeout(CLOSING));
        } finally {
            admin.close(CLOSING);
        }
    }
}
