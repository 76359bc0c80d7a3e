package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.understudy.feed.etcd.PageChain.PageSize;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import java.util.UUID;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests invariant F11. */
class PageBoundTest {

    @Property
    void pagesHoldEachKeyOnceWhateverTheKeysAre(
            @ForAll("keySpaces") NavigableSet<ByteString> keys, @ForAll @IntRange(min = 1, max = 20) int pageKeys) {
        // when they are read to the end
        Pages pages = new Pages(keys, pageKeys);

        // then
        assertThat(pages.read).containsExactlyElementsOf(keys);
    }

    /** Of an open range, half of all keys would be counted by each page on average. */
    @ParameterizedTest
    @MethodSource("shapes")
    void amountsToAFewTimesTheKeysThatAreRead(IntFunction<String> shape) {
        // given
        NavigableSet<ByteString> keys = sorted(IntStream.range(0, 50_000)
                .mapToObj(shape)
                .map(ByteString::copyFromUtf8)
                .toList());

        // when
        Pages pages = new Pages(keys, 400);

        // then: 62 times and 125 pages without bounds
        assertThat(pages.read).hasSize(keys.size());
        assertThat(pages.counted).isLessThan(10L * keys.size());
        assertThat(pages.requested).isLessThan(160);
    }

    @Test
    void givesUpWhereGroupsAreLittleLargerThanAPage() {
        // given
        NavigableSet<ByteString> keys = sorted(IntStream.range(0, 60_000)
                .mapToObj(number -> "/g-%03d/key%05d".formatted(number / 600, number % 600))
                .map(ByteString::copyFromUtf8)
                .toList());

        // when
        Pages pages = new Pages(keys, 400);

        // then
        assertThat(pages.read).hasSize(keys.size());
        assertThat(pages.requested).isLessThan(2 * keys.size() / 400);
    }

    @Provide
    Arbitrary<NavigableSet<ByteString>> keySpaces() {
        Arbitrary<ByteString> keys = Arbitraries.oneOf(
                Arbitraries.strings().withChars('a', 'b', '/').ofMaxLength(6).map(ByteString::copyFromUtf8),
                Arbitraries.bytes().array(byte[].class).ofMaxSize(12).map(ByteString::copyFrom),
                Arbitraries.of((byte) 0, (byte) 1, (byte) 0xfe, (byte) 0xff)
                        .array(Byte[].class)
                        .ofMaxSize(10)
                        .map(PageBoundTest::bytes));
        return keys.filter(key -> !key.isEmpty()).set().ofMaxSize(150).map(PageBoundTest::sorted);
    }

    private static NavigableSet<ByteString> sorted(Collection<ByteString> keys) {
        NavigableSet<ByteString> sorted = new TreeSet<>(KeyRange.KEY_ORDER);
        sorted.addAll(keys);
        return sorted;
    }

    private static ByteString bytes(Byte[] boxed) {
        byte[] bytes = new byte[boxed.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = boxed[i];
        }
        return ByteString.copyFrom(bytes);
    }

    /** How keys look in practice. */
    static Stream<Named<IntFunction<String>>> shapes() {
        List<String> resources = List.of("configmaps", "events", "leases", "pods", "secrets", "services");
        return Stream.of(
                Named.of("decimal", number -> "bench/%010d".formatted(number)),
                Named.of("unpadded", number -> "job-" + number),
                Named.of("hexadecimal", number -> "%08x".formatted(number * 977)),
                Named.of("UUIDs", number -> "/svc/" + new UUID(new Random(number).nextLong(), number)),
                Named.of("paths", number -> "/registry/%s/ns-%d/%s"
                        .formatted(
                                resources.get(number % resources.size()),
                                number % 37,
                                Integer.toString(number * 31, 36))));
    }

    /** Reads as {@link PageChain} does where what follows a page is under way, from a set that counts as etcd does. */
    private static final class Pages {

        final List<ByteString> read = new ArrayList<>();
        long counted;
        int requested;

        private final NavigableSet<ByteString> keys;
        private final int pageKeys;
        private PageBound bound = PageBound.NONE;

        Pages(NavigableSet<ByteString> keys, int pageKeys) {
            this.keys = keys;
            this.pageKeys = pageKeys;
            read(ByteString.EMPTY, null);
        }

        private void read(ByteString begin, @Nullable ByteString to) {
            ByteString from = begin;
            while (from != null && !from.equals(to)) {
                ByteString end = bound.of(from, pageKeys, most());
                if (end != null) {
                    assertThat(KeyRange.KEY_ORDER.compare(end, from)).isPositive();
                }
                boolean isGuess =
                        end != null && !end.equals(from) && (to == null || KeyRange.KEY_ORDER.compare(end, to) < 0);
                from = readPage(from, isGuess ? end : to, isGuess);
                if (isGuess && !from.equals(end)) {
                    read(from, end);
                    from = end;
                }
            }
        }

        /** Returns where the rest begins. */
        private @Nullable ByteString readPage(ByteString from, @Nullable ByteString to, boolean isGuess) {
            int guessed = isGuess ? pageKeys : 0;
            bound = bound.requested(guessed);
            List<ByteString> inside =
                    List.copyOf(to == null ? keys.tailSet(from, true) : keys.subSet(from, true, to, false));
            counted += inside.size();
            requested++;
            List<ByteString> page = inside.subList(0, Math.min(most(), inside.size()));
            read.addAll(page);
            List<KeyValue> entries = page.stream()
                    .map(key -> KeyValue.newBuilder().setKey(key).build())
                    .toList();
            int more = inside.size() - page.size();
            bound = to == null ? bound.afterOpen(entries, more) : bound.after(entries, guessed, more > 0);
            return more > 0 ? page.get(page.size() - 1).concat(ByteString.copyFrom(new byte[] {0})) : to;
        }

        private int most() {
            return new PageSize(pageKeys).most();
        }
    }
}
