package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedSource;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A source with a first feed that hides new commits to some keys; the second one waits for its release. */
final class TamperedFeeds {

    private final Set<ByteString> hidden;
    private final AtomicInteger opened = new AtomicInteger();
    private final CountDownLatch rebuild = new CountDownLatch(1);

    TamperedFeeds(ByteString... hidden) {
        this.hidden = Set.of(hidden);
    }

    /** Whether the second feed is open, at the last position of the first one. */
    boolean isRebuilding() {
        return opened.get() > 1;
    }

    void letRebuild() {
        rebuild.countDown();
    }

    FeedSource between(FeedSource source) {
        return (range, kind, resumeAt) -> {
            Feed feed = source.open(range, kind, resumeAt);
            boolean first = opened.getAndIncrement() == 0;
            return new Feed() {
                @Override
                public boolean poll(Duration timeout, FeedConsumer consumer)
                        throws FeedEndedException, InterruptedException {
                    if (!first) {
                        rebuild.await();
                    }
                    return feed.poll(timeout, first ? hiding(consumer) : consumer);
                }

                @Override
                public void requestProgress() {
                    feed.requestProgress();
                }

                @Override
                public void close() {
                    feed.close();
                }
            };
        };
    }

    private FeedConsumer hiding(FeedConsumer consumer) {
        return new FeedConsumer() {
            @Override
            public void snapshotStarted(ClusterId cluster, Revision revision) {
                consumer.snapshotStarted(cluster, revision);
            }

            @Override
            public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
                consumer.snapshotPage(covered, entries);
            }

            @Override
            public void snapshotCompleted(Position position) {
                consumer.snapshotCompleted(position);
            }

            @Override
            public void commit(Commit commit, Position position) {
                if (commit.changes().stream().anyMatch(change -> hidden.contains(change.key()))) {
                    consumer.progress(position);
                } else {
                    consumer.commit(commit, position);
                }
            }

            @Override
            public void progress(Position position) {
                consumer.progress(position);
            }
        };
    }
}
