package io.understudy.mirror.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.mirror.verify.Comparison.SideDigest;
import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.mirror.verify.Merge.Equality;
import io.understudy.mirror.verify.Merge.SortedEntries;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.Iterator;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Two sides of any content: each key that differs is found, in key order, no other is, and digests are equal just then.
 *
 * <p>Tests invariant M31.
 */
final class MergeTest {

    private static final Revision CREATED = new Revision(100);

    @Property(tries = 500)
    void findsExactlyTheDifferences(
            @ForAll("side") SortedMap<ByteString, KeyValue> source,
            @ForAll("side") SortedMap<ByteString, KeyValue> target,
            @ForAll boolean leases,
            @ForAll boolean keeps)
            throws Exception {
        SortedMap<ByteString, Kind> expected = expected(source, target, leases, keeps);

        SortedMap<ByteString, Kind> found = new TreeMap<>(KeyRange.KEY_ORDER);
        SideDigest sourceDigest = new SideDigest(leases);
        SideDigest targetDigest = new SideDigest(leases);
        Equality equality = new Equality(leases, keeps ? CREATED : Revision.ZERO);
        Merge merge = new Merge(entries(source), entries(target));
        ByteString last = null;
        for (Merge.Pair pair = merge.next(); pair != null; pair = merge.next()) {
            assertThat(last == null || KeyRange.KEY_ORDER.compare(last, pair.key()) < 0)
                    .isTrue();
            last = pair.key();
            Kind kind = equality.difference(pair);
            if (kind != null) {
                found.put(pair.key(), kind);
            }
            if (!equality.isKept(pair)) {
                if (pair.source() != null) {
                    sourceDigest.add(pair.source());
                }
                if (pair.target() != null) {
                    targetDigest.add(pair.target());
                }
            }
        }
        assertThat(found).isEqualTo(expected);
        assertThat(sourceDigest.hex().equals(targetDigest.hex())).isEqualTo(expected.isEmpty());
        assertThat(merge.next()).isNull();
    }

    private static SortedMap<ByteString, Kind> expected(
            SortedMap<ByteString, KeyValue> source,
            SortedMap<ByteString, KeyValue> target,
            boolean leases,
            boolean keeps) {
        SortedMap<ByteString, Kind> expected = new TreeMap<>(KeyRange.KEY_ORDER);
        source.forEach((key, entry) -> {
            KeyValue there = target.get(key);
            if (there == null) {
                expected.put(key, Kind.MISSING);
            } else if (!there.value().equals(entry.value())) {
                expected.put(key, Kind.VALUE);
            } else if (leases && (there.lease() == 0) != (entry.lease() == 0)) {
                expected.put(key, Kind.LEASE);
            }
        });
        target.forEach((key, entry) -> {
            if (!source.containsKey(key) && !(keeps && entry.createRevision().isBefore(CREATED))) {
                expected.put(key, Kind.EXTRA);
            }
        });
        return expected;
    }

    @Provide
    Arbitrary<SortedMap<ByteString, KeyValue>> side() {
        Arbitrary<ByteString> keys = Arbitraries.bytes()
                .array(byte[].class)
                .ofMinSize(1)
                .ofMaxSize(2)
                .map(bytes -> {
                    for (int i = 0; i < bytes.length; i++) {
                        // Few keys, so that sides meet; the highest bit set in some, since keys are unsigned.
                        bytes[i] &= (byte) 0x83;
                    }
                    return ByteString.copyFrom(bytes);
                });
        Arbitrary<KeyValue> values = Combinators.combine(
                        Arbitraries.integers().between(0, 1),
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.integers().between(99, 100))
                .as((value, lease, revision) -> new KeyValue(
                        ByteString.EMPTY,
                        ByteString.copyFromUtf8("v" + value),
                        new Revision(revision),
                        new Revision(revision + 1),
                        1,
                        lease));
        return Arbitraries.maps(keys, values).ofMaxSize(12).map(MergeTest::named);
    }

    private static SortedMap<ByteString, KeyValue> named(Map<ByteString, KeyValue> entries) {
        SortedMap<ByteString, KeyValue> named = new TreeMap<>(KeyRange.KEY_ORDER);
        entries.forEach((key, entry) -> named.put(
                key,
                new KeyValue(
                        key,
                        entry.value(),
                        entry.createRevision(),
                        entry.modRevision(),
                        entry.version(),
                        entry.lease())));
        return named;
    }

    private static SortedEntries entries(SortedMap<ByteString, KeyValue> side) {
        Iterator<KeyValue> all = side.values().iterator();
        return () -> all.hasNext() ? all.next() : null;
    }
}
