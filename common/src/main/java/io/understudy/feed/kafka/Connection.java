package io.understudy.feed.kafka;

import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.understudy.feed.kafka.KafkaFeedSource.KafkaFeedMetrics;
import io.understudy.kafka.KafkaClients;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * A feed's own clients. Kafka's consumer is one thread's, the feed's; only {@link #wake} may be called from another.
 * What Kafka throws is thrown, but for interrupts, which are {@link InterruptedException}s here.
 */
final class Connection implements AutoCloseable {

    private static final Duration CLOSING = Duration.ofMillis(500);
    /** Timeout for a position, which is known unless the partition's leader has just changed. */
    private static final Duration POSITION = Duration.ofSeconds(1);

    private final Consumer<byte[], byte[]> consumer;
    private final Admin admin;
    private final @Nullable KafkaClientMetrics exported;
    private final Runnable answered;
    private volatile @Nullable KafkaFuture<?> waiting;
    private volatile boolean woken;

    /**
     * Connects to nothing yet.
     *
     * @param answered called whenever Kafka has answered something
     * @param metrics exports those of the consumer; null for none
     * @throws KafkaException the settings are refused, or no broker's name resolves
     */
    Connection(KafkaClients clients, Runnable answered, @Nullable KafkaFeedMetrics metrics) {
        this.answered = answered;
        consumer = clients.consumer();
        try {
            admin = clients.admin();
        } catch (RuntimeException e) {
            consumer.close();
            throw e;
        }
        exported = metrics == null ? null : metrics.export(consumer);
    }

    /** Uses existing clients, and closes them. */
    Connection(Consumer<byte[], byte[]> consumer, Admin admin) {
        this.answered = () -> {};
        this.consumer = consumer;
        this.admin = admin;
        this.exported = null;
    }

    /** Reads only these partitions from now on; each must be {@link #seek sought} in. */
    void assign(Collection<TopicPartition> partitions) {
        // Kafka keeps a partition paused that is assigned again.
        consumer.resume(consumer.paused());
        consumer.assign(partitions);
    }

    void seek(TopicPartition partition, long offset) {
        consumer.seek(partition, offset);
    }

    /** Reads nothing of some partitions for now, and of all others again. */
    void pauseOnly(Set<TopicPartition> partitions) {
        if (!consumer.paused().equals(partitions)) {
            consumer.resume(consumer.assignment());
            consumer.pause(partitions);
        }
    }

    /** The next records, none if none came in time. */
    ConsumerRecords<byte[], byte[]> poll(Duration timeout) throws InterruptedException {
        try {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(timeout);
            if (!records.isEmpty()) {
                answered.run();
            }
            return records;
        } catch (WakeupException e) {
            return ConsumerRecords.empty();
        } catch (InterruptException e) {
            throw interrupted(e);
        }
    }

    /** The next records of the only partition assigned. */
    List<ConsumerRecord<byte[], byte[]>> poll(TopicPartition partition, Duration timeout) throws InterruptedException {
        return poll(timeout).records(partition);
    }

    /** Offset of the next record to read, after aborted records and transaction markers. */
    long position(TopicPartition partition) throws InterruptedException {
        try {
            return consumer.position(partition, POSITION);
        } catch (InterruptException e) {
            throw interrupted(e);
        }
    }

    /** A query of Kafka that may take many turns. */
    <T> AdminQuery<T> query(Function<Admin, KafkaFuture<T>> call) {
        return new AdminQuery<>(call);
    }

    /** Description of a topic. */
    AdminQuery<TopicDescription> describing(String topic) {
        return query(admin -> Objects.requireNonNull(
                admin.describeTopics(List.of(topic)).topicNameValues().get(topic)));
    }

    /** Ends waits, now and in future, of the feed's thread. */
    void wake() {
        woken = true;
        consumer.wakeup();
        KafkaFuture<?> future = waiting;
        if (future != null) {
            future.cancel(false);
        }
    }

    @Override
    public void close() {
        if (exported != null) {
            exported.close();
        }
        try {
            consumer.close(CloseOptions.timeout(CLOSING));
        } finally {
            // Also if that was interrupted: it would run for ever.
            admin.close(CLOSING);
        }
    }

    private static InterruptedException interrupted(InterruptException e) {
        // Kafka sets the thread's flag as well.
        Thread.interrupted();
        InterruptedException interrupted = new InterruptedException(e.getMessage());
        interrupted.initCause(e);
        return interrupted;
    }

    /** Repeated until it is answered. */
    final class AdminQuery<T> {

        private final Function<Admin, KafkaFuture<T>> call;
        private @Nullable KafkaFuture<T> pending;

        private AdminQuery(Function<Admin, KafkaFuture<T>> call) {
            this.call = call;
        }

        /** Ignores the answer to what is pending: the next call requests again. */
        void forget() {
            pending = null;
        }

        /**
         * The answer, or null if it did not come in time: then wait again.
         *
         * @throws KafkaException Kafka's failure, or the timeout of its clients; the next call requests again
         */
        @Nullable T answer(Duration timeout) throws InterruptedException {
            KafkaFuture<T> future = pending;
            if (future == null) {
                future = call.apply(admin);
                pending = future;
            }
            waiting = future;
            try {
                if (woken) {
                    return null;
                }
                T answer = future.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
                pending = null;
                answered.run();
                return answer;
            } catch (TimeoutException | CancellationException e) {
                return null;
            } catch (ExecutionException e) {
                pending = null;
                throw e.getCause() instanceof KafkaException failure ? failure : new KafkaException(e.getCause());
            } finally {
                waiting = null;
            }
        }
    }

    /**
     * The offsets of a partition for readers of committed records.
     *
     * @param beginning first offset
     * @param end offset after the last transaction that is over
     */
    record TopicBounds(long beginning, long end) {

        static KafkaFuture<Map<TopicPartition, TopicBounds>> request(
                Admin admin, Collection<TopicPartition> partitions) {
            ListOffsetsOptions committed = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED);
            var beginnings = admin.listOffsets(all(partitions, OffsetSpec.earliest()), committed)
                    .all();
            var ends = admin.listOffsets(all(partitions, OffsetSpec.latest()), committed)
                    .all();
            return KafkaFuture.allOf(beginnings, ends).thenApply(both -> between(now(beginnings), now(ends)));
        }

        /** The result of a completed future. */
        private static <T> T now(KafkaFuture<T> answered) {
            try {
                return answered.get();
            } catch (InterruptedException | ExecutionException e) {
                throw new KafkaException(e);
            }
        }

        private static Map<TopicPartition, OffsetSpec> all(Collection<TopicPartition> partitions, OffsetSpec spec) {
            return partitions.stream().collect(Collectors.toMap(partition -> partition, partition -> spec));
        }

        private static Map<TopicPartition, TopicBounds> between(
                Map<TopicPartition, ListOffsetsResultInfo> beginnings,
                Map<TopicPartition, ListOffsetsResultInfo> ends) {
            Map<TopicPartition, TopicBounds> bounds = new HashMap<>();
            ends.forEach((partition, end) -> {
                ListOffsetsResultInfo beginning = beginnings.get(partition);
                if (beginning == null) {
                    throw new IllegalStateException(
                            "Kafka returned the end offset of " + partition + " but not its beginning");
                }
                bounds.put(partition, new TopicBounds(beginning.offset(), end.offset()));
            });
            return bounds;
        }
    }

    /**
     * Finds out why no records arrive. Kafka's consumer does not report it: it waits alike for an unavailable broker and
     * for a deleted topic, and would continue in another topic of the same name. Owned by the feed's thread.
     */
    static final class TopicWatch {

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
}
