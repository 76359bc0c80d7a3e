package io.understudy.feed.etcd;

import io.understudy.feed.FeedEndedException.CommitTooLarge;

/** The next commit is larger than a tail holds in memory. Its reader continues behind it. */
final class LargeCommitException extends Exception {

    private final transient CommitTooLarge commit;
    private final boolean recognised;

    /** @param recognised whether the tail had recognised the history before */
    LargeCommitException(CommitTooLarge commit, boolean recognised) {
        super(commit.getMessage());
        this.commit = commit;
        this.recognised = recognised;
    }

    CommitTooLarge commit() {
        return commit;
    }

    boolean isRecognised() {
        return recognised;
    }
}
