package io.understudy.feed.etcd;

import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.WatchResponse;
import io.understudy.etcd.EtcdMessages;
import io.understudy.feed.FeedEndedException.CommitTooLarge;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Assembles whole commits from watch responses. A revision is never split across responses, unless etcd marks the first
 * as a fragment. So a commit is whole when a later revision or the end of an unfragmented response follows it.
 *
 * <p>Pure state, one per stream, owned by the feed's thread.
 */
final class CommitAssembler {

    private List<Change> changes = new ArrayList<>();
    private List<KeyValue> previous = new ArrayList<>();
    private long bytes;
    private long revision;

    /**
     * Passes every commit that {@code response} completes to {@code commits}, in order. Previous values of its keys are
     * included where the watch has them.
     *
     * @param maxCommitBytes maximum of a commit's keys and values
     * @throws CommitTooLarge before more than the limit is held; all earlier commits were delivered
     */
    void accept(WatchResponse response, long maxCommitBytes, BiConsumer<Commit, List<KeyValue>> commits)
            throws CommitTooLarge {
        for (Event event : response.getEventsList()) {
            long next = event.getKv().getModRevision();
            if (next != revision) {
                complete(commits);
                revision = next;
            }
            Change change = WatchMessages.change(event);
            changes.add(change);
            bytes += change.bytes();
            if (event.hasPrevKv()) {
                KeyValue before = EtcdMessages.keyValue(event.getPrevKv());
                previous.add(before);
                bytes += before.bytes();
            }
            if (bytes > maxCommitBytes) {
                throw new CommitTooLarge(
                        new Revision(revision),
                        KeyRange.shown(change.key()),
                        bytes,
                        maxCommitBytes,
                        "feed.maxCommitBytes");
            }
        }
        if (!WatchMessages.isFragment(response)) {
            complete(commits);
        }
    }

    private void complete(BiConsumer<Commit, List<KeyValue>> commits) {
        if (!changes.isEmpty()) {
            commits.accept(new Commit(new Revision(revision), changes), List.copyOf(previous));
            changes = new ArrayList<>();
            previous = new ArrayList<>();
            bytes = 0;
        }
    }
}
