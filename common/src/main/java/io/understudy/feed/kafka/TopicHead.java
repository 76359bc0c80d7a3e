package io.understudy.feed.kafka;

import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaErrors;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.jspecify.annotations.Nullable;

/** Reads the last mark of the change topic. Clients and thread are released when idle. Thread-safe. */
final class TopicHead {

    private static final long IDLE_SECONDS = 30;

    /** How far before the end to look first; further and further when there is no mark. */
    private static final long FIRST_LOOK = 16;

    private static final int FURTHER = 16;

    private final KafkaClients clients;
    private final TopicPartition partition;
    private final BlockingQueue<CompletableFuture<Revision>> requests = new ArrayBlockingQueue<>(1);
    private @Nullable CompletableFuture<Revision> underWay;
    private boolean running;

    TopicHead(KafkaClients clients, String topic) {
        this.clients = clients;
        // Every partition has the marks.
        this.partition = new TopicPartition(topic, 0);
    }

    /** The result of the read under way, or of a new one. */
    synchronized CompletableFuture<Revision> request() {
        CompletableFuture<Revision> pending = underWay;
        if (pending == null || pending.isDone()) {
            pending = new CompletableFuture<>();
            underWay = pending;
            requests.add(pending);
            if (!running) {
                running = true;
                Thread thread = new Thread(this::answerAll, "kafka-head");
                thread.setDaemon(true);
                thread.start();
            }
        }
        return pending.copy();
    }

    private void answerAll() {
        Connection connection = null;
        while (true) {
            CompletableFuture<Revision> request = nextRequest();
            if (request == null) {
                close(connection);
                return;
            }
            Revision head = null;
            Throwable failure = null;
            try {
                if (connection == null) {
                    connection = new Connection(clients, () -> {}, null);
                }
                head = read(
                        connection,
                        System.nanoTime() + clients.settings().timeout().toNanos());
            } catch (Throwable e) {
                failure = KafkaErrors.isAccess(e)
                        ? new KafkaException(KafkaErrors.text(e, clients.settings(), AclOperation.READ), e)
                        : e;
                close(connection);
                connection = null;
            }
            if (failure == null) {
                request.complete(head);
            } else {
                request.completeExceptionally(failure);
            }
        }
    }

    /** Null if none came for long: then no more are taken on this thread. */
    private @Nullable CompletableFuture<Revision> nextRequest() {
        try {
            CompletableFuture<Revision> request = requests.poll(IDLE_SECONDS, TimeUnit.SECONDS);
            if (request != null) {
                return request;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            CompletableFuture<Revision> request = requests.poll();
            running = request != null;
            return request;
        }
    }

    private static void close(@Nullable Connection connection) {
        if (connection != null) {
            connection.close();
        }
    }

    private Revision read(Connection connection, long deadline)
            throws MalformedRecordException, TimeoutException, InterruptedException {
        Connection.AdminQuery<Map<TopicPartition, TopicBounds>> bounding =
                connection.query(admin -> TopicBounds.request(admin, List.of(partition)));
        Map<TopicPartition, TopicBounds> known = bounding.answer(remaining(deadline));
        TopicBounds bounds = known == null ? null : known.get(partition);
        if (bounds == null) {
            throw late();
        }
        connection.assign(List.of(partition));
        Revision head = Revision.ZERO;
        long from = bounds.end();
        for (long look = FIRST_LOOK; head.value() == 0 && from > bounds.beginning(); look *= FURTHER) {
            long to = from;
            from = Math.max(bounds.beginning(), to - look);
            connection.seek(partition, from);
            for (long at = from; at < to; at = connection.position(partition)) {
                for (ConsumerRecord<byte[], byte[]> record : connection.poll(partition, remaining(deadline))) {
                    TopicRecord parsed = RecordFormat.readOwn(record, null);
                    if (parsed instanceof TopicRecord.Complete || parsed instanceof TopicRecord.SnapshotEnd) {
                        head = parsed.revision();
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
        return new TimeoutException("Kafka returned no end offset of " + partition + " within "
                + clients.settings().timeout().toSeconds() + " s");
    }
}
