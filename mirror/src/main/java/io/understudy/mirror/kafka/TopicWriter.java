package io.understudy.mirror.kafka;

import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * Writes records to one partition in order, and knows up to where they were acknowledged. One thread, apart from
 * {@link #acknowledged}.
 */
final class TopicWriter implements AutoCloseable {

    private final Producer<byte[], byte[]> producer;
    private final Duration timeout;

    /** The last record given to the producer, until it is known to be acknowledged. */
    private @Nullable Future<RecordMetadata> last;

    private volatile Revision acknowledged = Revision.ZERO;
    /** Why the first record that was not taken was not; set by the producer's thread. */
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    TopicWriter(Producer<byte[], byte[]> producer, Duration timeout) {
        this.producer = producer;
        this.timeout = timeout;
    }

    /**
     * Sends one record, waiting while the producer's buffer is full.
     *
     * @param completes the revision that is complete once the record is acknowledged
     * @throws SinkException this record or an earlier one was not taken
     */
    void send(ProducerRecord<byte[], byte[]> record, @Nullable Revision completes) {
        requireHealthy(record.topic());
        try {
            last = producer.send(record, (metadata, failed) -> {
                if (failed != null) {
                    failure.compareAndSet(null, failed);
                } else if (completes != null && failure.get() == null) {
                    acknowledged = completes;
                }
            });
        } catch (KafkaException e) {
            throw KafkaFailures.explained("writing to topic " + record.topic(), e);
        }
    }

    /**
     * Waits until all records sent are acknowledged: those of one partition are in order, so the last one tells.
     *
     * @throws SinkException not within the timeout, or one of them was not taken
     */
    void awaitAcknowledgement(String topic) {
        Future<RecordMetadata> awaited = last;
        if (awaited != null) {
            try {
                RecordMetadata unused = awaited.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
                last = null;
            } catch (ExecutionException | TimeoutException | InterruptedException e) {
                throw KafkaFailures.explained("writing to topic " + topic, e);
            }
        }
        requireHealthy(topic);
    }

    /** Up to where all is acknowledged, as told by the records; any thread. */
    Revision acknowledged() {
        return acknowledged;
    }

    /** Drops what is not yet acknowledged. */
    @Override
    public void close() {
        producer.close(Duration.ZERO);
    }

    private void requireHealthy(String topic) {
        Exception failed = failure.get();
        if (failed != null) {
            throw KafkaFailures.explained("writing to topic " + topic, failed);
        }
    }
}
