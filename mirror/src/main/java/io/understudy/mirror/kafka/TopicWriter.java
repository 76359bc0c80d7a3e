package io.understudy.mirror.kafka;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.understudy.consumer.format.StateDigest;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.kafka.KafkaTopics.RecordLimit;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.DaemonThreads;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongFunction;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Writes transactions to the topics of a mirror. One thread. After an exception it is only closed: the next writer
 * determines the transaction's outcome.
 */
final class TopicWriter implements AutoCloseable {

    /** Timeout for aborting the open transaction. */
    private static final Duration CLOSING = Duration.ofSeconds(2);

    /**
     * Bytes after which acknowledgements are awaited. Kafka's delivery timeout includes the time in the producer's
     * buffer, so a full one would expire behind a slow connection.
     */
    private static final long MAX_UNACKNOWLEDGED_BYTES = 4 << 20;

    /** Approximate header size of a record. */
    private static final int HEADER_BYTES = 256;

    private final Producer<byte[], byte[]> producer;
    private final KafkaSinkOptions options;
    private final RecordLimit limit;
    private final TopicOrigin origin;
    private final Offsets offsets;
    private final Fencing fencing;
    private final TransactionTimeout timeout;
    private final String doing;
    /** Records since the last mark: of each partition of the changes, then of the state. */
    private final long[] sinceMark;
    /** Waits for acknowledgements: {@link Producer#flush} has no timeout, and ends when the producer is closed. */
    private final ExecutorService flushes = Executors.newSingleThreadExecutor(DaemonThreads.named("kafka-flush"));

    private @Nullable KafkaClientMetrics exported;
    private boolean inTransaction;
    private boolean failed;
    private long beganNanos;
    /** Size of the open transaction. */
    private long records;

    private long bytes;
    /** Bytes of the open transaction sent since the last wait for acknowledgements. */
    private long unacknowledgedBytes;

    /** Creates a writer with a producer after {@code initTransactions}. */
    TopicWriter(
            Producer<byte[], byte[]> producer,
            KafkaSinkOptions options,
            RecordLimit limit,
            TopicOrigin origin,
            Offsets offsets,
            Fencing fencing,
            TransactionTimeout timeout) {
        this.producer = producer;
        this.options = options;
        this.limit = limit;
        this.origin = origin;
        this.offsets = offsets;
        this.fencing = fencing;
        this.timeout = timeout;
        this.doing = "writing to topic " + options.topic();
        this.sinceMark = new long[options.partitions() + 1];
    }

    /** Verifies that a change can be written, see {@link RecordLimit}. */
    void requireFits(Change change, Revision revision) {
        limit.requireFits(change.key(), options.format().size(change.key(), change.bytes()), revision);
    }

    /**
     * Sends the records of one key, waiting while the producer's buffer is full.
     *
     * @return bytes of key and value
     * @throws SinkException.Refused the record is too large
     */
    long write(TopicRecord content) {
        ProducerRecord<byte[], byte[]> state = RecordFormat.write(options.stateTopic(), 0, content, origin);
        long bytes = (long) state.key().length + (state.value() == null ? 0 : state.value().length);
        if (content instanceof TopicRecord.Found found) {
            limit.requireFits(found.entry().key(), bytes, found.entry().modRevision());
        }
        int partition = partitionOf(state.key());
        send(RecordFormat.ofChanges(options.topic(), partition, state, content, origin));
        send(state);
        sinceMark[partition]++;
        sinceMark[options.partitions()]++;
        return bytes;
    }

    /**
     * Sends a mark with the number of records since the last one to every partition.
     *
     * @param digest digest of the state at the mark; null if unknown
     */
    void mark(LongFunction<TopicRecord> mark, @Nullable StateDigest digest) {
        for (int partition = 0; partition < options.partitions(); partition++) {
            send(RecordFormat.write(options.topic(), partition, mark.apply(sinceMark[partition]), origin));
            sinceMark[partition] = 0;
        }
        TopicRecord ofState = mark.apply(sinceMark[options.partitions()]);
        send(
                digest == null
                        ? RecordFormat.write(options.stateTopic(), 0, ofState, origin)
                        : RecordFormat.write(options.stateTopic(), ofState, origin, digest));
        sinceMark[options.partitions()] = 0;
    }

    /** Returns a checkpoint with the known state of the topics. */
    CheckpointTopic.Stored stored(Checkpoint checkpoint, @Nullable StateDigest state) {
        return new CheckpointTopic.Stored(
                checkpoint,
                offsets.footprint(),
                origin.generation(),
                state,
                offsets.uncheckedFrom(),
                options.transactionalId(),
                origin.format().number());
    }

    /** Returns the generation of the written records. */
    long generation() {
        return origin.generation();
    }

    /** Returns the offsets of the written records. */
    Offsets offsets() {
        return offsets;
    }

    /** Sends one record. Waits for acknowledgements after each part of a large transaction. */
    void send(ProducerRecord<byte[], byte[]> record) {
        requireNoFault();
        try {
            if (!inTransaction) {
                beganNanos = System.nanoTime();
                inTransaction = true;
                records = 0;
                bytes = 0;
                unacknowledgedBytes = 0;
                producer.beginTransaction();
            }
            var unused = producer.send(record, (metadata, failure) -> {
                if (failure == null) {
                    offsets.acknowledged(metadata);
                } else {
                    offsets.failed(failure);
                }
            });
            long size =
                    (long) record.key().length + (record.value() == null ? 0 : record.value().length) + HEADER_BYTES;
            records++;
            bytes += size;
            unacknowledgedBytes += size;
            if (unacknowledgedBytes >= MAX_UNACKNOWLEDGED_BYTES) {
                unacknowledgedBytes = 0;
                flush();
            }
        } catch (KafkaException e) {
            throw explained(e);
        }
    }

    /**
     * Commits the sent records, if all were acknowledged.
     *
     * @return how long the transaction was open
     * @throws SinkException the commit failed, or its outcome is unknown
     */
    Duration commit() {
        try {
            flush();
            requireNoFault();
            producer.commitTransaction();
            inTransaction = false;
            timeout.committed(records);
            offsets.committed();
            return Duration.ofNanos(System.nanoTime() - beganNanos);
        } catch (KafkaException e) {
            throw explained(e);
        }
    }

    /** Waits until each sent record is acknowledged or has failed. */
    private void flush() {
        // Records expire within the timeout, but not while the partition cannot be added to the transaction.
        Duration limit = options.kafka().timeout().multipliedBy(2);
        try {
            flushes.submit(producer::flush).get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw explained(new SinkException.Unavailable(
                    doing + " failed: no acknowledgement within " + limit.toMillis() + " ms", e));
        } catch (InterruptedException | ExecutionException e) {
            throw explained(e);
        }
    }

    private void requireNoFault() {
        Exception fault = offsets.fault();
        if (fault != null) {
            throw explained(fault);
        }
    }

    /** Exports the producer's own metrics until the writer is closed. */
    void export(MeterRegistry registry, Tags tags) {
        exported = new KafkaClientMetrics(producer, tags);
        exported.bindTo(registry);
    }

    /** Whether a transaction is open, which {@link #close} aborts unless its commit took effect unconfirmed. */
    boolean inTransaction() {
        return inTransaction;
    }

    /** Aborts the open transaction, unless Kafka failed, so that it does not block readers. */
    @Override
    public void close() {
        if (exported != null) {
            exported.close();
        }
        boolean isInterrupted = Thread.interrupted();
        try {
            producer.close(failed ? Duration.ZERO : CLOSING);
        } catch (InterruptException e) {
            isInterrupted = true;
        } finally {
            flushes.shutdown();
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private int partitionOf(byte[] key) {
        return options.partitions() == 1 ? 0 : Utils.toPositive(Utils.murmur2(key)) % options.partitions();
    }

    private SinkException explained(Exception failure) {
        failed = true;
        boolean isLate = inTransaction
                && System.nanoTime() - beganNanos >= timeout.current().toNanos();
        if (isLate && KafkaFailures.isAborted(failure)) {
            SinkException fenced = fencing.fenced(doing);
            return fenced == null ? timeout.exceeded(doing, records, bytes, failure) : fenced;
        }
        return KafkaFailures.isFenced(failure)
                ? fencing.explained(doing, failure)
                : KafkaFailures.explained(doing, AclOperation.WRITE, options.kafka(), failure);
    }
}
