package io.understudy.feed.kafka;

import io.understudy.consumer.format.HoleException;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.SectionAssembly;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.AnotherCluster;
import io.understudy.feed.FeedEndedException.AnotherHistory;
import io.understudy.feed.FeedEndedException.CommitTooLarge;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.kafka.Connection.TopicWatch;
import io.understudy.feed.kafka.KafkaFeedSource.KafkaFeedMetrics;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** The commits after a position, read from the partitions of the change topic. Owned by the feed's thread. */
final class ChangeTopic {

    private final Connection connection;
    private final KafkaFeedOptions options;
    private final KeyRange range;
    private final OriginCheck origins;
    /** Of the state that was read before; null after a resumed position. */
    private final @Nullable Long generation;

    private final KafkaFeedMetrics metrics;
    private final ArrayDeque<FeedEvent> ready = new ArrayDeque<>();

    /** The consumer's position after all ready events. */
    private Position position;
    /** Of the last mark at that position or after it; null before the first after a resumed position. */
    private @Nullable Long lastGeneration;

    private @Nullable ChangeTopicStart start;
    private @Nullable TopicWatch watch;
    private List<TopicPartition> partitions = List.of();
    private long repeats;
    private @Nullable BatchAssembly assembly;
    /** Null once the position is reached. */
    private @Nullable TopicHistoryCheck recognition;
    /** Whether it began before the position's anchor. */
    private boolean byAnchor;
    /** The feed's end, thrown after all ready events. */
    private @Nullable FeedEndedException end;

    ChangeTopic(
            Connection connection,
            KafkaFeedOptions options,
            KeyRange range,
            OriginCheck origins,
            Position position,
            @Nullable Long generation,
            KafkaFeedMetrics metrics) {
        this.connection = connection;
        this.options = options;
        this.range = range;
        this.origins = origins;
        this.position = position;
        this.generation = generation;
        this.lastGeneration = generation;
        this.metrics = metrics;
        this.start = new ChangeTopicStart(connection, options.topic(), position, true);
    }

    /**
     * Finds the start.
     *
     * @return false if more time is needed
     */
    boolean open(Duration timeout) throws FeedEndedException, InterruptedException {
        ChangeTopicStart looking = start;
        if (looking == null) {
            return true;
        }
        try {
            List<SectionAssembly.Start> found = looking.find(timeout);
            if (found == null) {
                return false;
            }
            begin(looking.partitions(), found);
            byAnchor = looking.isByAnchor();
            watch = looking.watch();
            start = null;
            return true;
        } catch (HoleException e) {
            throw new Gap(position, Revision.ZERO, "topic " + options.topic() + ": " + e.getMessage());
        } catch (MalformedRecordException e) {
            throw new Unexplained(e.getMessage(), e);
        }
    }

    /** Returns the generation of the topic at the end of the feed; null if unknown. */
    @Nullable Long generation() {
        return lastGeneration;
    }

    private void begin(List<TopicPartition> all, List<SectionAssembly.Start> starts) {
        partitions = all;
        BatchAssembly begun = new BatchAssembly(starts, range, options.maxCommitBytes());
        assembly = begun;
        repeats = 0;
        recognition = new TopicHistoryCheck(position, begun.complete());
        connection.assign(all);
        for (int i = 0; i < starts.size(); i++) {
            connection.seek(all.get(i), starts.get(i).offset());
        }
    }

    /** The next event, or null if none came in time. */
    @Nullable FeedEvent next(Duration timeout) throws FeedEndedException, InterruptedException {
        BatchAssembly open = assembly;
        if (open == null) {
            throw new IllegalStateException("change topic is not open");
        }
        if (ready.isEmpty() && end == null) {
            try {
                ConsumerRecords<byte[], byte[]> records = connection.poll(timeout);
                read(open, records);
                listen(records.isEmpty());
            } catch (CommitTooLarge e) {
                // The state topic has what it changed.
                end = new Gap(position, Revision.ZERO, "topic " + options.topic() + ": " + e.getMessage());
            } catch (FeedEndedException e) {
                end = e;
            } catch (HoleException e) {
                if (byAnchor && recognition != null) {
                    // What is missing may all be before the position, of which nothing was given.
                    start = new ChangeTopicStart(connection, options.topic(), position, false);
                    return null;
                }
                end = new Gap(position, Revision.ZERO, "topic " + options.topic() + ": " + e.getMessage());
            } catch (MalformedRecordException e) {
                end = new Unexplained(e.getMessage(), e);
            }
        }
        if (ready.isEmpty() && end != null) {
            throw end;
        }
        return ready.poll();
    }

    private void listen(boolean silent) throws Gap, InterruptedException {
        TopicWatch watching = watch;
        if (watching == null) {
            return;
        }
        if (!silent) {
            watching.heard();
        } else if (watching.isReplaced()) {
            throw new Gap(position, Revision.ZERO, "topic " + options.topic() + " was deleted and recreated");
        }
    }

    private void read(BatchAssembly open, ConsumerRecords<byte[], byte[]> records)
            throws FeedEndedException, HoleException, MalformedRecordException {
        long newest = 0;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            TopicRecord content = RecordFormat.readOwn(record, metrics.strays());
            if (content == null) {
                continue;
            }
            if (!content.cluster().equals(position.cluster())) {
                throw new AnotherCluster(
                        "offset " + record.offset() + " of " + record.topic() + "-" + record.partition(),
                        position.cluster(),
                        content.cluster());
            }
            newest = record.timestamp();
            boolean isMark = content.isMark();
            if (isMark) {
                origins.check(record, partitions.size(), generation);
            }
            open.accept(record.partition(), content, record.timestamp());
            if (isMark) {
                marked(open);
                if (!content.revision().isBefore(position.revision())) {
                    lastGeneration = MirrorRecord.generation(record);
                }
            }
        }
        if (newest > 0) {
            metrics.read(records.count(), System.currentTimeMillis() - newest);
            metrics.repeated(open.repeats() - repeats);
            repeats = open.repeats();
        }
        if (partitions.size() > 1 && !records.isEmpty()) {
            letOthersCatchUp(open);
        }
    }

    private void marked(BatchAssembly open) throws FeedEndedException, HoleException {
        BatchAssembly.Batch batch = open.next();
        while (batch != null) {
            give(batch);
            batch = open.next();
        }
        Instant current = open.takeCurrent();
        if (current != null && !open.complete().isBefore(position.revision())) {
            ready.add(new FeedEvent.Marked(position));
            ready.add(new FeedEvent.Current(current));
        }
    }

    private void give(BatchAssembly.Batch batch) throws FeedEndedException {
        TopicHistoryCheck recognizing = recognition;
        if (recognizing != null) {
            recognizing.accept(batch);
        }
        for (var commit : batch.commits()) {
            if (commit.revision().isAfter(position.revision())) {
                position = position.after(commit);
                ready.add(new FeedEvent.Committed(commit, position));
            }
        }
        if (batch.revision().isBefore(position.revision())) {
            return;
        }
        recognition = null;
        boolean delivered = batch.revision().equals(position.revision());
        position = position.upTo(batch.revision());
        if (!delivered || batch.asOf() != null) {
            ready.add(new FeedEvent.Marked(position));
        }
        if (batch.asOf() != null) {
            ready.add(new FeedEvent.Current(batch.asOf()));
        }
    }

    /** Pauses partitions that are ahead, since their records are held in memory. */
    private void letOthersCatchUp(BatchAssembly open) {
        Set<TopicPartition> ahead = new HashSet<>();
        for (int i = 0; i < partitions.size(); i++) {
            if (open.isAhead(i)) {
                ahead.add(partitions.get(i));
            }
        }
        connection.pauseOnly(ahead);
    }

    /**
     * Verifies a resumed history by the consumer's last commit, where the topic still has it.
     *
     * <p>Pure state, owned by the feed's thread.
     *
     * <p>Invariant FK5: another cluster or another history is detected on resuming.
     */
    private static final class TopicHistoryCheck {

        /** Null once it was found, or if it can't be. */
        private Position.@Nullable Anchor expected;

        /** @param readFrom commits at or before it are not met */
        TopicHistoryCheck(Position position, Revision readFrom) {
            Position.Anchor anchor = position.anchor();
            expected = anchor != null && anchor.revision().isAfter(readFrom) ? anchor : null;
        }

        /** Checks the next batch, before it is delivered. */
        void accept(BatchAssembly.Batch batch) throws AnotherHistory {
            Position.Anchor anchor = expected;
            if (anchor == null || batch.revision().isBefore(anchor.revision())) {
                return;
            }
            for (Commit commit : batch.commits()) {
                if (commit.revision().equals(anchor.revision())) {
                    Position.Anchor found = Position.Anchor.of(commit);
                    if (!found.equals(anchor)) {
                        throw new AnotherHistory("commit at revision " + anchor.revision() + " in the topic has digest "
                                + found.digest() + ", expected " + anchor.digest());
                    }
                    expected = null;
                    return;
                }
            }
            throw new AnotherHistory("topic has no commit at the consumed revision " + anchor.revision());
        }
    }

    /** An event of the change topic. */
    sealed interface FeedEvent {

        /** The next commit, and the position at it. */
        record Committed(Commit commit, Position position) implements FeedEvent {}

        /** Complete up to the position's revision. */
        record Marked(Position position) implements FeedEvent {}

        /** The source had nothing newer at that time, by the mirror's clock. */
        record Current(Instant asOf) implements FeedEvent {}
    }
}
