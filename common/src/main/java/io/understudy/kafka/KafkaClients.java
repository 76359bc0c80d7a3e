package io.understudy.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's clients, configured against loss, reordering, uncommitted reads and unbounded buffers. Thread-safe. Their
 * results and {@link org.apache.kafka.common.KafkaException}s are Kafka's own.
 */
public final class KafkaClients {

    /** The largest record that topics created by mirrors take, with its headers. */
    public static final int MAX_MESSAGE_BYTES = 2 << 20;

    private static final int MAX_REQUEST_TIMEOUT_MILLIS = 10_000;
    private static final int LINGER_MILLIS = 5;
    private static final long BUFFER_BYTES = 32L << 20;
    private static final int BATCH_BYTES = 256 << 10;
    /** Room for headers beside the largest message a topic takes. */
    private static final int HEADER_BYTES = 64 << 10;

    private final KafkaSettings settings;
    private final String clientId;
    private final Map<String, Object> access;

    /**
     * Reads the settings' file without connecting.
     *
     * @param clientId name of the clients in brokers' logs, metrics and quotas
     * @throws IllegalArgumentException the file can't be used; names it
     */
    public KafkaClients(KafkaSettings settings, String clientId) {
        this.settings = settings;
        this.clientId = clientId;
        this.access = ClientProperties.read(settings.propertiesFile());
    }

    public KafkaSettings settings() {
        return settings;
    }

    /**
     * A transactional producer; {@link Producer#initTransactions} fences earlier producers of this ID. Idempotent, in
     * order; a record not acknowledged within the settings' timeout has failed.
     *
     * @param transactionTimeout after which the broker aborts a transaction that is still open
     * @param maxRecordBytes of the largest record that its topics take
     * @param properties by Kafka's names
     */
    public Producer<byte[], byte[]> producer(
            String transactionalId, Duration transactionTimeout, int maxRecordBytes, Map<String, String> properties) {
        Map<String, Object> all = common(KafkaClient.PRODUCER, properties);
        all.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, LINGER_MILLIS);
        all.putIfAbsent(ProducerConfig.BUFFER_MEMORY_CONFIG, Math.max(BUFFER_BYTES, 2L * maxRecordBytes));
        all.putIfAbsent(ProducerConfig.BATCH_SIZE_CONFIG, BATCH_BYTES);
        all.putIfAbsent(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        all.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, transactionalId);
        all.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, Math.toIntExact(transactionTimeout.toMillis()));
        all.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, (int) Math.min(
                Integer.MAX_VALUE, lingerMillis(all) + settings.timeout().toMillis()));
        all.put(ProducerConfig.ACKS_CONFIG, "all");
        all.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        all.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5);
        all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, settings.timeout().toMillis());
        all.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, maxRecordBytes + HEADER_BYTES);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** A consumer of committed records without a consumer group. The caller assigns partitions and keeps offsets. */
    public Consumer<byte[], byte[]> consumer() {
        Map<String, Object> all = common(KafkaClient.CONSUMER, settings.consumer());
        all.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        all.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        all.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        all.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        all.putIfAbsent(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 5_000);
        // A seek waits until the fetch in flight ends, for up to this time.
        all.putIfAbsent(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 100);
        return new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    public Admin admin() {
        return Admin.create(common(KafkaClient.ADMIN, settings.admin()));
    }

    /** Returns why no broker responds; empty if one does. */
    public Optional<String> unreachable(Duration timeout) {
        try (Admin admin = admin()) {
            var unused = admin.describeCluster(
                            new DescribeClusterOptions().timeoutMs(Math.toIntExact(timeout.toMillis())))
                    .nodes()
                    .get();
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted");
        } catch (ExecutionException | KafkaException e) {
            Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
            return Optional.of(KafkaErrors.text(cause, settings, AclOperation.DESCRIBE));
        }
    }

    private static long lingerMillis(Map<String, Object> producer) {
        return Long.parseLong(
                String.valueOf(producer.get(ProducerConfig.LINGER_MS_CONFIG)).strip());
    }

    private Map<String, Object> common(KafkaClient client, Map<String, String> properties) {
        client.check(properties);
        Map<String, Object> all = new HashMap<>(access);
        all.putAll(properties);
        all.putIfAbsent(SslConfigs.SSL_ENGINE_FACTORY_CLASS_CONFIG, ReloadingSslEngines.class);
        all.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrapServers());
        all.putIfAbsent(CommonClientConfigs.CLIENT_ID_CONFIG, clientId);
        int timeout = Math.toIntExact(settings.timeout().toMillis());
        all.put(CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG, Math.min(MAX_REQUEST_TIMEOUT_MILLIS, timeout));
        all.put(CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG, timeout);
        return all;
    }
}
