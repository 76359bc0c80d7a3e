package io.understudy.feed;

import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import org.jspecify.annotations.Nullable;

/** A source of feeds: an etcd cluster, a gateway, or Kafka. */
public interface FeedSource {

    /**
     * Opens a feed of {@code range}. Connects lazily, in the first {@link Feed#poll}.
     *
     * @param start null to begin with a snapshot, as a source also does that cannot continue an unfinished one
     */
    Feed open(KeyRange range, FeedKind kind, @Nullable FeedStart start);
}
