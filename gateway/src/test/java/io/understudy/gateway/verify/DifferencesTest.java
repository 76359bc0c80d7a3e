package io.understudy.gateway.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.feed.etcd.SnapshotReader;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.gateway.verify.Verifier.Differences;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests invariant R6. */
final class DifferencesTest {

    private static final KeyValue A = entry("a", "1", 5);
    private static final KeyValue B = entry("b", "2", 6);
    private static final KeyValue C = entry("c", "3", 7);

    @Test
    void equalEntriesAreNoDifference() {
        assertThat(between(List.of(A, B, C), KeyRange.all(), List.of(A, B, C)).keys())
                .isEmpty();
        assertThat(between(List.of(), KeyRange.all(), List.of()).keys()).isEmpty();
    }

    @Test
    void aKeyOnOneSideIsADifference() {
        assertThat(between(List.of(A, C), KeyRange.all(), List.of(A, B, C)).text())
                .isEqualTo("'b'");
        assertThat(between(List.of(A, B, C), KeyRange.all(), List.of(B)).text()).isEqualTo("'a', 'c'");
        assertThat(between(List.of(A), KeyRange.all(), List.of()).text()).isEqualTo("'a'");
        assertThat(between(List.of(), KeyRange.all(), List.of(C)).text()).isEqualTo("'c'");
    }

    @Test
    void anyChangedFieldIsADifference() {
        assertThat(between(List.of(A, B), KeyRange.all(), List.of(A, entry("b", "x", 6)))
                        .text())
                .isEqualTo("'b'");
        assertThat(between(List.of(A, B), KeyRange.all(), List.of(A, entry("b", "2", 5)))
                        .text())
                .isEqualTo("'b'");
    }

    @Test
    void onlyTheRangeOfThePageIsCompared() {
        assertThat(between(List.of(A, B, C), new KeyRange(B.key(), C.key()), List.of(B))
                        .keys())
                .isEmpty();
    }

    @Test
    void theFirstTenAreNamed() {
        List<KeyValue> many = IntStream.range(10, 25)
                .mapToObj(number -> entry("k" + number, "v", 5))
                .toList();
        Differences differences = between(many, KeyRange.all(), List.of());
        assertThat(differences.keys()).hasSize(15);
        assertThat(differences.text()).startsWith("'k10', 'k11'").endsWith("'k19' and 5 more");
    }

    private static Differences between(List<KeyValue> held, KeyRange covered, List<KeyValue> page) {
        return Differences.between(state(held), new SnapshotReader.Page(covered, page));
    }

    private static ReplicaState state(List<KeyValue> entries) {
        ClusterId cluster = new ClusterId(1);
        Revision revision = new Revision(9);
        Replica replica = new Replica(KeyRange.all(), state -> {});
        replica.snapshotStarted(cluster, revision);
        replica.snapshotPage(KeyRange.all(), entries);
        replica.snapshotCompleted(new Position(cluster, revision, null));
        return replica.state();
    }

    private static KeyValue entry(String key, String value, long revision) {
        return new KeyValue(
                ByteString.copyFromUtf8(key),
                ByteString.copyFromUtf8(value),
                new Revision(revision),
                new Revision(revision),
                1,
                0);
    }
}
