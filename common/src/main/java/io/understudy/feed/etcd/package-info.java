/**
 * The feed of an etcd cluster.
 *
 * <p>In reading order: {@link io.understudy.feed.etcd.EtcdFeed} is the life of a feed; {@code SnapshotPin} finds the
 * revision of a snapshot, which {@code SnapshotReader} reads in pages: {@code PageChain} requests them, two {@code
 * RangeParts} at a time, sized by {@code PageSize}, bounded by {@code PageBound}, which counts in an {@code Alphabet},
 * or one {@code PageStream} of a gateway; {@code TailKeeper} opens one {@code Tail} after the other, with {@code
 * Backoff} and {@code TailRetry}; a tail is one watch from opening to loss, on a {@code MemberWatchStream}: {@code
 * Recognition} makes sure of its history, {@code CommitAssembler} makes whole commits of its responses, {@code
 * WatchMessages} builds the requests. {@code SourceFacts} settles suspicions before a feed is ended for them.
 */
@NullMarked
package io.understudy.feed.etcd;

import org.jspecify.annotations.NullMarked;
