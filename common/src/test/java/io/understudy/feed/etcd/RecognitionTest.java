package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.feed.etcd.Recognition.Verdict;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Tests invariant F4. */
class RecognitionTest {

    private static final ClusterId CLUSTER = new ClusterId(7);

    @Nested
    class Resuming {

        private final Commit consumed = commit(10, "consumed");
        private final Position position = new Position(
                CLUSTER, new Revision(12), new Position.Anchor(new Revision(10), CommitDigest.of(consumed)));
        private final Recognition recognition = Recognition.resuming(position);

        @Test
        void opensAtTheAnchor() {
            assertThat(recognition.start()).isEqualTo(new Revision(10));
        }

        @Test
        void theAnchorItselfIsRecognisedAndDropped() {
            assertThat(recognition.onCommit(consumed)).isEqualTo(new Verdict.Same(position, true));
        }

        @Test
        void anotherCommitAtTheAnchorsRevisionIsAnotherHistory() {
            assertThat(recognition.onCommit(commit(10, "other"))).isInstanceOf(Verdict.Different.class);
        }

        @Test
        void noCommitAtTheAnchorsRevisionIsAnotherHistory() {
            assertThat(recognition.onCommit(commit(13, "later"))).isInstanceOf(Verdict.Different.class);
        }

        @Test
        void progressPastTheAnchorWithoutItIsAnotherHistory() {
            assertThat(recognition.onProgress(new Revision(13))).isInstanceOf(Verdict.Different.class);
        }

        @Test
        void progressOfAMemberThatIsBehindDecidesNothing() {
            assertThat(recognition.onProgress(new Revision(11))).isInstanceOf(Verdict.Undecided.class);
        }
    }

    @Nested
    class BeforeASnapshot {

        private final Position position = new Position(CLUSTER, new Revision(12), null);

        @Test
        void theLastCommitUpToItsRevisionBecomesTheAnchor() {
            Recognition recognition = Recognition.anchoring(position, 5);
            assertThat(recognition.start()).isEqualTo(new Revision(7));
            assertThat(recognition.onCommit(commit(8, "first"))).isInstanceOf(Verdict.Undecided.class);
            Commit last = commit(11, "last");
            assertThat(recognition.onCommit(last)).isInstanceOf(Verdict.Undecided.class);
            assertThat(recognition.onProgress(new Revision(11))).isInstanceOf(Verdict.Undecided.class);
            assertThat(recognition.onProgress(new Revision(14)))
                    .isEqualTo(
                            new Verdict.Same(new Position(CLUSTER, new Revision(12), Position.Anchor.of(last)), false));
        }

        @Test
        void thereIsNoneInAQuietRange() {
            Recognition recognition = Recognition.anchoring(position, 50);
            assertThat(recognition.start()).isEqualTo(new Revision(1));
            assertThat(recognition.onCommit(commit(13, "later"))).isEqualTo(new Verdict.Same(position, false));
        }
    }

    @Nested
    class AfterASnapshot {

        private final Position position = new Position(CLUSTER, new Revision(12), null);

        @Test
        void opensAtTheNewestEntryUnlessThatIsFarBack() {
            assertThat(Recognition.afterSnapshot(position, entry(9), 100).start())
                    .isEqualTo(new Revision(9));
            assertThat(Recognition.afterSnapshot(position, entry(9), 2).start()).isEqualTo(new Revision(12));
            assertThat(Recognition.afterSnapshot(position, null, 100).start()).isEqualTo(new Revision(12));
        }

        @Test
        void theLastCommitUpToTheSnapshotBecomesTheAnchor() {
            Recognition recognition = Recognition.afterSnapshot(position, entry(9), 100);

            assertThat(recognition.onCommit(commit(9, "newest"))).isInstanceOf(Verdict.Undecided.class);
            assertThat(recognition.onCommit(commit(11, "deleted since"))).isInstanceOf(Verdict.Undecided.class);
            assertThat(recognition.onCommit(commit(13, "of the tail")))
                    .isEqualTo(new Verdict.Same(
                            Recognition.anchored(position, new Revision(12), commit(11, "deleted since")), false));
        }

        @Test
        void theCommitAtTheSnapshotsRevisionDecidesAtOnce() {
            Recognition recognition = Recognition.afterSnapshot(position, entry(12), 100);

            assertThat(recognition.onCommit(commit(12, "newest")))
                    .isEqualTo(new Verdict.Same(
                            Recognition.anchored(position, new Revision(12), commit(12, "newest")), true));
        }

        @Test
        void aMemberWithoutTheNewestEntryHasAnotherHistory() {
            assertThat(Recognition.afterSnapshot(position, entry(9), 100).onCommit(commit(10, "x")))
                    .isInstanceOf(Verdict.Different.class);
            assertThat(Recognition.afterSnapshot(position, entry(9), 100).onProgress(new Revision(12)))
                    .isInstanceOf(Verdict.Different.class);
        }

        @Test
        void aMemberWithAnotherCommitInPlaceOfTheNewestEntrysHasAnotherHistory() {
            assertThat(Recognition.afterSnapshot(position, entry(9), 100).onCommit(commit(9, "another")))
                    .isInstanceOf(Verdict.Different.class);
        }

        @Test
        void aCommitBeforeTheStartDecidesNothing() {
            assertThat(Recognition.afterSnapshot(position, entry(9), 100).onCommit(commit(8, "x")))
                    .isInstanceOf(Verdict.Undecided.class);
        }

        @Test
        void withNothingToLookForThePositionStaysWithoutAnAnchor() {
            assertThat(Recognition.afterSnapshot(position, entry(2), 5).onProgress(new Revision(12)))
                    .isEqualTo(new Verdict.Same(position, false));
            assertThat(Recognition.afterSnapshot(position, entry(2), 5).onCommit(commit(13, "later")))
                    .isEqualTo(new Verdict.Same(position, false));
        }
    }

    private static KeyValue entry(long revision) {
        return entry(revision, "newest");
    }

    private static KeyValue entry(long revision, String value) {
        Revision at = new Revision(revision);
        return new KeyValue(ByteString.copyFromUtf8("key"), ByteString.copyFromUtf8(value), at, at, 1, 0);
    }

    private static Commit commit(long revision, String value) {
        return new Commit(new Revision(revision), List.of(new Change.Put(entry(revision, value))));
    }
}
