package io.understudy.mirror.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.Merge.Equality;
import io.understudy.mirror.verify.Merge.SortedEntries;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Progress reports of a comparison. */
final class ComparisonTest {

    private static final Revision AT = new Revision(7);

    @Test
    void countsAKeyOfBothSidesOnceAndItsBytes() throws Exception {
        VerifyReport report = compare(List.of(entry("a", "12"), entry("b", "345")), List.of(entry("a", "12")));
        assertThat(report.keys()).isEqualTo(2);
        assertThat(report.bytes()).isEqualTo(7);
        assertThat(report.differing()).isEqualTo(1);
    }

    @Test
    void bytesAreTheSources() throws Exception {
        VerifyReport report = compare(List.of(entry("a", "12")), List.of(entry("a", "1234"), entry("b", "345")));
        assertThat(report.keys()).isEqualTo(2);
        assertThat(report.bytes()).isEqualTo(3);
    }

    private static VerifyReport compare(List<KeyValue> source, List<KeyValue> target) throws Exception {
        return new Comparison(MirrorScope.all(), new Equality(false, Revision.ZERO), keys -> {})
                .run(AT, entries(source), AT, entries(target));
    }

    private static SortedEntries entries(List<KeyValue> of) {
        Iterator<KeyValue> left = of.iterator();
        return () -> left.hasNext() ? left.next() : null;
    }

    private static KeyValue entry(String key, String value) {
        return new KeyValue(ByteString.copyFromUtf8(key), ByteString.copyFromUtf8(value), AT, AT, 1, 0);
    }
}
