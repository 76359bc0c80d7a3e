package io.understudy.mirror.takeover;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.feed.etcd.EtcdHistory;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.checkpoint.Marks;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a source's owners committed to the mirrored keys: not what a mirror has brought from the target. Understudy's own keys
 * change too, such as when the lease runs out with which an earlier failback released them; nobody misses those.
 *
 * @param target what comes from there is left out
 * @param marked whether marks are read, by which that is known
 * @param patience how long the source may take to tell more
 */
record LateCommits(Parties parties, ClusterId target, boolean marked, Duration patience) {

    private static final Logger LOG = LoggerFactory.getLogger(LateCommits.class);

    /** All there are by now. */
    static final long NOW = Long.MAX_VALUE;

    /**
     * Has them seen, in order.
     *
     * @param after this revision
     * @param until this one, or {@link #NOW}
     * @return why the source doesn't tell any more, or not in time; null if all were seen
     * @throws TakeOverException the thread is interrupted
     */
    @Nullable String forEach(ClusterId source, long after, long until, Consumer<Commit> commits) {
        String untold;
        try {
            untold = told(source, after, until, commits);
        } catch (TakeOverException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e;
            }
            untold = String.valueOf(e.getMessage());
        }
        if (untold != null) {
            LOG.atWarn()
                    .addKeyValue("mirror", parties.mirror())
                    .addKeyValue("revision", after)
                    .addKeyValue("source", parties.source().shown())
                    .addKeyValue("cause", untold)
                    .log("commits after the revision unknown");
        }
        return untold;
    }

    private @Nullable String told(ClusterId source, long after, long until, Consumer<Commit> commits) {
        ReadIndex head = parties.source().head();
        if (!head.clusterId().equals(source) || head.revision().value() < after) {
            return "it leads to cluster " + head.clusterId() + " at revision " + head.revision();
        }
        long end = Math.min(until, head.revision().value());
        if (end <= after) {
            return null;
        }
        EtcdFeedSource feeds = new EtcdFeedSource(
                parties.mirror(), parties.source().cluster(), parties.reading(), new SimpleMeterRegistry());
        // From a revision that is known: etcd before 3.5.19 forgets a delete that it compacts at, and lets watches
        // begin there.
        try (EtcdHistory history =
                feeds.history(parties.scope().feedRange(marked), new Revision(Math.max(1, after)), false)) {
            return told(history, after, end, commits);
        } catch (FeedEndedException e) {
            return String.valueOf(e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TakeOverException("interrupted while looking for late commits", e);
        }
    }

    private @Nullable String told(EtcdHistory history, long after, long until, Consumer<Commit> commits)
            throws FeedEndedException, InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        long reached = 0;
        while (reached < until) {
            long before = reached;
            EtcdHistory.Step step = history.next(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            if (step instanceof EtcdHistory.Step.Committed committed) {
                Commit commit = committed.commit();
                reached = commit.revision().value();
                if (reached > after && reached <= until && isMirrored(commit) && !isFromTarget(commit)) {
                    commits.accept(commit);
                }
            } else if (step instanceof EtcdHistory.Step.Complete complete) {
                reached = complete.revision().value();
            }
            if (reached > before) {
                end = System.nanoTime() + patience.toNanos();
            } else if (reached < until && System.nanoTime() - end >= 0) {
                return "it returned only commits up to revision " + reached + " of " + until + ", and then nothing for "
                        + patience.toSeconds() + " s";
            }
        }
        return null;
    }

    private boolean isMirrored(Commit commit) {
        return commit.changes().stream().anyMatch(change -> parties.scope().contains(change.key()));
    }

    private boolean isFromTarget(Commit commit) {
        return commit.changes().stream()
                .anyMatch(change -> change instanceof Change.Put put
                        && ReservedKeys.isMark(put.key())
                        && passed(put).contains(target));
    }

    private static List<ClusterId> passed(Change.Put mark) {
        try {
            return Marks.decode("a mark", mark.keyValue().value());
        } catch (CorruptCheckpointException e) {
            // Of whatever it is, none that this mirror has put.
            return List.of();
        }
    }
}
