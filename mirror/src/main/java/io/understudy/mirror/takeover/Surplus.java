package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys that a mirror's target has and its source lacks, which making it a copy would delete. Clients go on writing while
 * they are counted, and each page is as it is when it is read, so the mirror counts again, and has the last word.
 *
 * @param held how many keys the target has
 * @param keys how many of them the source lacks
 * @param first some of those
 */
record Surplus(long held, long keys, List<ByteString> first) {

    private static final int SHOWN = 10;

    Surplus {
        first = List.copyOf(first);
    }

    /** Reads all keys of both sides, without values; holds a page of either. */
    static Surplus of(Parties parties) {
        MirrorScope scope = parties.scope();
        List<KeyRange> ranges = scope.targetRanges();
        KeysOf target = new KeysOf(parties.target(), ranges, key -> key);
        KeysOf source = new KeysOf(
                parties.source(), ranges.stream().map(scope::atSource).toList(), scope::inTarget);
        long held = 0;
        long keys = 0;
        List<ByteString> first = new ArrayList<>();
        @Nullable ByteString other = source.next();
        for (ByteString key = target.next(); key != null; key = target.next()) {
            held++;
            while (other != null && KeyRange.KEY_ORDER.compare(other, key) < 0) {
                other = source.next();
            }
            if (!key.equals(other) && keys++ < SHOWN) {
                first.add(key);
            }
        }
        return new Surplus(held, keys, first);
    }

    /**
     * Finds out whether a mirror back would stop at its limit of deletes. Changes nothing.
     *
     * @throws TakeOverException it would
     */
    static void requirePrunable(Parties backward) {
        if (!backward.sink().limitsPrune()) {
            return;
        }
        Surplus found = of(backward);
        if (found.keys > backward.sink().prunable(found.held)) {
            throw new TakeOverException("the mirror back would delete " + found.keys + " of the "
                    + Counted.of(found.held, "key") + " that "
                    + backward.target().shown() + " holds, since "
                    + backward.source().shown() + " lacks them, such as "
                    + String.join(", ", found.first.stream().map(Survey::shown).toList())
                    + "; maxPrunePercent allows " + backward.sink().maxPrunePercent()
                    + " percent. If they may go, raise maxPrunePercent and run failback again");
        }
    }
}
