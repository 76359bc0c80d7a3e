package io.understudy.feed.kafka;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * Finds out why no records arrive. Kafka's consumer does not report it: it waits alike for an unavailable broker and
 * for a deleted topic, and would continue in another topic of the same name. Owned by the feed's thread.
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

    /** Records that something arrived. An earlier description may be of another topic. */
    void heard() {
        heardNanos = System.nanoTime();
        describing.forget();
    }

    /**
     * Queries the topic after a while without records.
     *
     * @return whether it was replaced by another topic
     * @throws org.apache.kafka.common.KafkaException it does not exist, or Kafka is unavailable
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

    /** Whether the topic has the same ID, queried at once; null if more time is needed. */
    @Nullable Boolean isSame(Duration timeout) throws InterruptedException {
        TopicDescription found = describing.answer(timeout);
        return found == null ? null : found.topicId().equals(id);
    }
}
