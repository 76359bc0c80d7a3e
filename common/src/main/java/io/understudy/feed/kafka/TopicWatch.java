package io.understudy.feed.kafka;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * Finds out why no records arrive. Kafka's consumer does not report it: it waits alike for a broker that is away and
 * for a topic that was deleted, and would read on in another topic of the same name. Owned by the feed's thread.
 */
final class TopicWatch {

    /** A mirror that runs writes a mark each second. */
    private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Connection.AdminQuery<TopicDescription> describing;
    private final Uuid id;
    private long heardNanos = System.nanoTime();

    TopicWatch(Connection connection, TopicDescription topic) {
        this.describing = connection.describing(topic.name());
        this.id = topic.topicId();
    }

    /** Something came. */
    void heard() {
        heardNanos = System.nanoTime();
    }

    /**
     * Nothing came: after a while, queries the topic.
     *
     * @return whether it is another one, that was made in its place
     * @throws org.apache.kafka.common.KafkaException it is not there, or Kafka is away
     */
    boolean isReplaced() throws InterruptedException {
        if (System.nanoTime() - heardNanos < SILENCE_NANOS) {
            return false;
        }
        Boolean same = isSame(Duration.ZERO);
        if (same == null) {
            return false;
        }
        heard();
        return !same;
    }

    /** Whether the topic is still the one that was found, by a query made at once; null if more time is needed. */
    @Nullable Boolean isSame(Duration timeout) throws InterruptedException {
        TopicDescription found = describing.answer(timeout);
        return found == null ? null : found.topicId().equals(id);
    }
}
