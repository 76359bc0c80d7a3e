package io.understudy.feed;

import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import org.jspecify.annotations.Nullable;

/** Where feeds come from: an etcd cluster, a gateway, or Kafka. */
public interface FeedSource {

    /**
     * Opens a feed of {@code range}. Connects lazily, in the first {@link Feed#poll}.
     *
     * @param resumeAt where to go on; null to begin with a snapshot
     */
    Feed open(KeyRange range, FeedKind kind, @Nullable Position resumeAt);
}
