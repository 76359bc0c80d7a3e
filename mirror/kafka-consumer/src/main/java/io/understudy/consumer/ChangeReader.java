package io.understudy.consumer;

import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.MirrorRecord.Kind;
import io.understudy.consumer.format.SectionAssembly;
import io.understudy.consumer.format.StrayRecords;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/** Reads the change topic from a position, or from the revision of a state. */
final class ChangeReader<K, V> {

    /** How far before the end to search first; then further and further. */
    private static final long FIRST_LOOK = 64;

    private static final int FURTHER = 16;
    /** A mirror writes a mark each second. */
    private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Topics topics;
    private final ConsumerOptions<K, V> options;
    private final StrayRecords strays;
    private final List<TopicPartition> partitions = new ArrayList<>();
    private final Uuid id;
    private final List<SectionAssembly.Start> starts = new ArrayList<>();
    private @Nullable CommitAssembly<K, V> assembly;
    private long lastRecordNanos = System.nanoTime();

    // The search of one partition.
    private long look = FIRST_LOOK;
    private @Nullable Search search;

    private static final class Search {
        final long beginning;
        final long from;
        final long end;

        SectionAssembly.@Nullable Start last;

        Search(long beginning, long from, long end) {
            this.beginning = beginning;
            this.from = from;
            this.end = end;
        }
    }

    ChangeReader(Topics topics, ConsumerOptions<K, V> options, StrayRecords strays) {
        this.topics = topics;
        this.options = options;
        this.strays = strays;
        TopicDescription topic = topics.describe(options.topic());
        id = topic.topicId();
        for (int i = 0; i < topic.partitions().size(); i++) {
            partitions.add(new TopicPartition(options.topic(), i));
        }
    }

    /** Resumes at a stored position. */
    void resume(Position position) throws RestartException {
        if (!id.equals(position.topicId())
                || partitions.size() != position.offsets().size()) {
            throw new RestartException("topic " + options.topic() + " was recreated");
        }
        topics.assign(partitions);
        List<SectionAssembly.Start> found = new ArrayList<>();
        for (int i = 0; i < partitions.size(); i++) {
            long offset = position.offsets().get(i);
            if (topics.beginning(partitions.get(i)) > offset || topics.end(partitions.get(i)) < offset) {
                throw new RestartException("topic " + options.topic() + " no longer has offset " + offset);
            }
            found.add(SectionAssembly.Start.unknown(offset, position.mark()));
        }
        begin(found, position);
    }

    /**
     * Searches for the revision of a state.
     *
     * @return its position, null if more time is needed
     */
    @Nullable Position find(long cluster, long generation, long revision) {
        while (starts.size() < partitions.size()) {
            SectionAssembly.Start start = findStart(partitions.get(starts.size()), generation, revision);
            if (start == null) {
                return null;
            }
            starts.add(start);
            search = null;
            look = FIRST_LOOK;
        }
        long mark = starts.stream().mapToLong(SectionAssembly.Start::mark).max().orElse(revision);
        Position position = new Position(
                cluster,
                generation,
                id,
                revision,
                mark,
                starts.stream().map(SectionAssembly.Start::offset).toList());
        begin(starts, position);
        return position;
    }

    private void begin(List<SectionAssembly.Start> found, Position position) {
        assembly = new CommitAssembly<>(found, position, options);
        topics.assign(partitions);
        for (int i = 0; i < partitions.size(); i++) {
            topics.seek(partitions.get(i), found.get(i).offset());
        }
    }

    /** Finds the last mark at or before the revision; what follows a mark is known to be complete. */
    private SectionAssembly.@Nullable Start findStart(TopicPartition partition, long generation, long revision) {
        Search current = search;
        if (current == null) {
            // Kafka's client warns of offsets of partitions that are not assigned.
            topics.assign(List.of(partition));
            long beginning = topics.beginning(partition);
            long end = topics.end(partition);
            current = new Search(beginning, Math.max(beginning, end - look), end);
            topics.seek(partition, current.from);
            search = current;
        }
        boolean isPast = false;
        if (current.from < current.end) {
            for (ConsumerRecord<byte[], byte[]> source : topics.poll(partition)) {
                MirrorRecord record = read(source, generation, null);
                if (record == null || record.generation() < generation) {
                    continue;
                }
                if (record.generation() > generation || record.revision() > revision) {
                    isPast = true;
                    break;
                }
                if (record.kind() == Kind.SNAPSHOT_BEGIN) {
                    current.last = null;
                } else if (record.kind() == Kind.COMPLETE || record.kind() == Kind.SNAPSHOT_END) {
                    current.last =
                            new SectionAssembly.Start(source.offset() + 1, record.revision(), source.timestamp());
                }
            }
            if (!isPast && topics.position(partition) < current.end) {
                return null;
            }
        }
        if (current.last != null) {
            return current.last;
        }
        if (current.from == current.beginning) {
            // Earlier records have expired: the next mark shows whether anything is missing.
            return SectionAssembly.Start.unknown(current.beginning, revision);
        }
        look *= FURTHER;
        search = null;
        return null;
    }

    /** Requires the partitions that have marks. A reader would wait forever for those of another. */
    private void requirePartitions(long written) {
        if (written != partitions.size()) {
            throw new MirrorConsumerException("topic " + options.topic() + " has " + partitions.size()
                    + " partitions, but its mirror writes to " + written + ". Mirror to another topic");
        }
    }

    /** Reads on, and appends what is complete. */
    void read(List<Event<K, V>> events) throws RestartException {
        CommitAssembly<K, V> open = assembly;
        if (open == null) {
            throw new IllegalStateException("change topic is not open");
        }
        ConsumerRecords<byte[], byte[]> records = topics.poll();
        for (ConsumerRecord<byte[], byte[]> source : records) {
            MirrorRecord record = read(source, open.position().generation(), strays);
            if (record != null) {
                open.accept(record, events);
            }
        }
        if (!records.isEmpty()) {
            lastRecordNanos = System.nanoTime();
        } else if (System.nanoTime() - lastRecordNanos > SILENCE_NANOS) {
            lastRecordNanos = System.nanoTime();
            if (!topics.describe(options.topic()).topicId().equals(id)) {
                throw new RestartException("topic " + options.topic() + " was recreated");
            }
        }
        if (partitions.size() > 1) {
            topics.pauseOnly(partitions.stream()
                    .filter(each -> open.isAhead(each.partition()))
                    .toList());
        }
    }

    private @Nullable MirrorRecord read(
            ConsumerRecord<byte[], byte[]> source, long generation, @Nullable StrayRecords strays) {
        try {
            MirrorRecord record = MirrorRecord.read(source);
            // Another generation may have another number of them.
            if (record.isMark()
                    && record.generation() == generation
                    && source.headers().lastHeader(MirrorRecord.PARTITIONS) != null) {
                requirePartitions(MirrorRecord.number(source.headers(), MirrorRecord.PARTITIONS));
            }
            return record;
        } catch (MalformedRecordException e) {
            MirrorConsumer.skip(source, e, strays);
            return null;
        } catch (IllegalArgumentException e) {
            MirrorConsumer.skip(source, MirrorRecord.stray(source, e), strays);
            return null;
        }
    }
}
