package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Permission;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Grant;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Ranges that are closed to clients by revoking write permissions of their roles: which permissions write them, and what is
 * left of those. Computes only.
 */
record ClosedRanges(List<KeyRange> ranges) {

    ClosedRanges {
        ranges = List.copyOf(ranges);
    }

    boolean writes(Grant grant) {
        KeyRange range = KeyRange.ofEtcd(grant.key(), grant.end());
        return !type(grant).equals(Permission.Type.READ) && intersects(range);
    }

    /** Writes to the range. */
    List<Grant> inside(List<Grant> grants) {
        return grants.stream()
                .filter(this::writes)
                .flatMap(grant -> ranges.stream()
                        .filter(KeyRange.ofEtcd(grant.key(), grant.end())::intersects)
                        .map(KeyRange.ofEtcd(grant.key(), grant.end())::intersection)
                        .map(part -> new Grant(grant.role(), part.etcdKey(), part.etcdRangeEnd(), grant.type())))
                .toList();
    }

    boolean intersects(ClosedRanges other) {
        return ranges.stream().anyMatch(other::intersects);
    }

    private boolean intersects(KeyRange other) {
        return ranges.stream().anyMatch(other::intersects);
    }

    /** Removes writes to the range from one role's permissions. Reads there and writes elsewhere stay. */
    List<Grant> narrowed(List<Grant> before) {
        Map<KeyRange, Grant> after = new LinkedHashMap<>();
        for (Grant grant : before) {
            if (!writes(grant)) {
                add(grant, after);
                continue;
            }
            if (type(grant) == Permission.Type.READWRITE) {
                add(new Grant(grant.role(), grant.key(), grant.end(), Permission.Type.READ.name()), after);
            }
            for (KeyRange part : outside(KeyRange.ofEtcd(grant.key(), grant.end()))) {
                add(new Grant(grant.role(), part.etcdKey(), part.etcdRangeEnd(), grant.type()), after);
            }
        }
        return List.copyOf(after.values());
    }

    /** The parts of {@code range} that are not mirrored. */
    private List<KeyRange> outside(KeyRange range) {
        List<KeyRange> parts = new ArrayList<>();
        ByteString from = range.from();
        for (KeyRange mirrored : ranges.stream()
                .sorted((one, other) -> KeyRange.KEY_ORDER.compare(one.from(), other.from()))
                .toList()) {
            if (!mirrored.intersects(new KeyRange(from, range.to()))) {
                continue;
            }
            if (KeyRange.KEY_ORDER.compare(from, mirrored.from()) < 0) {
                parts.add(new KeyRange(from, mirrored.from()));
            }
            ByteString end = mirrored.to();
            if (end == null || (range.to() != null && KeyRange.KEY_ORDER.compare(end, range.to()) >= 0)) {
                return parts;
            }
            from = end;
        }
        parts.add(new KeyRange(from, range.to()));
        return parts;
    }

    static Map<String, List<Grant>> byRole(Closed closed) {
        Map<String, List<Grant>> byRole = new LinkedHashMap<>();
        closed.grants().forEach(grant -> byRole.computeIfAbsent(grant.role(), unknown -> new ArrayList<>())
                .add(grant));
        return byRole;
    }

    /** The permissions as they were before, and what others granted since. */
    static List<Grant> opened(List<Grant> present, List<Grant> before) {
        Map<KeyRange, Grant> wanted = new LinkedHashMap<>();
        before.forEach(each -> add(each, wanted));
        present.stream().filter(each -> !isPermitted(List.of(each), before)).forEach(each -> add(each, wanted));
        return List.copyOf(wanted.values());
    }

    /** Whether each is covered by one of {@code present}. */
    static boolean isPermitted(List<Grant> grants, List<Grant> present) {
        return grants.stream().allMatch(each -> present.stream()
                .anyMatch(other -> (type(other) == type(each) || type(other) == Permission.Type.READWRITE)
                        && KeyRange.ofEtcd(other.key(), other.end()).covers(KeyRange.ofEtcd(each.key(), each.end()))));
    }

    private static void add(Grant grant, Map<KeyRange, Grant> to) {
        to.merge(
                KeyRange.ofEtcd(grant.key(), grant.end()),
                grant,
                (one, other) -> one.type().equals(other.type())
                        ? one
                        : new Grant(one.role(), one.key(), one.end(), Permission.Type.READWRITE.name()));
    }

    /** Whether there is another permission of its range, with another type. */
    static boolean isTwin(Grant grant, List<Grant> all) {
        return all.stream().anyMatch(each -> isSame(each, grant) && type(each) != type(grant));
    }

    static boolean isSame(Grant one, Grant other) {
        return one.key().equals(other.key()) && one.end().equals(other.end());
    }

    static Permission.Type type(Grant grant) {
        return Permission.Type.valueOf(grant.type());
    }

    static Permission permission(Grant grant) {
        return Permission.newBuilder()
                .setPermType(type(grant))
                .setKey(grant.key())
                .setRangeEnd(grant.end())
                .build();
    }
}
