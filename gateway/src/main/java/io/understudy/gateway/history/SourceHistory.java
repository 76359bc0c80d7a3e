package io.understudy.gateway.history;

import io.understudy.feed.FeedEndedException;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.feed.etcd.EtcdHistory;
import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.replica.LoggedCommit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The history of an etcd cluster, as the watch hub reads it. For any thread.
 *
 * <p>Invariant N3: commits before the window are read from the source's history, and compacted ones are reported with
 * the true compact revision.
 */
public final class SourceHistory implements CommitHistory {

    private final EtcdFeedSource source;
    private final KeyRange range;

    /** @param range the replica's */
    public SourceHistory(EtcdFeedSource source, KeyRange range) {
        this.source = source;
        this.range = range;
    }

    @Override
    public Reading open(long from, boolean previous) {
        return new SourceReading(source.history(range, new Revision(Math.max(1, from)), previous), previous);
    }

    private record SourceReading(EtcdHistory history, boolean previous) implements Reading {

        @Override
        public @Nullable Step next(Duration timeout) throws CompactedException, InterruptedException {
            EtcdHistory.Step step;
            try {
                step = history.next(timeout);
            } catch (FeedEndedException.Gap gap) {
                throw CompactedException.before(gap.compacted().value());
            } catch (FeedEndedException.CommitTooLarge e) {
                throw CompactedException.hole(
                        String.valueOf(e.getMessage()), e.revision().next().value(), previous);
            } catch (FeedEndedException e) {
                throw CompactedException.unreadable(String.valueOf(e.getMessage()));
            }
            if (step instanceof EtcdHistory.Step.Committed committed) {
                return new Step.Committed(LoggedCommit.of(committed.commit(), previous ? committed.previous() : null));
            }
            return step instanceof EtcdHistory.Step.Complete complete
                    ? new Step.Complete(complete.revision().value())
                    : null;
        }

        @Override
        public void close() {
            history.close();
        }
    }
}
