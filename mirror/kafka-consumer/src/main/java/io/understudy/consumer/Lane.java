package io.understudy.consumer;

import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.MirrorRecord.Kind;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** One partition of the change topic, from mark to mark. Repeated records are dropped; missing ones are detected. */
final class Lane {

    /** Memory of a record besides key and value. */
    private static final long OBJECT_BYTES = 256;

    /**
     * What is between two marks.
     *
     * @param previous revision of the first mark
     * @param revision of the second mark
     * @param next offset after the second mark
     */
    record Section(
            long previous,
            long revision,
            long next,
            List<MirrorRecord> changes,
            @Nullable Instant asOf) {}

    private final ArrayDeque<Section> closed = new ArrayDeque<>();
    private List<MirrorRecord> open = new ArrayList<>();
    private long bytes;
    /** Revision of the last mark, and the offset after it. */
    private long mark;

    private long next;
    /** Timestamp of the last mark; {@link Long#MIN_VALUE} if unknown. */
    private long markMillis;

    Lane(long mark, long next, long markMillis) {
        this.mark = mark;
        this.next = next;
        this.markMillis = markMillis;
    }

    /**
     * Accepts the next record.
     *
     * @return whether it is a mark without news
     */
    boolean accept(MirrorRecord record) throws RestartException {
        return switch (record.kind()) {
            case COMMIT -> {
                change(record);
                yield false;
            }
            case COMPLETE -> complete(record);
            case SNAPSHOT_BEGIN, SNAPSHOT_END, SNAPSHOT -> {
                boolean begins =
                        record.kind() == Kind.SNAPSHOT_BEGIN && record.source().timestamp() > markMillis;
                if (record.revision() > mark || begins) {
                    throw new RestartException("mirror rewrote the state at revision " + record.revision());
                }
                yield false;
            }
        };
    }

    private void change(MirrorRecord record) {
        if (record.revision() <= mark) {
            return;
        }
        if (!open.isEmpty()) {
            MirrorRecord last = open.get(open.size() - 1);
            if (record.revision() < last.revision()
                    || (record.revision() == last.revision() && record.index() <= last.index())) {
                return;
            }
        }
        open.add(record);
        bytes += bytes(record);
    }

    private static long bytes(MirrorRecord record) {
        ConsumerRecord<byte[], byte[]> source = record.source();
        byte[] value = source.value();
        return OBJECT_BYTES + source.key().length + (value == null ? 0 : value.length);
    }

    private boolean complete(MirrorRecord record) throws RestartException {
        if (record.revision() < mark) {
            return false;
        }
        markMillis = Math.max(markMillis, record.source().timestamp());
        long after = record.source().offset() + 1;
        if (record.revision() == mark) {
            if (closed.isEmpty() && open.isEmpty()) {
                next = after;
                return true;
            }
            return false;
        }
        if (record.previous() != mark || record.records() != open.size()) {
            throw new RestartException(
                    "records are missing before offset " + record.source().offset() + " of "
                            + record.source().topic() + "-" + record.source().partition() + ": " + open.size() + " of "
                            + record.records() + " between revisions " + mark + " and " + record.revision());
        }
        closed.add(new Section(mark, record.revision(), after, open, record.asOf()));
        mark = record.revision();
        open = new ArrayList<>();
        return false;
    }

    @Nullable Section head() {
        return closed.peekFirst();
    }

    void take() {
        Section taken = closed.removeFirst();
        next = taken.next();
        for (MirrorRecord each : taken.changes()) {
            bytes -= bytes(each);
        }
    }

    /** Revision of the last mark that was read. */
    long mark() {
        return mark;
    }

    /** Offset after the last mark that was taken. */
    long next() {
        return next;
    }

    /** Memory of what is held. */
    long bytes() {
        return bytes;
    }
}
