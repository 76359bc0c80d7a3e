/**
 * A feed from the topics that a mirror writes, and what their records look like: {@link
 * io.understudy.feed.kafka.RecordFormat}.
 *
 * <p>In reading order: {@code KafkaFeed} is the life of a feed, on a {@code Connection}, with {@code Outages} and a
 * {@code TopicWatch} that distinguish outages from lasting failures, and an {@code OriginCheck} of the mirror that
 * wrote them. {@code StateTopic} is read into a {@code StateTable}, which is given in {@code SnapshotPages}. {@code
 * ChangeTopic} gives what follows: {@code ChangeTopicStart} finds where to begin, with one {@code OffsetSearch} for
 * each partition; {@code BatchAssembly} assembles whole commits from the partitions; {@code TopicHistoryCheck} makes sure of
 * the history. {@code TopicHead} answers how far the topic is.
 */
@NullMarked
package io.understudy.feed.kafka;

import org.jspecify.annotations.NullMarked;
