package io.understudy.mirror.scope;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys that Understudy reserves in a cluster: neither copied nor pruned.
 *
 * <p>Invariant M24: reserved keys are neither copied nor pruned.
 */
public final class ReservedKeys {

    private static final ByteString PREFIX = ByteString.copyFromUtf8("\0understudy/");

    private static final ByteString MIRRORS = PREFIX.concat(ByteString.copyFromUtf8("mirror/"));
    private static final ByteString CHECKPOINT = ByteString.copyFromUtf8("/checkpoint");

    private static final ByteString HOMES_PREFIX = PREFIX.concat(ByteString.copyFromUtf8("home/"));

    /** Primary records of mirrors from and into a cluster. */
    public static final KeyRange HOMES = KeyRange.prefix(HOMES_PREFIX);

    private static final ByteString FREEZES_PREFIX = PREFIX.concat(ByteString.copyFromUtf8("freeze/"));

    /** Records of permissions that moves withdrew in a cluster and must grant again. */
    public static final KeyRange FREEZES = KeyRange.prefix(FREEZES_PREFIX);

    /** Keys of all mirrors into a cluster. */
    public static final KeyRange CHECKPOINTS = KeyRange.prefix(MIRRORS);

    /** All reserved keys. */
    public static final KeyRange RANGE = KeyRange.prefix(PREFIX);

    private ReservedKeys() {}

    public static boolean contains(ByteString key) {
        return key.startsWith(PREFIX);
    }

    /** Whether a key with that prefix may be reserved. */
    static boolean meet(ByteString prefix) {
        return prefix.startsWith(PREFIX) || PREFIX.startsWith(prefix);
    }

    /** Returns the key of a mirror's checkpoint in its target. */
    public static ByteString checkpoint(String mirror) {
        return MIRRORS.concat(ByteString.copyFromUtf8(mirror)).concat(CHECKPOINT);
    }

    /** Returns another key of a mirror in its target, such as {@code epoch} or {@code lane/3}. */
    public static ByteString of(String mirror, String what) {
        return MIRRORS.concat(ByteString.copyFromUtf8(mirror + "/" + what));
    }

    /** Returns the keys of the lanes of a mirror's snapshot. */
    public static KeyRange lanes(String mirror) {
        return all(mirror, "lane/");
    }

    /** Returns the key that names a mirror's active process, attached to a lease. */
    public static ByteString active(String mirror) {
        return of(mirror, "active");
    }

    /** Returns the key of a mirror's epoch, put only when a writer takes over. */
    public static ByteString epoch(String mirror) {
        return of(mirror, "epoch");
    }

    /** Returns the key that exists if the mirror's last commit was read without marks, see {@link MirrorScope#readsMarks}. */
    public static ByteString unmarked(String mirror) {
        return of(mirror, "unmarked");
    }

    /** Returns the key that exists while each key with a source lease is attached. */
    public static ByteString wholeLeases(String mirror) {
        return of(mirror, "leases");
    }

    /** Returns the key that exists while the target may hold kept foreign keys. */
    public static ByteString keptForeign(String mirror) {
        return of(mirror, "kept");
    }

    /** Returns the key of the first checkpoint since which the history has each deletion. */
    public static ByteString resumable(String mirror) {
        return of(mirror, "resumable");
    }

    /** Returns all keys of a mirror in its target with that prefix. */
    public static KeyRange all(String mirror, String what) {
        return KeyRange.prefix(of(mirror, what));
    }

    /** Returns the key of a mirror's primary record. */
    public static ByteString home(String mirror) {
        return HOMES_PREFIX.concat(ByteString.copyFromUtf8(mirror));
    }

    /** Returns the name of the mirror with the primary record {@code home}. */
    public static String mirrorOf(ByteString home) {
        return home.substring(HOMES_PREFIX.size()).toStringUtf8();
    }

    /** Returns the key that exists while a move has closed the cluster to clients. */
    public static ByteString freeze(String mirror) {
        return FREEZES_PREFIX.concat(ByteString.copyFromUtf8(mirror));
    }

    /** Whether the key is that of a checkpoint. */
    public static boolean isCheckpoint(ByteString key) {
        return key.startsWith(MIRRORS) && key.endsWith(CHECKPOINT);
    }

    /** Whether the key holds a commit's path: a mirror's checkpoint or lane. */
    public static boolean isMark(ByteString key) {
        if (!key.startsWith(MIRRORS)) {
            return false;
        }
        String inside = key.substring(MIRRORS.size()).toStringUtf8();
        String what = inside.substring(inside.indexOf('/') + 1);
        return what.equals("checkpoint") || what.startsWith("lane/");
    }

    /** Returns the parts of {@code range} that are not reserved, in key order. */
    public static List<KeyRange> outside(KeyRange range) {
        List<KeyRange> parts = new ArrayList<>(2);
        add(parts, range.from(), earlier(range.to(), RANGE.from()));
        add(parts, later(range.from(), endOfReserved()), range.to());
        return List.copyOf(parts);
    }

    private static ByteString endOfReserved() {
        ByteString end = RANGE.to();
        if (end == null) {
            throw new IllegalStateException("reserved key range has no end");
        }
        return end;
    }

    private static void add(List<KeyRange> parts, ByteString from, @Nullable ByteString to) {
        if (to == null || KeyRange.KEY_ORDER.compare(from, to) < 0) {
            parts.add(new KeyRange(from, to));
        }
    }

    private static ByteString earlier(@Nullable ByteString end, ByteString other) {
        return end == null || KeyRange.KEY_ORDER.compare(other, end) < 0 ? other : end;
    }

    private static ByteString later(ByteString from, ByteString other) {
        return KeyRange.KEY_ORDER.compare(from, other) < 0 ? other : from;
    }
}
