package io.understudy.kafka;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLEngine;
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
import org.apache.kafka.common.security.auth.SslEngineFactory;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    /** Kafka's own client settings from a file: those of access, which all clients share. */
    static final class ClientProperties {

        private static final List<String> ACCESS = List.of("security.", "ssl.", "sasl.", "config.providers");

        private static final List<String> OTHERS =
                List.of(CommonClientConfigs.CLIENT_DNS_LOOKUP_CONFIG, CommonClientConfigs.CLIENT_RACK_CONFIG);

        /** Kafka resolves {@code ${env:NAME}} and the like by these, see KIP-297. */
        private static final Map<String, String> PROVIDERS = Map.of(
                "config.providers",
                "env,file,directory",
                "config.providers.env.class",
                "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
                "config.providers.file.class",
                "org.apache.kafka.common.config.provider.FileConfigProvider",
                "config.providers.directory.class",
                "org.apache.kafka.common.config.provider.DirectoryConfigProvider");

        private ClientProperties() {}

        /** Whether a property is about TLS, logins, or where their secrets are. */
        static boolean isAccess(String name) {
            return ACCESS.stream().anyMatch(name::startsWith);
        }

        /**
         * The properties of the file; none without one.
         *
         * @throws IllegalArgumentException the file is unreadable, or has a property that is not allowed; names the file
         */
        static Map<String, Object> read(@Nullable Path file) {
            if (file == null) {
                return Map.of();
            }
            Properties found = new Properties();
            try (Reader reader = Files.newBufferedReader(file)) {
                found.load(reader);
            } catch (IOException | IllegalArgumentException e) {
                throw new IllegalArgumentException("cannot read Kafka client properties from " + file + ": " + e, e);
            }
            Map<String, Object> settings = new HashMap<>(PROVIDERS);
            for (String name : found.stringPropertyNames()) {
                if (!isAccess(name) && !OTHERS.contains(name)) {
                    throw new IllegalArgumentException(file + " sets " + name
                            + ", which is not allowed; set it below producer, consumer or admin. Allowed: " + OTHERS
                            + " and prefixes " + ACCESS);
                }
                settings.put(name, found.getProperty(name));
            }
            return settings;
        }
    }

    /**
     * Kafka's TLS engines, with changed files reloaded for new connections. Kafka's clients read them only at creation;
     * brokers reload theirs (KIP-226).
     *
     * <p>Public, with this constructor, because Kafka makes it by its name. For any thread.
     *
     * <p>Invariant T2b: replaced files apply to new connections to Kafka; open connections stay, and unusable files change
     * nothing.
     */
    public static final class ReloadingSslEngines implements SslEngineFactory {

        private static final Logger LOG = LoggerFactory.getLogger(ReloadingSslEngines.class);

        private Map<String, ?> configs = Map.of();
        private @Nullable DefaultSslEngineFactory current;
        /** Last logged, so that it is not logged for each connection. */
        private @Nullable String failure;

        @Override
        public synchronized void configure(Map<String, ?> given) {
            configs = given;
            current = read();
        }

        @Override
        public SSLEngine createClientSslEngine(String peerHost, int peerPort, String endpointIdentification) {
            return fresh().createClientSslEngine(peerHost, peerPort, endpointIdentification);
        }

        @Override
        public SSLEngine createServerSslEngine(String peerHost, int peerPort) {
            return fresh().createServerSslEngine(peerHost, peerPort);
        }

        @Override
        public boolean shouldBeRebuilt(Map<String, Object> nextConfigs) {
            return fresh().shouldBeRebuilt(nextConfigs);
        }

        @Override
        public Set<String> reconfigurableConfigs() {
            return fresh().reconfigurableConfigs();
        }

        @Override
        public @Nullable KeyStore keystore() {
            return fresh().keystore();
        }

        @Override
        public @Nullable KeyStore truststore() {
            return fresh().truststore();
        }

        @Override
        public synchronized void close() {
            if (current != null) {
                current.close();
            }
        }

        private synchronized DefaultSslEngineFactory fresh() {
            DefaultSslEngineFactory known = current;
            if (known == null) {
                throw new IllegalStateException("not configured yet");
            }
            if (!known.shouldBeRebuilt(Collections.unmodifiableMap(configs))) {
                return known;
            }
            try {
                DefaultSslEngineFactory next = read();
                known.close();
                current = next;
                failure = null;
                LOG.atInfo().log("Kafka TLS files reloaded");
                return next;
            } catch (RuntimeException e) {
                String why = String.valueOf(e.getMessage());
                if (!why.equals(failure)) {
                    LOG.atWarn()
                            .addKeyValue("cause", why)
                            .log("Kafka TLS reload failed; keeping previous certificates");
                    failure = why;
                }
                return known;
            }
        }

        private DefaultSslEngineFactory read() {
            DefaultSslEngineFactory next = new DefaultSslEngineFactory();
            next.configure(configs);
            return next;
        }
    }
}
