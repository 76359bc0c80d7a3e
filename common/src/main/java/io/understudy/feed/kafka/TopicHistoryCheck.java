package io.understudy.feed.kafka;

import io.understudy.feed.FeedEndedException.AnotherHistory;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * Verifies a resumed history by the consumer's last commit, where the topic still has it.
 *
 * <p>Pure state, owned by the feed's thread.
 *
 * <p>Invariant FK5: another cluster or another history is detected on resuming.
 */
final class TopicHistoryCheck {

    /** Null once it was found, or if it can't be. */
    private Position.@Nullable Anchor expected;

    /** @param readFrom commits at or before it are not met */
    TopicHistoryCheck(Position position, Revision readFrom) {
        Position.Anchor anchor = position.anchor();
        expected = anchor != null && anchor.revision().isAfter(readFrom) ? anchor : null;
    }

    /** Checks the next batch, before it is delivered. */
    void accept(BatchAssembly.Batch batch) throws AnotherHistory {
        Position.Anchor anchor = expected;
        if (anchor == null || batch.revision().isBefore(anchor.revision())) {
            return;
        }
        for (Commit commit : batch.commits()) {
            if (commit.revision().equals(anchor.revision())) {
                Position.Anchor found = Position.Anchor.of(commit);
                if (!found.equals(anchor)) {
                    throw new AnotherHistory("commit at revision " + anchor.revision() + " in the topic has digest "
                            + found.digest() + ", expected " + anchor.digest());
                }
                expected = null;
                return;
            }
        }
        throw new AnotherHistory("topic has no commit at the consumed revision " + anchor.revision());
    }
}
