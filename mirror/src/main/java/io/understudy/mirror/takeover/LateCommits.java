package io.understudy.mirror.takeover;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.feed.etcd.EtcdHistory;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a source's owners committed to the mirrored keys after a revision. Understudy's own keys change too, such as when
 * the lease runs out with which an earlier failback released them; nobody misses those.
 */
record LateCommits(Parties parties, Duration patience) {

    private static final Logger LOG = LoggerFactory.getLogger(LateCommits.class);

    /**
     * Counts them, up to now.
     *
     * @return empty if the source doesn't tell any more, or not in time: by now the home has moved all the same
     * @throws TakeOverException the thread is interrupted
     */
    OptionalLong since(ClusterId source, long revision) {
        try {
            return since(source, revision, parties.source().head());
        } catch (TakeOverException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e;
            }
            return untold(String.valueOf(e.getMessage()));
        }
    }

    private OptionalLong since(ClusterId source, long revision, ReadIndex head) {
        if (!head.clusterId().equals(source) || head.revision().value() < revision) {
            return untold("it leads to cluster " + head.clusterId() + " at revision " + head.revision());
        }
        if (head.revision().value() == revision) {
            return OptionalLong.of(0);
        }
        EtcdFeedSource feeds = new EtcdFeedSource(
                parties.mirror(), parties.source().cluster(), parties.reading(), new SimpleMeterRegistry());
        // From a revision that is known: etcd before 3.5.19 forgets a delete that it compacts at, and lets watches
        // begin there.
        try (EtcdHistory history =
                feeds.history(parties.scope().feedRange(false), new Revision(Math.max(1, revision)), false)) {
            return counted(history, revision, head.revision().value());
        } catch (FeedEndedException e) {
            return untold(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TakeOverException("interrupted while looking for late commits", e);
        }
    }

    private OptionalLong counted(EtcdHistory history, long after, long head)
            throws FeedEndedException, InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        long late = 0;
        long reached = 0;
        while (reached < head) {
            EtcdHistory.Step step = history.next(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            if (step instanceof EtcdHistory.Step.Committed committed) {
                reached = committed.commit().revision().value();
                late += reached > after && isMirrored(committed.commit()) ? 1 : 0;
            } else if (step instanceof EtcdHistory.Step.Complete complete) {
                reached = complete.revision().value();
            }
            if (reached < head && System.nanoTime() - end >= 0) {
                return untold(
                        "in " + patience.toSeconds() + " s it told only up to revision " + reached + " of " + head);
            }
        }
        return OptionalLong.of(late);
    }

    private OptionalLong untold(String why) {
        LOG.warn(
                "mirror={} late commits not known, source={}: {}",
                parties.mirror(),
                parties.source().shown(),
                why);
        return OptionalLong.empty();
    }

    private boolean isMirrored(Commit commit) {
        return commit.changes().stream().anyMatch(change -> parties.scope().contains(change.key()));
    }
}
