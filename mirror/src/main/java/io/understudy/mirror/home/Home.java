package io.understudy.mirror.home;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.StrictJson;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The one cluster in which a mirror's keys are written by their owners. Source and target each store what they know of
 * that; of two records the one of more moves is right, since a closed or lost cluster cannot store it.
 *
 * <pre>{@code
 * {"format":1,"mirror":"dr","home":"cdf818194e3a8c32","source":"cdf818194e3a8c32","target":"b0f2",
 *  "scope":{"include":[],"exclude":[],"from":"","to":""},"moves":0,"at":"2026-01-31T12:00:00.123Z"}
 * }</pre>
 *
 * @param mirror its name
 * @param cluster the home: the source, one that the source has the keys from, or after a switchover the target
 * @param scope what is mirrored from source to target
 * @param moves how often it has moved
 * @param at when this was found out, to the millisecond
 * @param move of the primary role, as far as this cluster stores it; in a record of format 2 beside the other fields
 */
public record Home(
        String mirror,
        ClusterId cluster,
        ClusterId source,
        ClusterId target,
        MirrorScope scope,
        long moves,
        Instant at,
        Move move) {

    private static final int FORMAT = 1;
    /** With a move. */
    private static final int FORMAT_WITH_MOVE = 2;

    private static final Set<String> FIELDS =
            Set.of("format", "mirror", "home", "source", "target", "scope", "moves", "at");
    private static final Set<String> FIELDS_WITH_MOVE =
            Set.of("format", "mirror", "home", "source", "target", "scope", "moves", "at", "move");

    public Home {
        at = at.truncatedTo(ChronoUnit.MILLIS);
        if (moves < 0) {
            throw new IllegalArgumentException("moves must not be negative, is " + moves);
        }
    }

    /** Without a move. */
    public Home(
            String mirror,
            ClusterId cluster,
            ClusterId source,
            ClusterId target,
            MirrorScope scope,
            long moves,
            Instant at) {
        this(mirror, cluster, source, target, scope, moves, at, Move.NONE);
    }

    /** The same after another move; without what is stored of the last one. */
    public Home movedTo(ClusterId next, long newMoves, Instant now) {
        return new Home(mirror, next, source, target, scope, newMoves, now);
    }

    /** The same, stored with that. */
    public Home with(Move other) {
        return new Home(mirror, cluster, source, target, scope, moves, at, other);
    }

    /** The same with the primary as the mirror's source, as the mirror runs from now on. */
    public Home turned() {
        return cluster.equals(source)
                ? this
                : new Home(
                        mirror, cluster, /* source= */ target, /* target= */ source, scope.reversed(), moves, at, move);
    }

    /** Whether both describe the same role, apart from time and moves. */
    public boolean agreesWith(@Nullable Home other) {
        return other != null
                && new Home(mirror, cluster, source, target, scope, moves, other.at, other.move).equals(other);
    }

    /** What the mirrored keys are in {@code at}; empty if that is neither of its clusters. */
    public List<KeyRange> rangesIn(ClusterId at) {
        if (at.equals(target)) {
            return scope.targetRanges();
        }
        return at.equals(source) ? scope.sourceRanges() : List.of();
    }

    /**
     * Whether this keeps another mirror from writing {@code written} into the cluster {@code at}: there owners write
     * some of them. Not if it only records a copy from there, and the other mirror's home has moved away from there:
     * that one brings the keys back to where they are copied from. Nor if the copy is made, of more keys, from where
     * the other mirror is recorded to bring some of them.
     *
     * @param other what is known of the other mirror's home, null for nothing
     * @param known whether {@code at} has a record of it
     */
    public boolean keepsOut(ClusterId at, List<KeyRange> written, @Nullable Home other, boolean known) {
        boolean isThere = cluster.equals(at)
                && written.stream().anyMatch(range -> rangesIn(at).stream().anyMatch(range::intersects));
        boolean isCopiedElsewhere = other != null
                && source.equals(at)
                && !target.equals(other.cluster)
                && other.hasMovedFrom(at)
                && at().isBefore(other.at());
        return isThere && !isCopiedElsewhere && !(other != null && known && copiesOn(at, written, other));
    }

    /** A new copy reads which keys are brought there; a mirror recorded there was so before, or was kept out. */
    private boolean copiesOn(ClusterId at, List<KeyRange> written, Home other) {
        return source.equals(at)
                && other.target.equals(at)
                && !other.cluster.equals(at)
                && !target.equals(other.source)
                && other.rangesIn(at).equals(written);
    }

    /** Whether the role was moved away from {@code at} since {@code other}, in the opposite direction, was stored. */
    public boolean isMovedPast(Home other, ClusterId at) {
        return hasMovedFrom(at)
                && other.cluster.equals(at)
                && other.source.equals(at)
                && other.target.equals(cluster)
                && other.at().isBefore(at());
    }

    /** Whether it is the other one of its two clusters because it was moved. */
    private boolean hasMovedFrom(ClusterId at) {
        boolean isBack = source.equals(at) && target.equals(cluster);
        boolean isForth = source.equals(cluster) && target.equals(at);
        return moves > 0 && (isBack || isForth) && !cluster.equals(at);
    }

    /** As stored. */
    public ByteString encode() {
        ObjectNode root = StrictJson.object();
        root.put("format", move.equals(Move.NONE) ? FORMAT : FORMAT_WITH_MOVE);
        root.put("mirror", mirror);
        root.put("home", cluster.toString());
        root.put("source", source.toString());
        root.put("target", target.toString());
        StrictJson.put(root, "scope", scope);
        root.put("moves", moves);
        root.put("at", at.toString());
        if (!move.equals(Move.NONE)) {
            root.set("move", move.json());
        }
        return StrictJson.encode(root);
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @param where what errors name
     * @throws IllegalArgumentException it is anything else; the message has the place and the content
     */
    public static Home decode(String where, ByteString stored) {
        try {
            JsonNode root = StrictJson.parse(stored);
            boolean hasMove = root.path("format").asInt() == FORMAT_WITH_MOVE;
            StrictJson.requireFormat(root, hasMove ? FORMAT_WITH_MOVE : FORMAT);
            StrictJson.requireFields("it", root, hasMove ? FIELDS_WITH_MOVE : FIELDS);
            return new Home(
                    StrictJson.text(root, "mirror"),
                    StrictJson.clusterId(root, "home"),
                    StrictJson.clusterId(root, "source"),
                    StrictJson.clusterId(root, "target"),
                    StrictJson.scope(root, "scope"),
                    StrictJson.number(root, "moves"),
                    StrictJson.instant(root, "at"),
                    hasMove ? Move.decode(root.path("move")) : Move.NONE);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "invalid primary record at " + where + ": " + e.getMessage() + "; found "
                            + StrictJson.shown(stored),
                    e);
        }
    }
}
