package io.understudy.consumer;

import io.understudy.consumer.format.HoleException;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.MirrorRecord.Kind;
import io.understudy.consumer.format.SectionAssembly;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Converts the sections of the change topic to events with positions.
 *
 * <p>Invariant KC1: commits are whole, in order and once; missing records restart from the state.
 */
final class CommitAssembly<K, V> {

    /** Memory of a record besides key and value. */
    private static final long OBJECT_BYTES = 256;

    private static final Comparator<MirrorRecord> ORDER =
            Comparator.comparingLong(MirrorRecord::revision).thenComparingInt(MirrorRecord::index);

    private final SectionAssembly<MirrorRecord> sections;
    private final int partitions;
    private final ConsumerOptions<K, V> options;
    private Position position;

    /** @param position up to which commits were returned; its mark is the highest of the starts */
    CommitAssembly(List<SectionAssembly.Start> starts, Position position, ConsumerOptions<K, V> options) {
        this.sections = new SectionAssembly<>(starts, ORDER);
        this.partitions = starts.size();
        this.position = position;
        this.options = options;
    }

    Position position() {
        return position;
    }

    /** Whether that partition can wait for the others. */
    boolean isAhead(int partition) {
        return sections.isAhead(partition);
    }

    /** Accepts the next record of a partition, and appends what it completes. */
    void accept(MirrorRecord record, List<Event<K, V>> events) throws RestartException {
        ConsumerRecord<byte[], byte[]> source = record.source();
        if (record.generation() < position.generation()) {
            return;
        }
        if (record.generation() > position.generation()) {
            throw new RestartException("generation " + record.generation() + " follows " + position.generation());
        }
        if (record.cluster() != position.cluster()) {
            throw new MirrorConsumerException("cluster ID mismatch at offset " + source.offset() + " of "
                    + source.topic() + ": found " + Long.toHexString(record.cluster()) + ", expected "
                    + Long.toHexString(position.cluster()));
        }
        try {
            assemble(record, source, events);
        } catch (HoleException e) {
            throw new RestartException("at offset " + source.offset() + " of " + source.topic() + "-"
                    + source.partition() + ": " + e.getMessage());
        }
    }

    private void assemble(MirrorRecord record, ConsumerRecord<byte[], byte[]> source, List<Event<K, V>> events)
            throws HoleException, RestartException {
        int partition = source.partition();
        switch (record.kind()) {
            case COMMIT -> {
                sections.change(partition, record.revision(), record.index(), record.size(), record, bytes(source));
                if (sections.bytes() > options.maxCommitBytes()) {
                    // The state topic has what they changed.
                    throw new RestartException("unfinished commits at revision " + record.revision() + " have "
                            + sections.bytes() + " bytes; allowed: " + options.maxCommitBytes()
                            + " (maxCommitBytes)");
                }
            }
            case SNAPSHOT_BEGIN, SNAPSHOT_END, SNAPSHOT ->
                sections.snapshot(
                        partition, record.kind() == Kind.SNAPSHOT_BEGIN, record.revision(), source.timestamp());
            case COMPLETE -> {
                boolean isIdle = sections.mark(
                        partition,
                        new SectionAssembly.Mark(
                                record.revision(),
                                record.previous(),
                                record.records(),
                                record.asOf(),
                                source.timestamp(),
                                source.offset() + 1));
                int count = events.size();
                for (var section = sections.next(); section != null; section = sections.next()) {
                    append(section, events);
                }
                boolean isEmpty = isIdle && events.size() == count && position.revision() == record.revision();
                if (isEmpty && partition == partitions - 1) {
                    position = position(record.revision());
                    events.add(new Event.Progress<>(position, record.asOf()));
                }
            }
        }
    }

    private static long bytes(ConsumerRecord<byte[], byte[]> source) {
        byte[] value = source.value();
        return OBJECT_BYTES + source.key().length + (value == null ? 0 : value.length);
    }

    private void append(SectionAssembly.Section<MirrorRecord> section, List<Event<K, V>> events) {
        Position before = position;
        position = position(section.revision());
        int count = events.size();
        List<MirrorRecord> records = section.changes().stream()
                .filter(record -> record.revision() > before.revision())
                .toList();
        int from = 0;
        while (from < records.size()) {
            long revision = records.get(from).revision();
            List<Change<K, V>> changes = new ArrayList<>();
            while (from < records.size() && records.get(from).revision() == revision) {
                changes.add(change(records.get(from), options));
                from++;
            }
            boolean isLast = from == records.size();
            events.add(new Event.Commit<>(revision, List.copyOf(changes), isLast ? position : before.at(revision)));
        }
        if (events.size() == count || section.asOf() != null) {
            events.add(new Event.Progress<>(position, section.asOf()));
        }
    }

    private Position position(long mark) {
        return new Position(
                position.cluster(),
                position.generation(),
                position.topicId(),
                Math.max(mark, position.revision()),
                mark,
                sections.offsets());
    }

    static <K, V> Change<K, V> change(MirrorRecord record, ConsumerOptions<K, V> options) {
        K key = deserialize(options.keys(), record, record.source().key());
        if (record.isDelete()) {
            return new Change.Delete<>(key);
        }
        return new Change.Put<>(
                key,
                deserialize(options.values(), record, record.source().value()),
                record.createRevision(),
                record.revision(),
                record.version(),
                record.lease());
    }

    private static <T> T deserialize(Deserializer<T> deserializer, MirrorRecord record, byte @Nullable [] bytes) {
        try {
            return deserializer.deserialize(
                    record.source().topic(), record.source().headers(), bytes);
        } catch (RuntimeException e) {
            throw new MirrorConsumerException(
                    "cannot convert the record at offset " + record.source().offset() + " of "
                            + record.source().topic() + "-" + record.source().partition(),
                    e);
        }
    }
}
