/**
 * The feed of an etcd cluster.
 *
 * <p>In reading order: {@link io.understudy.feed.etcd.EtcdFeed} is the life of a feed; {@code SnapshotReader} reads
 * pinned pages, sized by {@code PageSize}; {@code Tail} is one watch from opening to loss, on a {@code WatchStream};
 * {@code CommitAssembler} makes whole commits of its responses, {@code WatchMessages} knows the wire.
 */
@NullMarked
package io.understudy.feed.etcd;

import org.jspecify.annotations.NullMarked;
