package io.understudy.vocabulary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommitDigestTest {

    private final Revision revision = new Revision(9);

    @Test
    void everythingAChangeCarriesCounts() {
        CommitDigest digest = CommitDigest.of(commit(put("k", "v", 9, 1, 0)));

        assertThat(digest).isEqualTo(CommitDigest.of(commit(put("k", "v", 9, 1, 0))));
        assertThat(List.of(
                        CommitDigest.of(commit(put("l", "v", 9, 1, 0))),
                        CommitDigest.of(commit(put("k", "w", 9, 1, 0))),
                        CommitDigest.of(commit(put("k", "v", 8, 1, 0))),
                        CommitDigest.of(commit(put("k", "v", 9, 2, 0))),
                        CommitDigest.of(commit(put("k", "v", 9, 1, 5))),
                        CommitDigest.of(commit(new Change.Delete(ByteString.copyFromUtf8("k"))))))
                .doesNotContain(digest)
                .doesNotHaveDuplicates();
    }

    @Test
    void bytesCannotMoveBetweenKeyAndValue() {
        assertThat(CommitDigest.of(commit(put("ab", "c", 9, 1, 0))))
                .isNotEqualTo(CommitDigest.of(commit(put("a", "bc", 9, 1, 0))));
    }

    @Test
    void orderCounts() {
        Change a = put("a", "", 9, 1, 0);
        Change b = put("b", "", 9, 1, 0);

        assertThat(CommitDigest.of(commit(a, b))).isNotEqualTo(CommitDigest.of(commit(b, a)));
    }

    @Test
    void isReadBackFromItsText() {
        CommitDigest digest = CommitDigest.of(commit(put("k", "v", 9, 1, 0)));

        assertThat(CommitDigest.parse(digest.toString())).isEqualTo(digest);
        assertThatThrownBy(() -> CommitDigest.parse("abcd")).isInstanceOf(IllegalArgumentException.class);
    }

    private Commit commit(Change... changes) {
        return new Commit(revision, List.of(changes));
    }

    private Change put(String key, String value, long created, long version, long lease) {
        return new Change.Put(new KeyValue(
                ByteString.copyFromUtf8(key),
                ByteString.copyFromUtf8(value),
                new Revision(created),
                revision,
                version,
                lease));
    }
}
