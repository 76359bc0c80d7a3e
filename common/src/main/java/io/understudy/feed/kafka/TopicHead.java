package io.understudy.feed.kafka;

import io.understudy.kafka.KafkaClients;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Reads the last mark of the change topic, on a thread of its own while it is asked. Thread-safe. */
final class TopicHead {

    /** How far before the end to look first; further and further when there is no mark. */
    private static final long FIRST_LOOK = 16;

    private final KafkaClients clients;
    private final TopicPartition partition;
    private @Nullable CompletableFuture<Revision> underWay;

    TopicHead(KafkaClients clients, String topic) {
        this.clients = clients;
        // Every partition has the marks.
        this.partition = new TopicPartition(topic, 0);
    }

    synchronized CompletableFuture<Revision> ask() {
        CompletableFuture<Revision> asked = underWay;
        if (asked == null || asked.isDone()) {
            CompletableFuture<Revision> answer = new CompletableFuture<>();
            underWay = answer;
            asked = answer;
            Thread thread = new Thread(() -> answer(answer), "kafka-head");
            thread.setDaemon(true);
            thread.start();
        }
        return asked;
    }

    private void answer(CompletableFuture<Revision> answer) {
        long deadline = System.nanoTime() + clients.settings().timeout().toNanos();
        try (Connection connection = new Connection(clients)) {
            answer.complete(read(connection, deadline));
        } catch (Throwable e) {
            answer.completeExceptionally(e);
        }
    }

    private Revision read(Connection connection, long deadline)
            throws MalformedRecordException, TimeoutException, InterruptedException {
        Connection.Question<Map<TopicPartition, TopicBounds>> bounding =
                connection.question(admin -> TopicBounds.ask(admin, List.of(partition)));
        Map<TopicPartition, TopicBounds> known = bounding.answer(remaining(deadline));
        TopicBounds bounds = known == null ? null : known.get(partition);
        if (bounds == null) {
            throw late();
        }
        connection.assign(List.of(partition));
        Revision head = Revision.ZERO;
        long from = bounds.end();
        for (long look = FIRST_LOOK; head.value() == 0 && from > bounds.beginning(); look *= look) {
            long to = from;
            from = Math.max(bounds.beginning(), to - look);
            connection.seek(partition, from);
            for (long at = from; at < to; at = connection.position(partition, remaining(deadline))) {
                for (ConsumerRecord<byte[], byte[]> record : connection.poll(partition, remaining(deadline))) {
                    TopicRecord told = RecordFormat.read(record);
                    if (told instanceof TopicRecord.Complete || told instanceof TopicRecord.SnapshotEnd) {
                        head = told.revision();
                    }
                }
            }
        }
        return head;
    }

    private Duration remaining(long deadline) throws TimeoutException {
        long nanos = deadline - System.nanoTime();
        if (nanos <= 0) {
            throw late();
        }
        return Duration.ofNanos(nanos);
    }

    private TimeoutException late() {
        return new TimeoutException("the end of " + partition + " was not told within "
                + clients.settings().timeout());
    }
}
