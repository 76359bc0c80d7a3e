package io.understudy.consumer;

import io.understudy.consumer.format.MirrorRecord;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Assembles whole commits from the partitions of the change topic: a section is held until every partition has its mark.
 *
 * <p>Invariant KC1: commits are whole, in order and once; missing records restart from the state.
 */
final class CommitAssembly<K, V> {

    private static final Comparator<MirrorRecord> ORDER =
            Comparator.comparingLong(MirrorRecord::revision).thenComparingInt(MirrorRecord::index);

    private final List<Lane> lanes;
    private final ConsumerOptions<K, V> options;
    private Position position;

    /** @param position up to which commits were returned; its mark is the highest of the lanes' */
    CommitAssembly(List<Lane> lanes, Position position, ConsumerOptions<K, V> options) {
        this.lanes = List.copyOf(lanes);
        this.position = position;
        this.options = options;
    }

    Position position() {
        return position;
    }

    /** Whether that partition can wait for the others. */
    boolean isAhead(int partition) {
        return lanes.get(partition).head() != null;
    }

    /** Accepts the next record of a partition, and appends what it completes. */
    void accept(MirrorRecord record, List<Event<K, V>> events) throws RestartException {
        if (record.generation() < position.generation()) {
            return;
        }
        if (record.generation() > position.generation()) {
            throw new RestartException("generation " + record.generation() + " follows " + position.generation());
        }
        if (record.cluster() != position.cluster()) {
            throw new MirrorConsumerException("cluster ID mismatch at offset "
                    + record.source().offset() + " of " + record.source().topic() + ": found "
                    + Long.toHexString(record.cluster()) + ", expected " + Long.toHexString(position.cluster()));
        }
        int partition = record.source().partition();
        boolean isIdle = lanes.get(partition).accept(record);
        long held = lanes.stream().mapToLong(Lane::bytes).sum();
        if (held > options.maxCommitBytes()) {
            throw new MirrorConsumerException("unfinished commits at revision " + record.revision() + " have " + held
                    + " bytes; allowed: " + options.maxCommitBytes() + " (maxCommitBytes)");
        }
        boolean isEmpty = true;
        while (take(events)) {
            isEmpty = false;
        }
        if (isEmpty && isIdle && partition == lanes.size() - 1 && position.revision() == record.revision()) {
            position = position(record.revision());
            events.add(new Event.Progress<>(position, record.asOf()));
        }
    }

    private boolean take(List<Event<K, V>> events) throws RestartException {
        for (Lane lane : lanes) {
            Lane.Section head = lane.head();
            while (head != null && head.revision() <= position.mark()) {
                lane.take();
                head = lane.head();
            }
            if (head == null) {
                return false;
            }
        }
        Lane.Section first = Objects.requireNonNull(lanes.get(0).head());
        List<MirrorRecord> records = new ArrayList<>();
        Instant asOf = null;
        for (Lane lane : lanes) {
            Lane.Section head = Objects.requireNonNull(lane.head());
            if (head.previous() != position.mark() || head.revision() != first.revision()) {
                throw new RestartException("marks of the partitions differ after revision " + position.mark());
            }
            records.addAll(head.changes());
            asOf = head.asOf() == null ? asOf : head.asOf();
        }
        records.sort(ORDER);
        long returned = position.revision();
        Position before = position;
        lanes.forEach(Lane::take);
        position = position(first.revision());
        int count = events.size();
        int from = 0;
        while (from < records.size()) {
            long revision = records.get(from).revision();
            int to = from;
            while (to < records.size() && records.get(to).revision() == revision) {
                to++;
            }
            List<MirrorRecord> commit = records.subList(from, to);
            if (commit.size() != commit.get(0).size() || revision > first.revision()) {
                throw new RestartException("commit at revision " + revision + " is incomplete: " + commit.size()
                        + " of " + commit.get(0).size() + " changes");
            }
            from = to;
            if (revision > returned) {
                boolean isLast = to == records.size();
                events.add(commit(revision, commit, isLast ? position : before.at(revision)));
            }
        }
        if (events.size() == count || asOf != null) {
            events.add(new Event.Progress<>(position, asOf));
        }
        return true;
    }

    private Position position(long mark) {
        return new Position(
                position.cluster(),
                position.generation(),
                position.topicId(),
                Math.max(mark, position.revision()),
                mark,
                lanes.stream().map(Lane::next).toList());
    }

    private Event<K, V> commit(long revision, List<MirrorRecord> records, Position at) {
        List<Change<K, V>> changes = new ArrayList<>();
        for (MirrorRecord record : records) {
            changes.add(change(record, options));
        }
        return new Event.Commit<>(revision, List.copyOf(changes), at);
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
