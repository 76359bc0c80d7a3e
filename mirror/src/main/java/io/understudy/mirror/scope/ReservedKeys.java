package io.understudy.mirror.scope;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys a cluster keeps for Understudy itself: never copied, never pruned.
 *
 * <p>Invariant M24: reserved keys are neither copied nor pruned.
 */
public final class ReservedKeys {

    private static final ByteString PREFIX = ByteString.copyFromUtf8("\0understudy/");

    private static final ByteString MIRRORS = PREFIX.concat(ByteString.copyFromUtf8("mirror/"));
    private static final ByteString CHECKPOINT = ByteString.copyFromUtf8("/checkpoint");

    private static final ByteString HOMES_PREFIX = PREFIX.concat(ByteString.copyFromUtf8("home/"));

    /** Where a cluster stores the homes of what is mirrored from it and into it. */
    public static final KeyRange HOMES = KeyRange.prefix(HOMES_PREFIX);

    private static final ByteString FREEZES_PREFIX = PREFIX.concat(ByteString.copyFromUtf8("freeze/"));

    /** Where a cluster stores which mirrors' moves have withdrawn permissions in it that are to be granted again. */
    public static final KeyRange FREEZES = KeyRange.prefix(FREEZES_PREFIX);

    /** Where all mirrors keep theirs. */
    public static final KeyRange CHECKPOINTS = KeyRange.prefix(MIRRORS);

    /** All of them. */
    public static final KeyRange RANGE = KeyRange.prefix(PREFIX);

    private ReservedKeys() {}

    public static boolean contains(ByteString key) {
        return key.startsWith(PREFIX);
    }

    /** Whether some key that begins like that is one of them. */
    static boolean meet(ByteString prefix) {
        return prefix.startsWith(PREFIX) || PREFIX.startsWith(prefix);
    }

    /** Where an etcd cluster stores the checkpoint of a mirror into it. */
    public static ByteString checkpoint(String mirror) {
        return MIRRORS.concat(ByteString.copyFromUtf8(mirror)).concat(CHECKPOINT);
    }

    /** Where an etcd cluster stores something else of a mirror into it, such as {@code epoch} or {@code lane/3}. */
    public static ByteString of(String mirror, String what) {
        return MIRRORS.concat(ByteString.copyFromUtf8(mirror + "/" + what));
    }

    /** Where an etcd cluster stores how far the lanes of a mirror's snapshot have come. */
    public static KeyRange lanes(String mirror) {
        return all(mirror, "lane/");
    }

    /** Where an etcd cluster names the active process of a mirror into it, attached to a lease. */
    public static ByteString active(String mirror) {
        return of(mirror, "active");
    }

    /** Where an etcd cluster stores the epoch of a mirror into it, put when a writer takes over and at no other time. */
    public static ByteString epoch(String mirror) {
        return of(mirror, "epoch");
    }

    /** Where an etcd cluster stores, while it is so, that every key of a mirror into it has the lease that it should have. */
    public static ByteString wholeLeases(String mirror) {
        return of(mirror, "leases");
    }

    /** Where an etcd cluster stores, while it is so, that a mirror into it may have kept keys that the source doesn't have. */
    public static ByteString keptForeign(String mirror) {
        return of(mirror, "kept");
    }

    /** Where an etcd cluster stores a mirror's first checkpoint since when its history has each deletion. */
    public static ByteString resumable(String mirror) {
        return of(mirror, "resumable");
    }

    /** All that an etcd cluster stores of a mirror into it under names that begin like that. */
    public static KeyRange all(String mirror, String what) {
        return KeyRange.prefix(of(mirror, what));
    }

    /** Where a cluster stores which cluster the keys of a mirror are written in by their owners. */
    public static ByteString home(String mirror) {
        return HOMES_PREFIX.concat(ByteString.copyFromUtf8(mirror));
    }

    /** Where a cluster stores, while it is so, that a move of a mirror has withdrawn permissions in it. */
    public static ByteString freeze(String mirror) {
        return FREEZES_PREFIX.concat(ByteString.copyFromUtf8(mirror));
    }

    /** Whether a mirror's checkpoint is stored there. */
    public static boolean isCheckpoint(ByteString key) {
        return key.startsWith(MIRRORS) && key.endsWith(CHECKPOINT);
    }

    /** Whether a mirror into this cluster stores a commit's path at the key: its checkpoint or a lane. */
    public static boolean isMark(ByteString key) {
        if (!key.startsWith(MIRRORS)) {
            return false;
        }
        String inside = key.substring(MIRRORS.size()).toStringUtf8();
        String what = inside.substring(inside.indexOf('/') + 1);
        return what.equals("checkpoint") || what.startsWith("lane/");
    }

    /** The parts of {@code range} that are not reserved, in key order. */
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
