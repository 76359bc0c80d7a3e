package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each key of a large range comes once and in order. */
final class TargetKeysTest {

    private static final int KEYS = 100_000;
    private static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});
    private static final KeyRange RANGE = KeyRange.prefix(ByteString.copyFromUtf8("/p/"));

    private final NavigableSet<ByteString> keys = new TreeSet<>(KeyRange.KEY_ORDER);
    /** Of all requested ranges, as etcd counts them whatever the limit. */
    private long counted;

    private int requests;
    private final List<Long> limits = new ArrayList<>();
    private ByteString value = ByteString.EMPTY;

    @ParameterizedTest
    @ValueSource(strings = {"/p/%09d", "/p/%x", "/p/%2$d/%1$d", "/p/%2$x/%3$d", "/q/%d"})
    void eachKeyComesOnce_andFewAreCountedAgain(String format) {
        IntStream.range(0, KEYS)
                .mapToObj(number -> format.formatted(number, number % 7, number * 977L))
                .map(ByteString::copyFromUtf8)
                .forEach(keys::add);
        keys.add(ByteString.copyFromUtf8("/p/"));
        keys.add(ByteString.copyFromUtf8("/p0"));

        List<ByteString> found = new ArrayList<>();
        new TargetKeys(this::range, RANGE, true, Revision.ZERO).forEachRemaining(each -> found.add(each.getKey()));

        assertThat(found).isEqualTo(List.copyOf(keys.subSet(RANGE.from(), RANGE.to())));
        // With open ranges: 12 times as many as there are.
        assertThat(counted).isLessThan(8L * KEYS);
        assertThat(requests).isLessThan(2 * KEYS / 4_096);
    }

    /** Each lane reads, and values of the target may be much larger than those of the source. */
    @Test
    void pagesWithValuesGrowOnlyByTheBytesSeen() {
        IntStream.range(0, 400)
                .mapToObj(number -> ByteString.copyFromUtf8("/p/%09d".formatted(number)))
                .forEach(keys::add);
        value = ByteString.copyFrom(new byte[32 << 10]);

        new TargetKeys(this::range, RANGE, false, Revision.ZERO).forEachRemaining(each -> {});

        assertThat(limits).startsWith(16L).allMatch(limit -> limit <= 64);
    }

    private Optional<RangeResponse> range(RangeRequest request) {
        requests++;
        limits.add(request.getLimit());
        NavigableSet<ByteString> rest = keys.tailSet(request.getKey(), true);
        NavigableSet<ByteString> all =
                request.getRangeEnd().equals(ZERO) ? rest : rest.headSet(request.getRangeEnd(), false);
        RangeResponse.Builder response = RangeResponse.newBuilder().setCount(all.size());
        counted += all.size();
        all.stream()
                .limit(request.getLimit())
                .forEach(
                        key -> response.addKvs(KeyValue.newBuilder().setKey(key).setValue(value)));
        return Optional.of(response.setMore(all.size() > request.getLimit()).build());
    }
}
