package io.understudy.kafka;

import io.understudy.config.Spelling;
import io.understudy.kafka.KafkaClients.ClientProperties;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

/**
 * A kind of Kafka client, with the properties that an operator may not set.
 *
 * <p>Invariant FK8: client properties cannot weaken delivery guarantees; denied ones are rejected before any effect,
 * with the setting to use instead.
 */
public enum KafkaClient {
    PRODUCER(
            ProducerConfig.configDef(),
            Map.ofEntries(
                    Map.entry(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "set transactionalIdPrefix"),
                    Map.entry(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, "set transactionTimeout"),
                    Map.entry("transaction.two.phase.commit.enable", Texts.FIXED),
                    Map.entry(ProducerConfig.ACKS_CONFIG, Texts.FIXED),
                    Map.entry(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, Texts.FIXED),
                    Map.entry(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, Texts.FIXED),
                    Map.entry(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Texts.TIMEOUT),
                    Map.entry(ProducerConfig.RETRIES_CONFIG, Texts.TIMEOUT),
                    Map.entry(ProducerConfig.MAX_BLOCK_MS_CONFIG, Texts.TIMEOUT),
                    Map.entry(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, "set max.message.bytes of the topics"),
                    Map.entry(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, "set format"),
                    Map.entry(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, "set format"),
                    Map.entry(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, Texts.FIXED))),
    CONSUMER(
            ConsumerConfig.configDef(),
            Map.ofEntries(
                    Map.entry(ConsumerConfig.ISOLATION_LEVEL_CONFIG, Texts.FIXED),
                    Map.entry(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, Texts.POSITION),
                    Map.entry(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, Texts.POSITION),
                    Map.entry(ConsumerConfig.GROUP_ID_CONFIG, Texts.POSITION),
                    Map.entry(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, Texts.POSITION),
                    Map.entry(ConsumerConfig.GROUP_PROTOCOL_CONFIG, Texts.POSITION),
                    Map.entry(
                            ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG,
                            "remove it; the mirror into Kafka creates its topics"),
                    Map.entry(ConsumerConfig.CHECK_CRCS_CONFIG, Texts.FIXED),
                    Map.entry(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, Texts.FIXED),
                    Map.entry(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, Texts.FIXED),
                    Map.entry(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG, Texts.FIXED))),
    ADMIN(
            AdminClientConfig.configDef(),
            Map.of(AdminClientConfig.BOOTSTRAP_CONTROLLERS_CONFIG, "set bootstrap.servers beside this group"));

    private static final Map<String, String> SHARED = Map.of(
            CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, "set bootstrap.servers beside this group",
            CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG, Texts.TIMEOUT,
            CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG, Texts.TIMEOUT);

    private static final int MOST_TYPING_ERRORS = 2;

    /** All clients log in alike, and configurations are logged. */
    private static final String ACCESS = "set it in propertiesFile";

    @SuppressWarnings("ImmutableEnumChecker") // not changed after construction
    private final ConfigDef known;

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable map
    private final Map<String, String> denied;

    KafkaClient(ConfigDef known, Map<String, String> denied) {
        this.known = known;
        this.denied = denied;
    }

    /**
     * Checks properties of this client.
     *
     * @throws IllegalArgumentException one is denied, or its value is invalid
     */
    void check(Map<String, String> properties) {
        properties.forEach((name, value) -> {
            String instead = ClientProperties.isAccess(name) ? ACCESS : denied.getOrDefault(name, SHARED.get(name));
            if (instead != null) {
                throw new IllegalArgumentException("is not allowed, since Understudy sets it; " + instead);
            }
            ConfigDef.ConfigKey key = known.configKeys().get(name);
            if (key == null) {
                requireOfPlugIn(name);
                return;
            }
            try {
                Object parsed = ConfigDef.parseType(name, value, key.type);
                if (key.validator != null) {
                    key.validator.ensureValid(name, parsed);
                }
            } catch (ConfigException e) {
                throw new IllegalArgumentException("cannot be '" + value + "': " + e.getMessage(), e);
            }
        });
    }

    /** Rejects misspelled names and those of other clients. Kafka ignores unknown names, which may be a plug-in's. */
    private void requireOfPlugIn(String name) {
        for (KafkaClient other : values()) {
            if (other.known.names().contains(name)) {
                throw new IllegalArgumentException("is not a property of this client; move it to "
                        + other.name().toLowerCase(Locale.ROOT));
            }
        }
        known.names().stream()
                .filter(candidate -> Spelling.distance(name, candidate) <= MOST_TYPING_ERRORS)
                .findFirst()
                .ifPresent(candidate -> {
                    throw new IllegalArgumentException("is not a property of Kafka; did you mean " + candidate + "?");
                });
    }

    /** Checks properties of a producer. */
    public static final class OfProducer implements Consumer<Map<String, String>> {
        @Override
        public void accept(Map<String, String> properties) {
            PRODUCER.check(properties);
        }
    }

    /** Checks properties of a consumer. */
    static final class OfConsumer implements Consumer<Map<String, String>> {
        @Override
        public void accept(Map<String, String> properties) {
            CONSUMER.check(properties);
        }
    }

    /** Checks properties of an admin client. */
    static final class OfAdmin implements Consumer<Map<String, String>> {
        @Override
        public void accept(Map<String, String> properties) {
            ADMIN.check(properties);
        }
    }

    private static final class Texts {
        private static final String FIXED = "remove it; exactly-once delivery requires Understudy's value";
        private static final String TIMEOUT = "set timeout";
        private static final String POSITION = "remove it; positions are stored with the data, not in a consumer group";
    }
}
