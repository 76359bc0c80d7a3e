package io.understudy.local.junit;

import io.understudy.local.kafka.LocalKafka;
import io.understudy.local.kafka.LocalKafkaBuilder;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Runs a Kafka broker for tests.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final KafkaExtension kafka = KafkaExtension.broker();
 * }</pre>
 *
 * <p>In a static field it is there for the class and is repaired after each test: the proxy's faults end, a paused
 * broker resumes, an ended one restarts. It may have served another class before and have that one's topics, unless
 * {@link #with} or another method here changes it. In an instance field each test has its own.
 */
public final class KafkaExtension implements ServerExtension {

    private UnaryOperator<LocalKafkaBuilder> more = builder -> builder;
    private @Nullable Provider provider;
    private final ServerFixture<LocalKafka> fixture = new ServerFixture<>("kafka", this::build);

    private KafkaExtension() {
        fixture.shareAs("kafka");
    }

    public static KafkaExtension broker() {
        return new KafkaExtension();
    }

    /** Puts a fault proxy before the broker, as {@link LocalKafkaBuilder#behindProxy}. */
    public KafkaExtension behindProxy() {
        return with(LocalKafkaBuilder::behindProxy);
    }

    /**
     * Runs it in a container of the official image, whatever {@code -Dkafka.provider} is. Where there is no engine or
     * no image its tests are skipped, with that reason.
     */
    public KafkaExtension inContainer() {
        provider = Provider.TESTCONTAINERS;
        return own();
    }

    /** Applies further settings of the builder. */
    public KafkaExtension with(UnaryOperator<LocalKafkaBuilder> settings) {
        UnaryOperator<LocalKafkaBuilder> before = more;
        more = builder -> settings.apply(before.apply(builder));
        return own();
    }

    /** A broker that no other class has used or will use. */
    public KafkaExtension own() {
        fixture.shareAs(null);
        return this;
    }

    /** The running broker. */
    public LocalKafka kafka() {
        return fixture.servers();
    }

    /** As {@link LocalKafka#bootstrapServers}. */
    public String bootstrapServers() {
        return kafka().bootstrapServers();
    }

    @Override
    public ServerFixture<LocalKafka> fixture() {
        return fixture;
    }

    private LocalKafka build(Path folder) {
        Provider chosen = provider == null ? Provider.of("kafka") : provider;
        return more.apply(chosen.configure(LocalKafka.builder()).dataDirectory(folder))
                .build();
    }
}
