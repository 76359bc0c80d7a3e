package io.understudy.mirror.scope;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.util.ArrayList;
import java.util.List;

/**
 * The mirrored keys of the source and their names in the target, without reserved keys.
 *
 * <p>Renaming replaces a common prefix of all mirrored keys, so it preserves their order.
 *
 * <p>Invariant M19: keys of the target outside the scope, excluded ones included, stay unchanged.
 *
 * @param include prefixes, disjoint and in key order; empty for all keys
 * @param exclude prefixes within the included ones, disjoint and in key order
 * @param renameFrom prefix of all included keys; empty with an empty {@code renameTo} for no renaming
 * @param renameTo replacement of that prefix in the target
 */
public record MirrorScope(
        List<ByteString> include, List<ByteString> exclude, ByteString renameFrom, ByteString renameTo) {

    /** @throws IllegalArgumentException the parts contradict each other; the message names them */
    public MirrorScope {
        // An empty prefix is one of every key.
        include = include.stream().anyMatch(ByteString::isEmpty) ? List.of() : ordered("include", include);
        exclude = ordered("exclude", exclude);
        List<ByteString> all = include;
        for (ByteString out : exclude) {
            if (out.isEmpty() || (!all.isEmpty() && all.stream().noneMatch(out::startsWith))) {
                throw new IllegalArgumentException("exclude " + shown(out) + " is not within include");
            }
        }
        ByteString from = renameFrom;
        if (!from.isEmpty() && all.isEmpty()) {
            throw new IllegalArgumentException("rename.from is " + shown(from)
                    + ", but include is not set; set include to prefixes that start with " + shown(from));
        }
        if (!all.stream().allMatch(prefix -> prefix.startsWith(from))) {
            throw new IllegalArgumentException("every include must start with rename.from, " + shown(from));
        }
        List<ByteString> prefixes = all.isEmpty() ? List.of(from) : all;
        boolean mayBeReserved = !from.equals(renameTo)
                && prefixes.stream()
                        .map(prefix -> renameTo.concat(prefix.substring(from.size())))
                        .anyMatch(ReservedKeys::meet);
        if (mayBeReserved || ReservedKeys.contains(renameTo)) {
            throw new IllegalArgumentException((renameTo.isEmpty()
                            ? "rename.from is " + shown(from) + " and rename.to is not set: keys without that prefix"
                            : "keys with the prefix " + shown(renameTo))
                    + " could overlap the keys reserved for Understudy");
        }
    }

    /** Returns a scope of all keys, without renaming. */
    public static MirrorScope all() {
        return of(List.of());
    }

    /** Returns a scope of keys with one of these prefixes, without renaming. */
    public static MirrorScope of(List<ByteString> include) {
        return new MirrorScope(include, List.of(), ByteString.EMPTY, ByteString.EMPTY);
    }

    /** Returns a scope of keys with one prefix, without renaming. */
    public static MirrorScope prefix(String prefix) {
        return of(List.of(ByteString.copyFromUtf8(prefix)));
    }

    /** Returns the scope of a mirror from the target back to the source. */
    public MirrorScope reversed() {
        return new MirrorScope(
                include.stream().map(this::inTarget).toList(),
                exclude.stream().map(this::inTarget).toList(),
                renameTo,
                renameFrom);
    }

    /** Returns the mirrored keys under their target names, without renaming. */
    public MirrorScope named() {
        List<ByteString> renamed = renames() && include.isEmpty()
                ? List.of(renameTo)
                : include.stream().map(this::inTarget).toList();
        return new MirrorScope(
                renamed, exclude.stream().map(this::inTarget).toList(), ByteString.EMPTY, ByteString.EMPTY);
    }

    /** Whether a key of the source is mirrored. */
    public boolean contains(ByteString key) {
        return !ReservedKeys.contains(key) && (include.isEmpty() || begins(key, include)) && !begins(key, exclude);
    }

    /** Whether keys have other names in the target. */
    public boolean renames() {
        return !renameFrom.equals(renameTo);
    }

    /** Returns the target name of a mirrored key. */
    public ByteString inTarget(ByteString key) {
        return renames() ? renameTo.concat(key.substring(renameFrom.size())) : key;
    }

    /** Returns the source name of a key in {@link #targetRanges}. */
    public ByteString atSource(ByteString key) {
        return renames() ? renameFrom.concat(key.substring(renameTo.size())) : key;
    }

    /** Returns the mirrored keys of the source, as disjoint ranges in key order. */
    public List<KeyRange> sourceRanges() {
        List<KeyRange> parts = new ArrayList<>();
        List<KeyRange> included = include.isEmpty()
                ? List.of(KeyRange.all())
                : include.stream().map(KeyRange::prefix).toList();
        for (KeyRange range : included) {
            for (KeyRange part : ReservedKeys.outside(range)) {
                cut(part, parts);
            }
        }
        return List.copyOf(parts);
    }

    /** Returns the parts of {@link #sourceRanges} within {@code covered}. */
    public List<KeyRange> sourceRanges(KeyRange covered) {
        return sourceRanges().stream()
                .filter(covered::intersects)
                .map(range -> range.intersection(covered))
                .toList();
    }

    /** Returns a mirrored entry under its target name. */
    public KeyValue inTarget(KeyValue entry) {
        return renames()
                ? new KeyValue(
                        inTarget(entry.key()),
                        entry.value(),
                        entry.createRevision(),
                        entry.modRevision(),
                        entry.version(),
                        entry.lease())
                : entry;
    }

    /** Returns a mirrored change under its target name. */
    public Change inTarget(Change change) {
        if (!renames()) {
            return change;
        }
        return change instanceof Change.Put put
                ? new Change.Put(inTarget(put.keyValue()))
                : new Change.Delete(inTarget(change.key()));
    }

    /** Returns the mirrored entries of a page under their target names, in the same order. */
    public List<KeyValue> mirrored(List<KeyValue> entries) {
        return entries.stream()
                .filter(entry -> contains(entry.key()))
                .map(this::inTarget)
                .toList();
    }

    /** Returns the keys of the mirror in the target, as disjoint ranges in key order. */
    public List<KeyRange> targetRanges() {
        return sourceRanges().stream().map(this::inTarget).toList();
    }

    /** Returns a part of {@link #sourceRanges} under its target names. */
    public KeyRange inTarget(KeyRange range) {
        return renames() ? renamed(range, renameFrom, renameTo) : range;
    }

    /** Returns a part of {@link #targetRanges} under its source names. */
    public KeyRange atSource(KeyRange range) {
        return renames() ? renamed(range, renameTo, renameFrom) : range;
    }

    /** Returns one range with all mirrored keys and, if {@code marked}, the marks of other mirrors. */
    public KeyRange feedRange(boolean marked) {
        if (include.isEmpty()) {
            return KeyRange.all();
        }
        ByteString from = include.get(0);
        ByteString to = KeyRange.prefix(include.get(include.size() - 1)).to();
        if (!marked) {
            return new KeyRange(from, to);
        }
        KeyRange marks = ReservedKeys.RANGE;
        ByteString marksEnd = marks.to();
        return new KeyRange(
                KeyRange.KEY_ORDER.compare(marks.from(), from) < 0 ? marks.from() : from,
                to == null || (marksEnd != null && KeyRange.KEY_ORDER.compare(to, marksEnd) >= 0) ? to : marksEnd);
    }

    /** Whether {@link #feedRange} has the marks: of all keys always, of some only if {@code marked}. */
    public boolean readsMarks(boolean marked) {
        return feedRange(marked).equals(feedRange(true));
    }

    /** Whether both have a target key in common. */
    public boolean meetsInTarget(MirrorScope other) {
        List<KeyRange> theirs = other.targetRanges();
        return targetRanges().stream().anyMatch(ours -> theirs.stream().anyMatch(ours::intersects));
    }

    /** Returns a description for operators. */
    public String shown() {
        StringBuilder text = new StringBuilder(include.isEmpty() ? "all keys" : "keys with " + shown(include));
        if (!exclude.isEmpty()) {
            text.append(" without ").append(shown(exclude));
        }
        if (renames()) {
            text.append(", ").append(shown(renameFrom)).append(" renamed to ").append(shown(renameTo));
        }
        return text.toString();
    }

    private void cut(KeyRange part, List<KeyRange> parts) {
        ByteString from = part.from();
        ByteString end = part.to();
        for (ByteString prefix : exclude) {
            KeyRange out = KeyRange.prefix(prefix);
            if (!out.intersects(new KeyRange(from, end))) {
                continue;
            }
            if (KeyRange.KEY_ORDER.compare(from, out.from()) < 0) {
                parts.add(new KeyRange(from, out.from()));
            }
            ByteString after = out.to();
            if (after == null || (end != null && KeyRange.KEY_ORDER.compare(after, end) >= 0)) {
                return;
            }
            from = after;
        }
        parts.add(new KeyRange(from, end));
    }

    private static KeyRange renamed(KeyRange range, ByteString from, ByteString to) {
        ByteString end = range.to();
        KeyRange whole = KeyRange.prefix(to);
        return new KeyRange(
                range.from().startsWith(from) ? to.concat(range.from().substring(from.size())) : whole.from(),
                end != null && end.startsWith(from) ? to.concat(end.substring(from.size())) : whole.to());
    }

    private static boolean begins(ByteString key, List<ByteString> prefixes) {
        for (ByteString prefix : prefixes) {
            if (key.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    private static List<ByteString> ordered(String what, List<ByteString> prefixes) {
        List<ByteString> sorted = prefixes.stream().sorted(KeyRange.KEY_ORDER).toList();
        ByteString last = null;
        for (ByteString prefix : sorted) {
            if (last != null && prefix.startsWith(last)) {
                throw new IllegalArgumentException(
                        what + " " + shown(prefix) + " is contained in " + shown(last) + "; remove one of them");
            }
            last = prefix;
        }
        return sorted;
    }

    private static String shown(List<ByteString> prefixes) {
        return String.join(", ", prefixes.stream().map(MirrorScope::shown).toList());
    }

    private static String shown(ByteString key) {
        return "\"" + TextFormat.escapeBytes(key) + "\"";
    }
}
