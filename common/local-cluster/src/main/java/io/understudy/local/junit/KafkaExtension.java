package io.understudy.local.junit;

import io.understudy.local.kafka.LocalKafka;
import io.understudy.local.kafka.LocalKafkaBuilder;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs a Kafka broker for tests.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final KafkaExtension kafka = KafkaExtension.broker();
 * }</pre>
 *
 * <p>In a static field it starts once for the class and is mended after each test: the proxy's faults end, a paused
 * broker goes on, an ended one starts again. In an instance field each test has its own.
 */
public final class KafkaExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    private UnaryOperator<LocalKafkaBuilder> more = builder -> builder;
    private @Nullable Provider provider;
    private boolean perClass;
    private @Nullable LocalKafka kafka;
    private @Nullable TestFolder folder;

    private KafkaExtension() {}

    public static KafkaExtension broker() {
        return new KafkaExtension();
    }

    /** Puts a fault proxy before the broker, as {@link LocalKafkaBuilder#behindProxy}. */
    public KafkaExtension behindProxy() {
        return with(LocalKafkaBuilder::behindProxy);
    }

    /**
     * Runs it in a container of the official image, whatever {@code -Dkafka.provider} says. Where there is no engine or no
     * image its tests are skipped, and say so.
     */
    public KafkaExtension inContainer() {
        provider = Provider.TESTCONTAINERS;
        return this;
    }

    /** Whatever else the builder offers. */
    public KafkaExtension with(UnaryOperator<LocalKafkaBuilder> settings) {
        UnaryOperator<LocalKafkaBuilder> before = more;
        more = builder -> settings.apply(before.apply(builder));
        return this;
    }

    /** The running broker. */
    public LocalKafka kafka() {
        LocalKafka running = kafka;
        if (running == null) {
            throw new IllegalStateException("the Kafka broker runs only during a test");
        }
        return running;
    }

    /** As {@link LocalKafka#bootstrapServers}. */
    public String bootstrapServers() {
        return kafka().bootstrapServers();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        perClass = true;
        start(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        if (!perClass) {
            start(context);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        context.getExecutionException().ifPresent(failure -> showLog(context));
        if (perClass) {
            kafka().mend();
        } else {
            close();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (perClass) {
            close();
        }
    }

    private void start(ExtensionContext context) {
        TestFolder made = TestFolder.of(context, "kafka");
        folder = made;
        Provider chosen = provider == null ? Provider.of("kafka") : provider;
        LocalKafka started = more.apply(chosen.configure(LocalKafka.builder()).dataDirectory(made.path()))
                .build();
        kafka = started;
        try {
            started.start();
        } catch (RuntimeException e) {
            made.keep();
            throw e;
        }
    }

    private void showLog(ExtensionContext context) {
        LocalKafka failed = kafka;
        if (failed != null) {
            TestFolder.show(context, "kafka", failed.log());
        }
        TestFolder kept = folder;
        if (kept != null) {
            kept.keep();
        }
    }

    private void close() {
        LocalKafka ended = kafka;
        if (ended != null) {
            ended.close();
        }
        TestFolder made = folder;
        if (made != null) {
            made.close();
        }
        kafka = null;
        folder = null;
    }
}
