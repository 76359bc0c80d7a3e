/**
 * A feed from the topics that a mirror writes, and their {@link io.understudy.feed.kafka.RecordFormat}.
 *
 * <p>In reading order: {@code KafkaFeed} is the life of a feed, on a {@code Connection}, with {@code Outages} and a
 * {@code TopicWatch} that distinguish outages from lasting failures, and an {@code OriginCheck} of the mirror that
 * wrote them. {@code StateTopic} is read into a {@code StateTable}, which is delivered in {@code SnapshotPages}. {@code
 * ChangeTopic} reads what follows: {@code ChangeTopicStart} finds the start, with one {@code OffsetSearch} per
 * partition; {@code BatchAssembly} assembles whole commits from the partitions; {@code TopicHistoryCheck} verifies the
 * history. {@code TopicHead} reads the topic's revision.
 */
@NullMarked
package io.understudy.feed.kafka;

import org.jspecify.annotations.NullMarked;
