package io.understudy.bench.kafka;

import com.google.protobuf.ByteString;
import io.understudy.bench.BenchException;
import io.understudy.bench.relay.SourceLoad;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/** A consumer of the change topic, from its beginning on, that reads what is committed and notes when. */
final class TopicView implements AutoCloseable {

    /** How far it is. */
    private record Mark(Revision revision, long nanos) {}

    private final Consumer<byte[], byte[]> consumer;
    private final Thread thread = new Thread(this::read, "bench-consumer");
    private final ConcurrentMap<Integer, Long> seen = new ConcurrentHashMap<>();
    private volatile boolean closing;
    private volatile @Nullable Exception failure;
    private final AtomicReferenceArray<@Nullable Mark> marks;
    /** When the first change came; 0 before. */
    private volatile long firstNanos;

    private final boolean noting;

    /**
     * Starts to read.
     *
     * @param noting whether to keep when each key was read
     */
    TopicView(String bootstrapServers, int partitions, boolean noting) {
        this.noting = noting;
        this.marks = new AtomicReferenceArray<>(partitions);
        consumer = new KafkaClients(KafkaSettings.of(bootstrapServers), "understudy-bench").consumer();
        List<TopicPartition> all = IntStream.range(0, partitions)
                .mapToObj(number -> new TopicPartition(Servers.TOPIC, number))
                .toList();
        consumer.assign(all);
        consumer.seekToBeginning(all);
        thread.setDaemon(true);
        thread.start();
    }

    private void read() {
        try (consumer) {
            while (!closing) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    note(record);
                }
            }
        } catch (WakeupException e) {
            // Closed.
        } catch (KafkaException | MalformedRecordException e) {
            failure = e;
        }
    }

    private void note(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        long now = System.nanoTime();
        if (record.key().length == 0) {
            TopicRecord mark = RecordFormat.read(record);
            Mark last = marks.get(record.partition());
            boolean isNew = last == null || mark.revision().isAfter(last.revision());
            if (isNew && !(mark instanceof TopicRecord.SnapshotBegin)) {
                marks.set(record.partition(), new Mark(mark.revision(), now));
            }
            return;
        }
        if (firstNanos == 0) {
            firstNanos = now;
        }
        if (noting) {
            seen.put(SourceLoad.number(ByteString.copyFrom(record.key())), now);
        }
    }

    /** From here on the next change is the first. */
    void begin() {
        firstNanos = 0;
    }

    /**
     * Waits until all up to a revision can be read.
     *
     * @return nanoseconds from the first change to there
     */
    long awaitComplete(Revision revision, Duration patience) {
        long reached = Waiting.until(
                patience,
                () -> {
                    if (failure != null) {
                        throw new BenchException("cannot read the topic", failure);
                    }
                    return reached(revision);
                },
                () -> new BenchException(
                        "the topic was not complete up to revision " + revision + " within " + patience.toSeconds()
                                + " s",
                        failure));
        return reached - firstNanos;
    }

    /** When the last partition was complete up to a revision. */
    private Optional<Long> reached(Revision revision) {
        long latest = 0;
        for (int i = 0; i < marks.length(); i++) {
            Mark mark = marks.get(i);
            if (mark == null || mark.revision().isBefore(revision)) {
                return Optional.empty();
            }
            latest = Math.max(latest, mark.nanos());
        }
        return Optional.of(latest);
    }

    /** When each key was read, by its number. */
    ConcurrentMap<Integer, Long> seen() {
        return seen;
    }

    @Override
    public void close() {
        closing = true;
        consumer.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
