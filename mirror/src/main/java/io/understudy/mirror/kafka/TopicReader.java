package io.understudy.mirror.kafka;

import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;

/** Reads committed records of single partitions, each to its current end. */
final class TopicReader {

    private static final Duration POLL = Duration.ofMillis(200);

    private final Supplier<? extends org.apache.kafka.clients.consumer.Consumer<byte[], byte[]>> consumers;
    private final KafkaSettings settings;
    private final Duration timeout;

    TopicReader(KafkaClients clients) {
        this(clients::consumer, clients.settings());
    }

    TopicReader(
            Supplier<? extends org.apache.kafka.clients.consumer.Consumer<byte[], byte[]>> consumers,
            KafkaSettings settings) {
        this.consumers = consumers;
        this.settings = settings;
        this.timeout = settings.timeout();
    }

    /** Offsets of the first record, and after the last committed one. */
    record Extent(long begin, long end) {}

    /**
     * Reads all records from {@code from} to the current end.
     *
     * @throws SinkException.Unavailable no record arrived within the timeout
     */
    Extent read(TopicPartition partition, long from, Each each) {
        return read(partition, from, 0, each);
    }

    /**
     * Does the same once transactions before the offset {@code end} are readable. Kafka confirms a transaction before
     * it ends it in each partition.
     */
    Extent read(TopicPartition partition, long from, long end, Each each) {
        return readWhile(partition, from, end, record -> {
            each.accept(record);
            return true;
        });
    }

    /** Receives a record. */
    interface Each {
        /**
         * Takes the next record.
         *
         * @throws MalformedRecordException a mirror of another format wrote it: the read fails as refused
         */
        void accept(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException;
    }

    private interface Condition {
        boolean test(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException;
    }

    /** Whether there is any committed record. */
    boolean hasRecords(TopicPartition partition) {
        AtomicBoolean found = new AtomicBoolean();
        var unused = readWhile(partition, 0, 0, record -> {
            found.set(true);
            return false;
        });
        return found.get();
    }

    private Extent readWhile(TopicPartition partition, long from, long atLeast, Condition continues) {
        String doing = "reading partition " + partition;
        try (var consumer = consumers.get()) {
            List<TopicPartition> only = List.of(partition);
            consumer.assign(only);
            long began = System.nanoTime();
            long end = only(consumer.endOffsets(only, timeout));
            while (end < atLeast) {
                if (System.nanoTime() - began > timeout.toNanos()) {
                    throw new SinkException.Unavailable(
                            doing + " failed: an open transaction hides records from offset " + end + " on", null);
                }
                // Waits for records beyond the end, instead of requesting it again and again.
                consumer.seek(partition, end);
                var unused = consumer.poll(POLL);
                end = only(consumer.endOffsets(only, timeout));
            }
            Extent extent = new Extent(only(consumer.beginningOffsets(only, timeout)), end);
            consumer.seek(partition, Math.max(from, extent.begin()));
            // Records of aborted transactions are passed without being returned.
            long passed = -1;
            long progressNanos = System.nanoTime();
            long next;
            while ((next = consumer.position(partition, timeout)) < extent.end()) {
                if (next > passed) {
                    passed = next;
                    progressNanos = System.nanoTime();
                } else if (System.nanoTime() - progressNanos > timeout.toNanos()) {
                    throw new SinkException.Unavailable(
                            doing + " failed: no record within " + timeout.toMillis() + " ms", null);
                }
                var records = consumer.poll(POLL);
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    if (!continues.test(record)) {
                        return extent;
                    }
                }
            }
            return extent;
        } catch (MalformedRecordException e) {
            throw new SinkException.Refused(e.getMessage(), e);
        } catch (KafkaException e) {
            throw KafkaFailures.explained(doing, AclOperation.READ, settings, e);
        }
    }

    private static long only(Map<TopicPartition, Long> offsets) {
        return offsets.values().iterator().next();
    }
}
