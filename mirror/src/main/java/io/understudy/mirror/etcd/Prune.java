package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.KeyValue;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the keys that a resynchronisation would delete, and enforces the limit of deletions. Memory is bounded by
 * the allowed keys. Thread-safe.
 *
 * <p>Invariant M17: no resynchronization deletes more keys than allowed.
 */
final class Prune {

    private static final Logger LOG = LoggerFactory.getLogger(Synchronisation.class);

    private static final int SHOWN = 10;

    private final String mirror;
    private final long held;
    private final EtcdSinkOptions options;
    private final long allowed;
    private final List<ByteString> shown = new ArrayList<>();
    private List<ByteString> keys = new ArrayList<>();
    private long count;

    /**
     * @param held number of keys in the target
     * @param options limit the deletions
     * @param replaced deletions allowed beyond the limit: those of a commit that the snapshot replaces
     */
    Prune(String mirror, long held, EtcdSinkOptions options, long replaced) {
        this.mirror = mirror;
        this.held = held;
        this.options = options;
        this.allowed = options.prunable(held) + replaced;
    }

    /**
     * Adds the keys that the copy of a snapshot would delete. Reads the keys of both sides by page; writes nothing.
     *
     * @param at the snapshot's revision
     * @param isOwn whether a target key that the source lacks is deleted, rather than kept
     * @throws SinkException.Unavailable the source was compacted meanwhile
     */
    void addSurplus(MirrorScope scope, TargetCalls source, Revision at, TargetCalls target, Predicate<KeyValue> isOwn) {
        for (KeyRange range : scope.targetRanges()) {
            TargetKeys wanted = TargetKeys.withoutValues(source, scope.atSource(range), at);
            TargetKeys there = TargetKeys.withoutValues(target, range, Revision.ZERO);
            ByteString next = null;
            while (there.hasNext()) {
                KeyValue found = there.next();
                while ((next == null || KeyRange.KEY_ORDER.compare(next, found.getKey()) < 0) && wanted.hasNext()) {
                    next = scope.inTarget(wanted.next().getKey());
                }
                if (!found.getKey().equals(next) && isOwn.test(found)) {
                    add(found.getKey());
                }
            }
        }
    }

    synchronized void add(ByteString key) {
        count++;
        if (shown.size() < SHOWN) {
            shown.add(key);
        }
        if (count <= allowed) {
            keys.add(key);
        } else {
            keys = List.of();
        }
    }

    /**
     * Returns all keys to delete.
     *
     * @throws SinkException.Refused more than allowed
     */
    synchronized List<ByteString> keys() {
        if (count > allowed) {
            throw new SinkException.Refused(refusal());
        }
        if (count > 0) {
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("keys", count)
                    .addKeyValue("examples", shown(shown))
                    .log("deleting keys that are not in the source");
        }
        return keys;
    }

    private String refusal() {
        boolean isBack = options.limitsFirst();
        return "a resync would delete " + count + " of " + Counted.of(held, "key") + " in "
                + (isBack ? "the former primary" : "the target") + ", such as " + shown(shown)
                + "; maxPrunePercent allows " + options.maxPrunePercent() + " percent"
                + ". No key was deleted. Verify the "
                + (isBack ? "new primary" : "source")
                + ", then increase maxPrunePercent until the mirror is synced";
    }

    /** Returns the keys for errors. */
    static String shown(List<ByteString> keys) {
        return String.join(
                ", ",
                keys.stream()
                        .map(key -> "\"" + TextFormat.escapeBytes(key) + "\"")
                        .toList());
    }
}
