package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.feed.etcd.AnchorCheck.Verdict;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import org.junit.jupiter.api.Test;

class AnchorCheckTest {

    private static final ClusterId CLUSTER = new ClusterId(7);

    private final Commit consumed = commit(10, "consumed");
    private final Position anchored =
            new Position(CLUSTER, new Revision(12), new Position.Anchor(new Revision(10), CommitDigest.of(consumed)));
    private final Position bare = new Position(CLUSTER, new Revision(12), null);

    @Test
    void opensAtTheAnchorAndAtThePositionWithoutOne() {
        assertThat(new AnchorCheck(anchored).start()).isEqualTo(new Revision(10));
        assertThat(new AnchorCheck(bare).start()).isEqualTo(new Revision(12));
    }

    @Test
    void theAnchorItselfIsRecognisedAndDropped() {
        assertThat(new AnchorCheck(anchored).onFirstCommit(consumed)).isEqualTo(new Verdict.Same(anchored, true));
    }

    @Test
    void anotherCommitAtTheAnchorsRevisionIsAnotherHistory() {
        assertThat(new AnchorCheck(anchored).onFirstCommit(commit(10, "other"))).isInstanceOf(Verdict.Different.class);
    }

    @Test
    void noCommitAtTheAnchorsRevisionIsAnotherHistory() {
        assertThat(new AnchorCheck(anchored).onFirstCommit(commit(13, "later"))).isInstanceOf(Verdict.Different.class);
        assertThat(new AnchorCheck(anchored).onProgress(new Revision(13))).isInstanceOf(Verdict.Different.class);
    }

    @Test
    void progressOfAMemberThatIsBehindDecidesNothing() {
        assertThat(new AnchorCheck(anchored).onProgress(new Revision(9))).isNull();
        assertThat(new AnchorCheck(bare).onProgress(new Revision(11))).isNull();
    }

    @Test
    void withoutAnAnchorTheCommitAtThePositionBecomesIt() {
        Commit at = commit(12, "at the snapshot");

        assertThat(new AnchorCheck(bare).onFirstCommit(at))
                .isEqualTo(new Verdict.Same(AnchorCheck.anchored(bare, new Revision(12), at), true));
    }

    @Test
    void withoutAnAnchorALaterCommitIsTheFirstOfTheTail() {
        assertThat(new AnchorCheck(bare).onFirstCommit(commit(13, "later"))).isEqualTo(new Verdict.Same(bare, false));
        assertThat(new AnchorCheck(bare).onProgress(new Revision(12))).isEqualTo(new Verdict.Same(bare, false));
    }

    private static Commit commit(long revision, String value) {
        Revision at = new Revision(revision);
        return new Commit(
                at,
                List.of(new Change.Put(
                        new KeyValue(ByteString.copyFromUtf8("key"), ByteString.copyFromUtf8(value), at, at, 1, 0))));
    }
}
