package io.understudy.mirror;

import io.understudy.mirror.MirrorSettings.Mirror;
import io.understudy.mirror.MirrorSettings.Source;
import io.understudy.mirror.MirrorSettings.Target;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.KeyRange;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The ways that keys take through the etcd clusters of mirrors that run together. Clusters are the same here where an endpoint
 * is: what else they are is found out when they are connected to.
 */
final class MirrorCourses {

    private MirrorCourses() {}

    /**
     * @throws IllegalArgumentException one leads to where it comes from, two write the same keys, or keys would go in a circle;
     *     names the mirrors
     */
    static void requireSound(List<Mirror> mirrors) {
        for (int i = 0; i < mirrors.size(); i++) {
            Mirror one = mirrors.get(i);
            if (!shared(source(one), target(one)).isEmpty()) {
                throw new IllegalArgumentException("the source and the target of mirror " + one.name()
                        + " are the same cluster, at " + shared(source(one), target(one)));
            }
            for (Mirror other : mirrors.subList(i + 1, mirrors.size())) {
                if (!shared(target(one), target(other)).isEmpty() && one.scope().meetsInTarget(other.scope())) {
                    throw new IllegalArgumentException("mirrors " + one.name() + " and " + other.name()
                            + " would write the same keys in " + shared(target(one), target(other)) + ": "
                            + one.scope().shown() + ", and " + other.scope().shown() + ". Allowed are disjoint ones");
                }
            }
            requireNoCircle(List.of(one), one.scope().targetRanges(), mirrors);
        }
    }

    /** Those that bring keys to the mirror's source that it copies on. */
    static Set<String> feeding(Mirror mirror, List<Mirror> all) {
        return all.stream()
                .filter(other -> other.source() instanceof Source.Etcd)
                .filter(other -> !shared(target(other), source(mirror)).isEmpty())
                .filter(other -> !common(
                                other.scope().targetRanges(), mirror.scope().sourceRanges())
                        .isEmpty())
                .map(Mirror::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * @param way mirrors, each of which copies on what the one before has brought
     * @param brought what has come to the last one's target of what the first one copies
     */
    private static void requireNoCircle(List<Mirror> way, List<KeyRange> brought, List<Mirror> all) {
        Mirror first = way.get(0);
        for (Mirror next : all) {
            List<KeyRange> taken =
                    shared(target(way.get(way.size() - 1)), source(next)).isEmpty()
                            ? List.of()
                            : common(brought, next.scope().sourceRanges());
            if (taken.isEmpty()) {
                continue;
            }
            if (next.equals(first)) {
                throw new IllegalArgumentException("keys would go in a circle by mirrors "
                        + way.stream().map(Mirror::name).collect(Collectors.joining(", "))
                        + ": each range of keys has one home, where their owners write them. Allowed are disjoint keys in"
                        + " opposite directions");
            }
            if (!way.contains(next)) {
                List<Mirror> longer = new ArrayList<>(way);
                longer.add(next);
                MirrorScope scope = next.scope();
                requireNoCircle(longer, taken.stream().map(scope::inTarget).toList(), all);
            }
        }
    }

    private static List<KeyRange> common(List<KeyRange> some, List<KeyRange> others) {
        return some.stream()
                .flatMap(one -> others.stream().filter(one::intersects).map(one::intersection))
                .toList();
    }

    private static Set<URI> shared(Set<URI> some, Set<URI> others) {
        Set<URI> both = new HashSet<>(some);
        both.retainAll(others);
        return both;
    }

    private static Set<URI> source(Mirror mirror) {
        return mirror.source() instanceof Source.Etcd etcd
                ? Set.copyOf(etcd.cluster().endpoints())
                : Collections.emptySet();
    }

    private static Set<URI> target(Mirror mirror) {
        return mirror.target() instanceof Target.Etcd etcd
                ? Set.copyOf(etcd.cluster().endpoints())
                : Collections.emptySet();
    }
}
