package io.understudy.mirror.takeover;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.feed.etcd.EtcdHistory;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Revision;
import java.time.Duration;

/**
 * What a source's owners committed to the mirrored keys after a revision. Understudy's own keys change too, such as when
 * the lease runs out with which an earlier failback released them; nobody misses those.
 */
record LateCommits(Parties parties, Duration patience) {

    /**
     * Counts them, up to now.
     *
     * @throws TakeOverException the source doesn't tell
     */
    long since(long revision) {
        long head = parties.source().head().revision().value();
        if (head <= revision) {
            return 0;
        }
        EtcdFeedSource source = new EtcdFeedSource(
                parties.mirror(), parties.source().cluster(), parties.reading(), new SimpleMeterRegistry());
        try (EtcdHistory history =
                source.history(parties.scope().feedRange(false), new Revision(revision).next(), false)) {
            return counted(history, head);
        } catch (FeedEndedException e) {
            // They can't be told apart any more, so each may be one.
            return head - revision;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TakeOverException("interrupted while looking for late commits", e);
        }
    }

    private long counted(EtcdHistory history, long head) throws FeedEndedException, InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        long late = 0;
        long reached = 0;
        while (reached < head) {
            EtcdHistory.Step step = history.next(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            if (step instanceof EtcdHistory.Step.Committed committed) {
                reached = committed.commit().revision().value();
                late += reached <= head && isMirrored(committed.commit()) ? 1 : 0;
            } else if (step instanceof EtcdHistory.Step.Complete complete) {
                reached = complete.revision().value();
            } else {
                throw new TakeOverException(parties.source().shown() + " did not tell within " + patience.toSeconds()
                        + " s what was committed up to revision " + head + ": run this again");
            }
        }
        return late;
    }

    private boolean isMirrored(Commit commit) {
        return commit.changes().stream().anyMatch(change -> parties.scope().contains(change.key()));
    }
}
