package io.understudy.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.gateway.hub.Cohort.RangeIndex;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Compares lookups in random ranges with a scan of all. */
final class RangeIndexTest {

    /** Adds a range, or removes an existing one. */
    record Step(KeyRange range, int remove) {}

    @Provide
    Arbitrary<ByteString> keys() {
        return Arbitraries.of(0, 1, 2, 0x61, 0x62, 0xff)
                .list()
                .ofMinSize(1)
                .ofMaxSize(3)
                .map(bytes -> {
                    byte[] key = new byte[bytes.size()];
                    for (int i = 0; i < key.length; i++) {
                        key[i] = bytes.get(i).byteValue();
                    }
                    return ByteString.copyFrom(key);
                });
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        Arbitrary<KeyRange> range = Combinators.combine(
                        keys(), keys(), Arbitraries.integers().between(0, 4))
                .as((one, other, form) -> switch (form) {
                    case 0 -> KeyRange.single(one);
                    case 1 -> KeyRange.prefix(one);
                    case 2 -> KeyRange.fromKey(one);
                    case 3 -> KeyRange.all();
                    default -> between(one, other);
                });
        return Combinators.combine(range, Arbitraries.integers().between(-40, 20))
                .as(Step::new)
                .list()
                .ofMaxSize(80);
    }

    @Property(tries = 500)
    void findsExactlyTheRangesThatContainTheKey(
            @ForAll("steps") List<Step> steps, @ForAll("keys") ByteString one, @ForAll("keys") ByteString other) {
        RangeIndex<Step> index = new RangeIndex<>();
        List<Step> held = new ArrayList<>();

        for (Step step : steps) {
            if (step.remove() >= 0 && !held.isEmpty()) {
                Step gone = held.remove(step.remove() % held.size());
                index.remove(gone.range(), gone);
            } else {
                held.add(step);
                index.add(step.range(), step);
            }
        }

        for (ByteString key : List.of(one, other)) {
            List<Step> found = new ArrayList<>();
            index.forEach(key, found::add);
            assertThat(found)
                    .containsExactlyInAnyOrderElementsOf(held.stream()
                            .filter(step -> step.range().contains(key))
                            .toList());
        }
    }

    private static KeyRange between(ByteString one, ByteString other) {
        int order = KeyRange.KEY_ORDER.compare(one, other);
        return order == 0 ? KeyRange.single(one) : order < 0 ? new KeyRange(one, other) : new KeyRange(other, one);
    }
}
