package io.understudy.lab.check;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.failure.LabException;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** A place where a write to the core cluster must show. Used by one thread at a time. */
public interface Viewpoint extends AutoCloseable {

    /** Name for people. */
    String name();

    /**
     * Connects, so that what follows is not slowed down by it.
     *
     * @throws LabException it can't be reached within the deadline
     */
    void connect(Duration deadline) throws InterruptedException;

    /**
     * Waits until the key has the value.
     *
     * @param value null for until the key is gone
     * @throws LabException that is not so within the deadline; the message names what was seen instead
     */
    void await(ByteString key, @Nullable ByteString value, Duration deadline) throws InterruptedException;

    @Override
    void close();

    /** Serializable reads of one server, again and again. */
    final class EtcdViewpoint implements Viewpoint {

        private static final ByteString NO_KEY = ByteString.copyFromUtf8("understudy-lab-check/none");
        private static final long PAUSE_MICROS = 500;

        private final String name;
        private final EtcdSettings server;
        private final EtcdClient client;

        /** @param server its endpoints and login */
        public EtcdViewpoint(String name, EtcdSettings server) {
            this.name = name;
            this.server = server;
            this.client = new EtcdClient(server);
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public void connect(Duration deadline) throws InterruptedException {
            await(NO_KEY, null, deadline);
        }

        @Override
        public void await(ByteString key, @Nullable ByteString value, Duration deadline) throws InterruptedException {
            long end = System.nanoTime() + deadline.toNanos();
            Optional<ByteString> wanted = Optional.ofNullable(value);
            String seen;
            do {
                try {
                    Optional<ByteString> found =
                            client.range(key).getKvsList().stream().findFirst().map(KeyValue::getValue);
                    if (found.equals(wanted)) {
                        return;
                    }
                    seen = found.isPresent() ? "its value is '" + found.get().toStringUtf8() + "'" : "key not found";
                } catch (StatusRuntimeException e) {
                    seen = "read failed with " + EtcdClient.text(e.getStatus());
                }
                TimeUnit.MICROSECONDS.sleep(PAUSE_MICROS);
            } while (System.nanoTime() < end);
            throw new LabException(name + " (" + server.seeds().get(0) + ") does not show the "
                    + (value == null ? "deletion" : "write") + " of key " + key.toStringUtf8() + " within "
                    + deadline.toSeconds() + " s: " + seen);
        }

        @Override
        public void close() {
            client.close();
        }
    }

    /** Records that arrive in a topic from now on. */
    final class KafkaViewpoint implements Viewpoint {

        private static final Duration POLL = Duration.ofMillis(50);
        private static final Duration CLOSE = Duration.ofMillis(500);

        private final String name;
        private final String topic;
        private final Consumer<byte[], byte[]> consumer;

        /**
         * Does not connect yet.
         *
         * @param bootstrapServers {@code host:port} of the broker
         * @param security a file of Kafka's own settings for TLS; null for plain text
         */
        public KafkaViewpoint(String name, String bootstrapServers, @Nullable Path security, String topic) {
            this.name = name;
            this.topic = topic;
            this.consumer = new KafkaConsumer<>(
                    settings(bootstrapServers, security), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        }

        private static Properties settings(String bootstrapServers, @Nullable Path security) {
            Properties settings = new Properties();
            if (security != null) {
                try (Reader reader = Files.newBufferedReader(security)) {
                    settings.load(reader);
                } catch (IOException e) {
                    throw new LabException("cannot read " + security + ": " + e.getMessage(), e);
                }
            }
            settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
            // Only what can't be taken back any more.
            settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
            // The read must not create the topic: its settings are the mirror's.
            settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
            settings.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 100);
            settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
            return settings;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public void connect(Duration deadline) throws InterruptedException {
            try {
                List<TopicPartition> partitions = consumer.partitionsFor(topic, deadline).stream()
                        .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                        .toList();
                if (partitions.isEmpty()) {
                    throw new LabException(name + ": Kafka has no topic " + topic);
                }
                consumer.assign(partitions);
                consumer.seekToEnd(partitions);
                // Seeking is lazy: without a call of position, it might take effect only after the write.
                partitions.forEach(partition -> consumer.position(partition, deadline));
            } catch (InterruptException e) {
                throw interrupted(e);
            } catch (KafkaException e) {
                throw new LabException("cannot read " + name + ": " + e.getMessage(), e);
            }
        }

        @Override
        public void await(ByteString key, @Nullable ByteString value, Duration deadline) throws InterruptedException {
            long end = System.nanoTime() + deadline.toNanos();
            Optional<ByteString> wanted = Optional.ofNullable(value);
            int others = 0;
            do {
                for (ConsumerRecord<byte[], byte[]> arrived : poll()) {
                    if (ByteString.copyFrom(arrived.key()).equals(key)
                            && valueOf(arrived).equals(wanted)) {
                        return;
                    }
                    others++;
                }
            } while (System.nanoTime() < end);
            throw new LabException(name + " does not show the " + (value == null ? "deletion" : "write") + " of key "
                    + key.toStringUtf8() + " within " + deadline.toSeconds() + " s; other records that arrived: "
                    + others);
        }

        private Iterable<ConsumerRecord<byte[], byte[]>> poll() throws InterruptedException {
            try {
                return consumer.poll(POLL);
            } catch (InterruptException e) {
                throw interrupted(e);
            } catch (KafkaException e) {
                throw new LabException("cannot read " + name + ": " + e.getMessage(), e);
            }
        }

        private static Optional<ByteString> valueOf(ConsumerRecord<byte[], byte[]> arrived) {
            return Optional.ofNullable(arrived.value()).map(ByteString::copyFrom);
        }

        /** Kafka's own is unchecked and leaves the thread's flag set. */
        private static InterruptedException interrupted(InterruptException e) {
            Thread.interrupted();
            InterruptedException plain = new InterruptedException();
            plain.initCause(e);
            return plain;
        }

        @Override
        public void close() {
            consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(CLOSE));
        }
    }
}
