package io.understudy.mirror.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SlicesTest {

    private static final List<KeyRange> ALL = List.of(KeyRange.all());

    @Property
    void eachPassHasEachKeyOnce(
            @ForAll("keySpaces") NavigableSet<ByteString> keys, @ForAll @IntRange(min = 1, max = 20) int sliceKeys) {
        Passes passes = new Passes(keys, ALL, sliceKeys);
        for (int pass = 0; pass < 2; pass++) {
            assertThat(passes.next()).containsExactlyElementsOf(keys);
        }
    }

    @Property
    void onlyKeysOfTheRangesAreInASlice(@ForAll("keySpaces") NavigableSet<ByteString> keys) {
        List<KeyRange> ranges =
                List.of(KeyRange.prefix(ByteString.copyFromUtf8("a")), KeyRange.prefix(ByteString.copyFromUtf8("b/")));

        Passes passes = new Passes(keys, ranges, 3);

        assertThat(passes.next())
                .containsExactlyElementsOf(keys.stream()
                        .filter(key -> ranges.stream().anyMatch(range -> range.contains(key)))
                        .toList());
    }

    /** Without ends, 100 slices would have half of all keys counted on average: 50 times all. */
    @ParameterizedTest
    @MethodSource("shapes")
    void etcdCountsFewMoreKeysThanAreCompared(IntFunction<String> shape) {
        NavigableSet<ByteString> keys = sorted(IntStream.range(0, 50_000)
                .mapToObj(shape)
                .map(ByteString::copyFromUtf8)
                .toList());
        Passes passes = new Passes(keys, ALL, 500);

        assertThat(passes.next()).hasSize(keys.size());

        assertThat(passes.counted).isLessThan(15L * keys.size());
    }

    static Stream<Named<IntFunction<String>>> shapes() {
        return Stream.of(
                Named.of("decimal", number -> "bench/%010d".formatted(number)),
                Named.of("hexadecimal", number -> "%08x".formatted(number * 977)),
                Named.of("paths", number -> "/registry/%s/ns-%d/%s"
                        .formatted(
                                number % 2 == 0 ? "pods" : "secrets", number % 37, Integer.toString(number * 31, 36))));
    }

    @Provide
    Arbitrary<NavigableSet<ByteString>> keySpaces() {
        return Arbitraries.strings()
                .withChars('a', 'b', '/')
                .ofMinLength(1)
                .ofMaxLength(6)
                .map(ByteString::copyFromUtf8)
                .set()
                .ofMaxSize(150)
                .map(SlicesTest::sorted);
    }

    private static NavigableSet<ByteString> sorted(Collection<ByteString> keys) {
        NavigableSet<ByteString> sorted = new TreeSet<>(KeyRange.KEY_ORDER);
        sorted.addAll(keys);
        return sorted;
    }

    /** Compares slices of a set, which counts as etcd does. */
    private static final class Passes {

        private final NavigableSet<ByteString> keys;
        private final Slices slices;
        private final int sliceKeys;
        private long counted;

        Passes(NavigableSet<ByteString> keys, List<KeyRange> ranges, int sliceKeys) {
            this.keys = keys;
            this.slices = new Slices(ranges, sliceKeys);
            this.sliceKeys = sliceKeys;
        }

        /** The keys of the next pass, as they were compared. */
        List<ByteString> next() {
            List<ByteString> compared = new ArrayList<>();
            @Nullable ByteString next = slices.from();
            while (next != null) {
                List<ByteString> inside = slices.next().stream()
                        .flatMap(range -> keys.stream().filter(range::contains))
                        .toList();
                counted += inside.size();
                List<ByteString> slice = inside.subList(0, Math.min(sliceKeys, inside.size()));
                compared.addAll(slice);
                next = slices.compared(
                        slice.size(),
                        slice.size() < sliceKeys
                                ? null
                                : slice.get(slice.size() - 1).concat(ByteString.copyFrom(new byte[] {0})));
            }
            return compared;
        }
    }
}
