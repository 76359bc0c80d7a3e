package io.understudy.feed.kafka;

import io.understudy.consumer.format.HoleException;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.SectionAssembly;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.kafka.Connection.TopicBounds;
import io.understudy.feed.kafka.Connection.TopicWatch;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Finds the offsets of the change topic's partitions from which a position is resumed. They are before its anchor, by
 * which the history is verified, or where that is gone, before the position itself. Owned by the feed's thread.
 *
 * <p>Invariant FK4: a feed resumes at any position; expired records, a rewritten state and a replaced topic are gaps.
 */
final class ChangeTopicStart {

    private final Connection connection;
    private final Position position;
    private final Connection.AdminQuery<TopicDescription> describing;
    private Connection.@Nullable AdminQuery<Map<TopicPartition, TopicBounds>> bounding;
    private @Nullable Map<TopicPartition, TopicBounds> bounds;

    private @Nullable TopicWatch watch;
    private List<TopicPartition> partitions = List.of();
    private final List<SectionAssembly.Start> found = new ArrayList<>();
    private Revision target;
    private @Nullable OffsetSearch search;

    /** @param byAnchor false to begin before the position itself, even if it has an anchor */
    ChangeTopicStart(Connection connection, String topic, Position position, boolean byAnchor) {
        this.connection = connection;
        this.position = position;
        this.describing = connection.describing(topic);
        Position.Anchor anchor = position.anchor();
        this.target = anchor == null || !byAnchor
                ? position.revision()
                : new Revision(anchor.revision().value() - 1);
    }

    /** Whether it looks before the position's anchor. */
    boolean isByAnchor() {
        return target.isBefore(position.revision());
    }

    /** Partitions in the order of their numbers, once found. */
    List<TopicPartition> partitions() {
        return partitions;
    }

    /** Watch over the topic that was found. */
    @Nullable TopicWatch watch() {
        return watch;
    }

    /** Continues the search. Returns null if more time is needed. */
    @Nullable List<SectionAssembly.Start> find(Duration timeout)
            throws HoleException, MalformedRecordException, Unexplained, InterruptedException {
        if (partitions.isEmpty() && !describe(timeout)) {
            return null;
        }
        Map<TopicPartition, TopicBounds> known = bounds;
        if (known == null) {
            known = bound(timeout);
            if (known == null) {
                return null;
            }
        }
        TopicPartition partition = partitions.get(found.size());
        OffsetSearch looking = search;
        if (looking == null) {
            TopicBounds within = known.get(partition);
            if (within == null) {
                throw new Unexplained("Kafka returned no offsets of " + partition);
            }
            looking = new OffsetSearch(connection, partition, within, target);
            search = looking;
        }
        OffsetSearch.Found result = step(looking, timeout);
        if (result == null) {
            return null;
        }
        search = null;
        if (result instanceof OffsetSearch.Found.Mark mark) {
            found.add(mark.start());
        } else if (isByAnchor()) {
            withoutAnchor();
        } else {
            found.add(SectionAssembly.Start.unknown(
                    ((OffsetSearch.Found.Nothing) result).beginning(),
                    position.revision().value()));
        }
        return found.size() == partitions.size() ? List.copyOf(found) : null;
    }

    private OffsetSearch.@Nullable Found step(OffsetSearch looking, Duration timeout)
            throws HoleException, MalformedRecordException, InterruptedException {
        try {
            return looking.step(timeout);
        } catch (HoleException e) {
            if (isByAnchor()) {
                withoutAnchor();
                return null;
            }
            throw e;
        }
    }

    private void withoutAnchor() {
        target = position.revision();
        found.clear();
        search = null;
    }

    private boolean describe(Duration timeout) throws InterruptedException {
        TopicDescription description = describing.answer(timeout);
        if (description == null) {
            return false;
        }
        watch = new TopicWatch(connection, description);
        partitions = description.partitions().stream()
                .map(partition -> new TopicPartition(description.name(), partition.partition()))
                .sorted((one, other) -> Integer.compare(one.partition(), other.partition()))
                .toList();
        return true;
    }

    private @Nullable Map<TopicPartition, TopicBounds> bound(Duration timeout) throws InterruptedException {
        var query = bounding;
        if (query == null) {
            query = connection.query(admin -> TopicBounds.request(admin, partitions));
            bounding = query;
        }
        bounds = query.answer(timeout);
        return bounds;
    }

    /**
     * Finds in one partition of the change topic a mark at or before a revision. Only from a mark on is it certain that
     * nothing is missing. Revisions rise with offsets. Where they don't, after a duplicate copy or a snapshot, any record
     * of no later revision will do: from there on, marks are met in order.
     */
    private static final class OffsetSearch {

        /** Offsets that one fetch returns, which are read rather than halved. */
        private static final long NEAR = 2_000;

        private final Connection connection;
        private final TopicPartition partition;
        private final TopicBounds bounds;

        private Revision target;
        /** Offset to read next. */
        private long looking;
        /** Offset of a record of no later revision; -1 before one is known. */
        private long low = -1;
        /** No record at or after it is worth looking at. */
        private long high;

        private boolean reading;
        /** Start after the last mark read on the way. */
        private SectionAssembly.@Nullable Start last;

        OffsetSearch(Connection connection, TopicPartition partition, TopicBounds bounds, Revision target) {
            this.connection = connection;
            this.partition = partition;
            this.bounds = bounds;
            this.target = target;
            connection.assign(List.of(partition));
            begin(bounds.end());
        }

        private void begin(long end) {
            low = -1;
            high = end;
            reading = false;
            last = null;
            lookAt(bounds.beginning());
        }

        private void lookAt(long offset) {
            looking = offset;
            connection.seek(partition, offset);
        }

        /** Result of the search. */
        sealed interface Found {
            /** A mark to begin after. */
            record Mark(SectionAssembly.Start start) implements Found {}

            /** The partition begins after the revision, or has nothing. */
            record Nothing(long beginning) implements Found {}
        }

        /**
         * Continues the search.
         *
         * @return null if more time is needed
         * @throws HoleException no mark precedes the revision, because a snapshot was written in its place
         */
        @Nullable Found step(Duration timeout) throws HoleException, MalformedRecordException, InterruptedException {
            if (bounds.beginning() >= high) {
                return new Found.Nothing(bounds.beginning());
            }
            List<ConsumerRecord<byte[], byte[]>> records = connection.poll(partition, timeout);
            if (reading) {
                return readOn(records);
            }
            ConsumerRecord<byte[], byte[]> first = null;
            TopicRecord content = null;
            for (int i = 0; content == null && i < records.size(); i++) {
                first = records.get(i);
                content = RecordFormat.readOwn(first, null);
            }
            if (content == null && connection.position(partition) < high) {
                // Nothing yet, or stray records only.
                return null;
            }
            boolean late = first == null
                    || content == null
                    || first.offset() >= high
                    || content.revision().isAfter(target);
            if (late && low < 0) {
                return new Found.Nothing(bounds.beginning());
            }
            if (late || first == null) {
                high = looking;
            } else {
                low = first.offset();
            }
            if (high - low > NEAR) {
                lookAt(low + (high - low) / 2);
            } else {
                reading = true;
                lookAt(low);
            }
            return null;
        }

        /** Returns the last mark before the first later revision, or before the end. */
        private @Nullable Found readOn(List<ConsumerRecord<byte[], byte[]>> records)
                throws HoleException, MalformedRecordException, InterruptedException {
            for (ConsumerRecord<byte[], byte[]> record : records) {
                TopicRecord content = RecordFormat.readOwn(record, null);
                if (content == null) {
                    continue;
                }
                boolean later = content.revision().isAfter(target);
                if (later && last != null) {
                    return new Found.Mark(last);
                }
                if (later && content instanceof TopicRecord.Complete mark) {
                    // What is looked for lies within what was written together: its beginning is needed.
                    target = mark.previous();
                    begin(low + 1);
                    return null;
                }
                if (later && !(content instanceof TopicRecord.Changed)) {
                    throw new HoleException("mirror rewrote the full state at revision " + content.revision()
                            + ", and no earlier mark remains");
                }
                if (content instanceof TopicRecord.SnapshotBegin) {
                    // What is before it doesn't lead to what is after it.
                    last = null;
                } else if (content instanceof TopicRecord.Complete || content instanceof TopicRecord.SnapshotEnd) {
                    last = new SectionAssembly.Start(
                            record.offset() + 1, content.revision().value(), record.timestamp());
                }
            }
            return last != null && connection.position(partition) >= bounds.end() ? new Found.Mark(last) : null;
        }
    }
}
