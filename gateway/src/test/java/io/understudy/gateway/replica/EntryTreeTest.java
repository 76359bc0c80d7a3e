package io.understudy.gateway.replica;

import static io.understudy.vocabulary.KeyRange.KEY_ORDER;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.gateway.replica.EntryTree.Edits;
import io.understudy.gateway.replica.Heap.Widths;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Compares the tree with a sorted map.
 *
 * <p>Tests invariant R1.
 */
final class EntryTreeTest {

    /** A step of a random edit: a put when there is a value, a delete otherwise. */
    record Edit(ByteString key, @Nullable String value) {}

    @Provide
    Arbitrary<List<Edit>> edits() {
        return Combinators.combine(Keys.any(), Arbitraries.of("x", "yy", null).injectNull(0.2))
                .as(Edit::new)
                .list()
                .ofMaxSize(400);
    }

    @Provide
    Arbitrary<List<List<Edit>>> commits() {
        return edits().list().ofMaxSize(6);
    }

    @Provide
    Arbitrary<ByteString> keys() {
        return Keys.any();
    }

    /** The narrowest ones make the tallest trees. */
    @Provide
    Arbitrary<Widths> widths() {
        return Arbitraries.of(4, 5, 32).map(Widths::new);
    }

    @Property(tries = 200)
    void equalsASortedMapAndLeavesOldTreesUnchanged(
            @ForAll("edits") List<Edit> edits,
            @ForAll("keys") ByteString one,
            @ForAll("keys") ByteString other,
            @ForAll("widths") Widths widths) {
        NavigableMap<ByteString, KeyValue> model = new TreeMap<>(KEY_ORDER);
        EntryTree tree = EntryTree.empty(widths);
        List<EntryTree> trees = new ArrayList<>();
        List<List<KeyValue>> contents = new ArrayList<>();
        long revision = 1;
        for (Edit edit : edits) {
            revision++;
            if (edit.value() == null) {
                model.remove(edit.key());
                tree = tree.apply(delete(edit.key()));
            } else {
                KeyValue entry = Keys.entry(edit.key(), edit.value(), revision);
                model.put(edit.key(), entry);
                tree = tree.apply(put(Entry.of(entry)));
            }
            trees.add(tree);
            contents.add(List.copyOf(model.values()));
        }
        requireEqual(tree, model, one, other);
        for (int i = 0; i < trees.size(); i++) {
            assertThat(all(trees.get(i))).isEqualTo(contents.get(i));
        }
    }

    @Property(tries = 200)
    void isTheSameWhenACommitsChangesAreMadeInOnePass(
            @ForAll("commits") List<List<Edit>> commits,
            @ForAll("keys") ByteString one,
            @ForAll("keys") ByteString other,
            @ForAll("widths") Widths widths) {
        NavigableMap<ByteString, KeyValue> model = new TreeMap<>(KEY_ORDER);
        EntryTree tree = EntryTree.empty(widths);
        long revision = 1;
        for (List<Edit> commit : commits) {
            revision++;
            List<Entry> changes = new ArrayList<>();
            for (Edit edit : commit) {
                if (edit.value() == null) {
                    model.remove(edit.key());
                    changes.add(Entry.of(new Change.Delete(edit.key()), new Revision(revision)));
                } else {
                    KeyValue entry = Keys.entry(edit.key(), edit.value(), revision);
                    model.put(edit.key(), entry);
                    changes.add(Entry.of(entry));
                }
            }
            EntryTree before = tree;
            List<KeyValue> held = all(before);
            tree = tree.apply(Edits.of(changes));
            requireEqual(tree, model, one, other);
            assertThat(all(before)).isEqualTo(held);
        }
    }

    @Property(tries = 50)
    void isTheSameWhenBuiltInOneGo(
            @ForAll("edits") List<Edit> edits, @ForAll("keys") ByteString one, @ForAll("widths") Widths widths) {
        NavigableMap<ByteString, KeyValue> model = new TreeMap<>(KEY_ORDER);
        edits.forEach(edit -> model.put(edit.key(), Keys.entry(edit.key(), "v", 7)));
        EntryTree.Builder builder = new EntryTree.Builder(widths);
        model.values().forEach(entry -> builder.add(Entry.of(entry)));
        requireEqual(builder.build(), model, one, ByteString.EMPTY);
    }

    @Test
    void growsByLevelsAndShrinksToNothing() {
        long seed = 20_261_121;
        List<ByteString> keys = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            keys.add(ByteString.copyFromUtf8(String.format("key-%05d", i)));
        }
        Collections.shuffle(keys, new Random(seed));
        EntryTree tree = EntryTree.EMPTY;
        for (ByteString key : keys) {
            tree = tree.apply(put(Entry.of(Keys.entry(key, "value", 2))));
        }
        assertThat(tree.totals().count()).isEqualTo(20_000);
        assertThat(tree.totals().bytes()).isEqualTo(20_000L * ("key-00000".length() + "value".length()));
        assertThat(tree.totals(KeyRange.prefix(ByteString.copyFromUtf8("key-012")))
                        .count())
                .isEqualTo(100);
        Collections.shuffle(keys, new Random(seed + 1));
        for (ByteString key : keys) {
            assertThat(tree.get(key)).isNotNull();
            tree = tree.apply(delete(key));
            assertThat(tree.get(key)).isNull();
        }
        assertThat(tree.totals().count()).isZero();
        assertThat(tree.totals().bytes()).isZero();
        assertThat(all(tree.apply(put(Entry.of(Keys.entry(keys.get(0), "again", 3))))))
                .hasSize(1);
    }

    private static Edits put(Entry entry) {
        return Edits.of(List.of(entry));
    }

    private static Edits delete(ByteString key) {
        return Edits.of(List.of(Entry.of(new Change.Delete(key), new Revision(9))));
    }

    private static void requireEqual(
            EntryTree tree, NavigableMap<ByteString, KeyValue> model, ByteString one, ByteString other) {
        assertThat(tree.totals()).isEqualTo(totals(model.values()));
        Entry found = tree.get(one);
        assertThat(found == null ? null : found.keyValue()).isEqualTo(model.get(one));
        assertThat(all(tree)).containsExactlyElementsOf(model.values());
        if (KEY_ORDER.compare(one, other) < 0) {
            KeyRange range = new KeyRange(one, other);
            List<KeyValue> inside = List.copyOf(model.subMap(one, other).values());
            assertThat(within(tree, range, Integer.MAX_VALUE)).isEqualTo(inside);
            assertThat(tree.totals(range)).isEqualTo(totals(inside));
            assertThat(within(tree, range, 3)).isEqualTo(inside.subList(0, Math.min(3, inside.size())));
            requireEqualEnds(tree, range, inside);
        }
        assertThat(within(tree, KeyRange.fromKey(one), Integer.MAX_VALUE))
                .containsExactlyElementsOf(model.tailMap(one).values());
        requireEqualEnds(
                tree, KeyRange.fromKey(one), List.copyOf(model.tailMap(one).values()));
        requireEqualEnds(tree, KeyRange.all(), List.copyOf(model.values()));
    }

    private static void requireEqualEnds(EntryTree tree, KeyRange range, List<KeyValue> inside) {
        List<KeyValue> descending = new ArrayList<>();
        tree.descending(range).forEachRemaining(entry -> descending.add(entry.keyValue()));
        Collections.reverse(descending);
        assertThat(descending).isEqualTo(inside);
        for (int count = 1; count < inside.size(); count = 2 * count + 1) {
            assertThat(within(tree, tree.first(range, count), Integer.MAX_VALUE))
                    .isEqualTo(inside.subList(0, count));
            assertThat(within(tree, tree.last(range, count), Integer.MAX_VALUE))
                    .isEqualTo(inside.subList(inside.size() - count, inside.size()));
        }
    }

    private static List<KeyValue> all(EntryTree tree) {
        return within(tree, KeyRange.all(), Integer.MAX_VALUE);
    }

    private static List<KeyValue> within(EntryTree tree, KeyRange range, int limit) {
        List<KeyValue> found = new ArrayList<>();
        EntryCursor cursor = tree.cursor(range);
        while (cursor.hasNext() && found.size() < limit) {
            found.add(cursor.next().keyValue());
        }
        return found;
    }

    /** Computed from protobuf's messages. */
    private static Totals totals(Collection<KeyValue> entries) {
        RangeResponse.Builder whole = RangeResponse.newBuilder();
        RangeResponse.Builder withoutValues = RangeResponse.newBuilder();
        RangeResponse.Builder keys = RangeResponse.newBuilder();
        for (KeyValue entry : entries) {
            io.etcd.jetcd.api.KeyValue message = Keys.message(entry);
            whole.addKvs(message);
            withoutValues.addKvs(message.toBuilder().clearValue());
            keys.addKvs(message.toBuilder().clearValue().clearLease());
        }
        return new Totals(
                entries.size(),
                entries.stream().mapToLong(KeyValue::bytes).sum(),
                whole.build().getSerializedSize(),
                withoutValues.build().getSerializedSize(),
                keys.build().getSerializedSize());
    }
}
