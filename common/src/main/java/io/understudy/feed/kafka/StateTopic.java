package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.StateChain;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.kafka.Connection.TopicBounds;
import io.understudy.feed.kafka.Connection.TopicWatch;
import io.understudy.feed.kafka.KafkaFeed.LastPosition;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the compacted topic until a whole state at one revision is known. Owned by the feed's thread. */
final class StateTopic {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaFeed.class);

    private static final int MAX_ATTEMPTS = 3;

    private final Connection connection;
    private final TopicPartition partition;
    private final KeyRange range;
    private final OriginCheck origins;
    private final @Nullable LastPosition last;
    private final StrayRecords strays;
    private final Connection.AdminQuery<TopicDescription> describing;
    private final Connection.AdminQuery<Duration> retaining;
    private final Connection.AdminQuery<Map<TopicPartition, TopicBounds>> bounding;

    private StateTable table;
    private int attempts;
    private @Nullable TopicWatch watch;
    private @Nullable Duration deleteRetention;
    private long begunNanos = System.nanoTime();
    private long offset;
    /** Highest offset read before the end of a pass, unlike those of later heartbeats. */
    private long furthest;

    /** The last logged cause of waiting. */
    private String waitsFor = "";

    /** @param last that the state must include; null for none */
    StateTopic(
            Connection connection,
            String topic,
            KeyRange range,
            OriginCheck origins,
            @Nullable LastPosition last,
            StrayRecords strays) {
        this.last = last;
        this.connection = connection;
        this.partition = new TopicPartition(topic, 0);
        this.range = range;
        this.origins = origins;
        this.strays = strays;
        this.table = new StateTable(range);
        this.describing = connection.describing(topic);
        this.retaining = connection.query(admin -> DeleteRetention.request(admin, topic));
        this.bounding = connection.query(admin -> TopicBounds.request(admin, List.of(partition)));
        connection.assign(List.of(partition));
        begin();
    }

    private void begin() {
        table = new StateTable(range);
        begunNanos = System.nanoTime();
        offset = 0;
        connection.seek(partition, 0);
    }

    /** Reads on. Returns the state at its revision, or null if more time is needed. */
    @Nullable StateTable read(Duration timeout) throws FeedEndedException, InterruptedException {
        Duration retention = retention(timeout);
        if (retention == null || (table.chain().needsEnd() && !findEnd(timeout))) {
            return null;
        }
        boolean heard = !table.chain().isRead(offset, isWhole()) && readRecords(timeout);
        boolean isLate = Duration.ofNanos(System.nanoTime() - begunNanos).compareTo(retention) > 0;
        StateChain.Step step = table.chain().step(offset, isWhole(), isLate);
        if (step == StateChain.Step.READ) {
            furthest = Math.max(furthest, offset);
        } else if (step == StateChain.Step.WAIT) {
            waits(heard);
        } else if (step == StateChain.Step.REPEAT) {
            begin();
        } else if (isStillTheSame(timeout)) {
            if (step == StateChain.Step.COMPLETE) {
                return table;
            }
            restart(retention);
        }
        return null;
    }

    private boolean isWhole() {
        return table.isWhole() && (last == null || !last.isAfter(table));
    }

    private void waits(boolean heard) {
        if (table.chain().isAtMark() && table.isWhole()) {
            waits("state is older than what the change topic had before a gap: MirrorMaker has not copied it yet");
        } else if (table.chain().isAtMark()) {
            waits("stray records replaced keys, and the mirror has not restored them yet");
        } else if (!heard) {
            waits(
                    offset == 0
                            ? "topic is empty: mirror has not written to it yet"
                            : "state is incomplete: mirror or MirrorMaker has not finished writing it");
        }
    }

    /** Returns an offset that grows while the state is read, and not while it is waited for. */
    long furthest() {
        return furthest;
    }

    /** Retention of deletions in the topic; null if not yet known. */
    private @Nullable Duration retention(Duration timeout) throws Unexplained, InterruptedException {
        if (watch == null) {
            TopicDescription found = describing.answer(timeout);
            if (found == null) {
                return null;
            }
            if (found.partitions().size() != 1) {
                throw new Unexplained("topic " + partition.topic() + " has "
                        + found.partitions().size() + " partitions; a state topic must have one");
            }
            watch = new TopicWatch(connection, found);
        }
        Duration known = deleteRetention;
        if (known == null) {
            try {
                known = retaining.answer(timeout);
            } catch (AuthorizationException e) {
                known = DeleteRetention.DEFAULT;
            }
            deleteRetention = known;
            begunNanos = System.nanoTime();
        }
        return known;
    }

    private void restart(Duration retention) throws Unexplained {
        String why = "reading topic " + partition.topic() + " takes longer than its delete.retention.ms of "
                + retention.toMillis() + " ms, so tombstones may be missed";
        if (++attempts == MAX_ATTEMPTS) {
            throw new Unexplained(why + "; increase delete.retention.ms");
        }
        LOG.atWarn().addKeyValue("cause", why).log("state topic read restarted");
        begin();
    }

    private boolean findEnd(Duration timeout) throws Unexplained, InterruptedException {
        Map<TopicPartition, TopicBounds> bounds = bounding.answer(timeout);
        TopicBounds found = bounds == null ? null : bounds.get(partition);
        if (found == null) {
            return false;
        }
        if (found.beginning() > 0) {
            throw new Unexplained("topic " + partition.topic() + " starts at offset " + found.beginning()
                    + ": part of the state was deleted. Set cleanup.policy to compact only, and mirror"
                    + " to topics of another name");
        }
        table.chain().endsAt(offset, found.end());
        return true;
    }

    private boolean readRecords(Duration timeout) throws FeedEndedException, InterruptedException {
        List<ConsumerRecord<byte[], byte[]>> records = connection.poll(partition, timeout);
        for (ConsumerRecord<byte[], byte[]> record : records) {
            try {
                TopicRecord content = RecordFormat.readOwn(record, strays);
                if (content == null) {
                    // Brokers accept records without a key while the topic is not compacted.
                    if (record.key() != null) {
                        table.stray(ByteString.copyFrom(record.key()));
                    }
                    continue;
                }
                ClusterId cluster = table.cluster();
                if (cluster != null && !cluster.equals(content.cluster())) {
                    throw new FeedEndedException.AnotherCluster(
                            "offset " + record.offset() + " of " + partition, cluster, content.cluster());
                }
                if (content.isMark()) {
                    origins.check(record);
                }
                table.accept(content, MirrorRecord.generation(record), MirrorRecord.state(record));
                table.requireFits();
            } catch (MalformedRecordException e) {
                throw new Unexplained(e.getMessage(), e);
            }
        }
        offset = connection.position(partition);
        listen(records.isEmpty());
        return !records.isEmpty();
    }

    private void listen(boolean silent) throws InterruptedException {
        TopicWatch watching = watch;
        if (watching == null) {
            return;
        }
        if (!silent) {
            watching.heard();
        } else if (watching.isReplaced()) {
            replaced();
        }
    }

    /** Whether the topic is still the one read: consumers silently continue in a replaced topic. */
    private boolean isStillTheSame(Duration timeout) throws InterruptedException {
        TopicWatch watching = watch;
        Boolean same = watching == null ? null : watching.isSame(timeout);
        if (same != null && !same) {
            replaced();
        }
        return same != null && same;
    }

    private void replaced() {
        LOG.atWarn()
                .addKeyValue("topic", partition.topic())
                .addKeyValue("cause", "topic was deleted and recreated")
                .log("state topic read restarted");
        watch = null;
        deleteRetention = null;
        begin();
    }

    private void waits(String cause) {
        if (!cause.equals(waitsFor)) {
            waitsFor = cause;
            LOG.atInfo()
                    .addKeyValue("topic", partition.topic())
                    .addKeyValue("offset", offset)
                    .addKeyValue("revision", table.revision())
                    .addKeyValue("keys", table.digests())
                    .addKeyValue("cause", cause)
                    .log("snapshot waiting");
        }
    }

    /** How long a compacted topic keeps records of deleted keys. */
    private static final class DeleteRetention {

        /** Kafka's default, where the topic's settings may not be read. */
        static final Duration DEFAULT = Duration.ofDays(1);

        private DeleteRetention() {}

        static KafkaFuture<Duration> request(Admin admin, String topic) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            return Objects.requireNonNull(
                            admin.describeConfigs(List.of(resource)).values().get(resource))
                    .thenApply(config -> of(config.get(TopicConfig.DELETE_RETENTION_MS_CONFIG)));
        }

        private static Duration of(@Nullable ConfigEntry entry) {
            return entry == null || entry.value() == null ? DEFAULT : Duration.ofMillis(Long.parseLong(entry.value()));
        }
    }
}
