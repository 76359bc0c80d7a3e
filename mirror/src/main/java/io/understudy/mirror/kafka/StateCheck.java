package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.consumer.format.StateDigest;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.mirror.scope.MirrorScope;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether stray records have replaced keys of the state topic. {@link Offsets} detects records of other writers
 * without a read; only then is the topic read. One thread.
 *
 * <p>Invariant M50: a stray record or tombstone on a key of the state topic is detected and repaired, before or after
 * compaction, and no reader gets a state without that key.
 */
final class StateCheck {

    /** Checks take a tenth of the mirror's time at most. */
    private static final long SHARE = 10;

    private static final long MIN_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final TopicReader reader;
    private final KafkaSinkOptions options;
    private final MirrorScope scope;
    private final StrayRecords strays;
    private final TopicPartition partition;
    private long nextNanos = System.nanoTime();

    StateCheck(TopicReader reader, KafkaSinkOptions options, MirrorScope scope, StrayRecords strays) {
        this.reader = reader;
        this.options = options;
        this.scope = scope;
        this.strays = strays;
        this.partition = new TopicPartition(options.stateTopic(), 0);
    }

    /**
     * Returns whether the topic holds every key, as far as a check is due.
     *
     * @param writer without an open transaction
     * @param expected digest of the state; null if unknown, so that any stray record in the scope counts
     */
    boolean isWhole(TopicWriter writer, @Nullable StateDigest expected) {
        Offsets offsets = writer.offsets();
        if (offsets.uncheckedFrom() < 0 || System.nanoTime() - nextNanos < 0) {
            return true;
        }
        long beganNanos = System.nanoTime();
        AtomicBoolean isFound = new AtomicBoolean();
        AtomicBoolean inScope = new AtomicBoolean();
        TopicReader.Extent extent = reader.read(partition, offsets.uncheckedFrom(), record -> {
            if (RecordFormat.readOwn(record, strays) == null) {
                isFound.set(true);
                inScope.compareAndSet(false, record.key() != null && scope.contains(ByteString.copyFrom(record.key())));
            }
        });
        // Without a stray record, the other writer's has valid headers.
        boolean isExplained = !inScope.get() && (isFound.get() || expected == null);
        boolean isWhole = isExplained || (expected != null && hasKeys(expected, writer));
        if (isWhole) {
            offsets.checked(extent.end());
        }
        nextNanos = System.nanoTime() + Math.max(MIN_PAUSE_NANOS, SHARE * (System.nanoTime() - beganNanos));
        return isWhole;
    }

    private boolean hasKeys(StateDigest expected, TopicWriter writer) {
        return LastRecords.read(
                        reader, options, writer.generation(), writer.offsets().endOfState())
                .digest()
                .equals(expected);
    }
}
