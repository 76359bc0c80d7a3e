package io.understudy.feed.kafka;

import io.understudy.consumer.format.HoleException;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.SectionAssembly;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.TopicDescription;
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
}
