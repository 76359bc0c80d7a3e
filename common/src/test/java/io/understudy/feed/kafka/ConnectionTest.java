package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.feed.kafka.Connection.TopicWatch;
import io.understudy.feed.kafka.KafkaFeedSource.TopicHead;
import io.understudy.kafka.KafkaSettings;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.junit.jupiter.api.Test;

/** Clients that behave as no broker makes them behave on demand. */
final class ConnectionTest {

    private static final String TOPIC = "changes";
    private static final TopicPartition FIRST = new TopicPartition(TOPIC, 0);
    private static final TopicPartition SECOND = new TopicPartition(TOPIC, 1);

    private final Queue<KafkaFuture<TopicDescription>> descriptions = new ArrayDeque<>();
    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");

    @Test
    void aPausedPartitionThatIsAssignedAgainIsRead() {
        try (Connection connection = new Connection(consumer, admin())) {
            connection.assign(List.of(FIRST, SECOND));
            connection.pauseOnly(Set.of(FIRST));
            assertThat(consumer.paused()).containsExactly(FIRST);

            connection.assign(List.of(FIRST));

            assertThat(consumer.paused()).isEmpty();
        }
    }

    @Test
    void aDescriptionRequestedBeforeTheLastRecordDoesNotIdentifyItsTopic() throws Exception {
        Uuid read = Uuid.randomUuid();
        KafkaFutureImpl<TopicDescription> early = new KafkaFutureImpl<>();
        descriptions.add(early);
        descriptions.add(KafkaFuture.completedFuture(description(Uuid.randomUuid())));
        try (Connection connection = new Connection(consumer, admin())) {
            TopicWatch watch = new TopicWatch(connection, description(read));
            assertThat(watch.isSame(Duration.ZERO)).isNull();
            early.complete(description(read));

            watch.heard();

            assertThat(watch.isSame(Duration.ofSeconds(10))).isFalse();
        }
    }

    @Test
    void aReadOfTheHeadFailsAlsoIfItsConnectionDoesNotClose() {
        TopicHead head =
                new TopicHead(KafkaSettings.of("127.0.0.1:1"), () -> new Connection(unclosable(), admin()), TOPIC);

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> head.request().get(10, TimeUnit.SECONDS)).hasMessageContaining("no listOffsets");
        }
    }

    private static MockConsumer<byte[], byte[]> unclosable() {
        return new MockConsumer<>("none") {
            @Override
            public void close(CloseOptions options) {
                throw new KafkaException("consumer does not close");
            }
        };
    }

    private static TopicDescription description(Uuid id) {
        return new TopicDescription(TOPIC, false, List.of(), Set.of(), id);
    }

    /** Answers with the descriptions in turn, and nothing else. */
    private Admin admin() {
        return (Admin) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Admin.class},
                (self, method, arguments) -> switch (method.getName()) {
                    case "describeTopics" -> new DescribeTopicsResult(null, Map.of(TOPIC, descriptions.remove())) {};
                    case "close" -> null;
                    default -> throw new KafkaException("no " + method.getName());
                });
    }
}
