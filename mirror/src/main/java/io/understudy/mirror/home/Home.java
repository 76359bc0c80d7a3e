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
 * Record of the primary: the cluster in which clients write a mirror's keys. Source and target each store one. The
 * record with more moves is valid, since a closed or lost cluster cannot store a new one.
 *
 * <pre>{@code
 * {"format":1,"mirror":"dr","home":"cdf818194e3a8c32","source":"cdf818194e3a8c32","target":"b0f2",
 *  "scope":{"include":[],"exclude":[],"from":"","to":""},"moves":0,"at":"2026-01-31T12:00:00.123Z"}
 * }</pre>
 *
 * @param mirror name of the mirror
 * @param cluster the primary: the source, a cluster that it copies the keys from, or after a switchover the target
 * @param scope what is mirrored from source to target
 * @param moves number of moves
 * @param at time of the record, to the millisecond
 * @param move part of a move that this cluster stores, in a record of format 2
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
    /** Format of a record with a move. */
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

    /** Creates a record without a move. */
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

    /** Returns this record after another move, without the state of the last one. */
    public Home movedTo(ClusterId next, long newMoves, Instant now) {
        return new Home(mirror, next, source, target, scope, newMoves, now);
    }

    /** Returns this record with the state of a move. */
    public Home with(Move other) {
        return new Home(mirror, cluster, source, target, scope, moves, at, other);
    }

    /** Returns this record with the primary as source, as the mirror now runs. */
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

    /** Returns the mirrored ranges in {@code at}. Empty if it is not a cluster of the mirror. */
    public List<KeyRange> rangesIn(ClusterId at) {
        if (at.equals(target)) {
            return scope.targetRanges();
        }
        return at.equals(source) ? scope.sourceRanges() : List.of();
    }

    /**
     * Whether this record rejects another mirror that writes {@code written} into {@code at}, their primary. Not if it
     * only records a copy from there, and the other mirror's primary has moved away: that mirror brings the keys back.
     * Nor if the copy, of more keys, reads what the other mirror is recorded to bring there.
     *
     * @param other record of the other mirror; null if unknown
     * @param known whether {@code at} holds that record
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

    /** Whether this copies the keys that the recorded other mirror brings to {@code at}. */
    private boolean copiesOn(ClusterId at, List<KeyRange> written, Home other) {
        return source.equals(at)
                && other.target.equals(at)
                && !other.cluster.equals(at)
                && !target.equals(other.source)
                && other.rangesIn(at).equals(written);
    }

    /** Whether the primary moved away from {@code at} since the opposite mirror's {@code other}. */
    public boolean isMovedPast(Home other, ClusterId at) {
        return hasMovedFrom(at)
                && other.cluster.equals(at)
                && other.source.equals(at)
                && other.target.equals(cluster)
                && other.at().isBefore(at());
    }

    /** Whether a move made the other cluster the primary. */
    private boolean hasMovedFrom(ClusterId at) {
        boolean isBack = source.equals(at) && target.equals(cluster);
        boolean isForth = source.equals(cluster) && target.equals(at);
        return moves > 0 && (isBack || isForth) && !cluster.equals(at);
    }

    /** Returns the stored form. */
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
     * @param where place of the record, for errors
     * @throws IllegalArgumentException the record is invalid; the message has the place and the content
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
