package io.understudy.mirror.settings;

import io.understudy.mirror.settings.MirrorSettings.Mirror;
import io.understudy.mirror.settings.MirrorSettings.Source;
import io.understudy.mirror.settings.MirrorSettings.Target;
import io.understudy.vocabulary.KeyRange;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The ways that keys take through the etcd clusters of mirrors that run together. Clusters are the same here where an
 * endpoint is: what else they are is found out when they are connected to.
 */
public final class MirrorCourses {

    private MirrorCourses() {}

    /**
     * Checks mirrors that run together.
     *
     * @throws IllegalArgumentException one leads to where it comes from, two write the same keys, or keys would go in a
     *     circle; names the mirrors
     */
    public static void requireSound(List<Mirror> mirrors) {
        for (int i = 0; i < mirrors.size(); i++) {
            Mirror one = mirrors.get(i);
            if (!shared(source(one), target(one)).isEmpty()) {
                throw new IllegalArgumentException("source and target of mirror " + one.name()
                        + " are the same cluster: " + shared(source(one), target(one)));
            }
            for (Mirror other : mirrors.subList(i + 1, mirrors.size())) {
                if (!shared(target(one), target(other)).isEmpty() && one.scope().meetsInTarget(other.scope())) {
                    throw new IllegalArgumentException("mirrors " + one.name() + " and " + other.name()
                            + " write overlapping keys to " + shared(target(one), target(other)) + ": "
                            + one.scope().shown() + ", and " + other.scope().shown() + ". Configure disjoint keys");
                }
            }
            requireNoCircle(List.of(one), mirrors);
        }
    }

    /** Returns the names of mirrors that bring keys to this mirror's source. */
    public static Set<String> feeding(Mirror mirror, List<Mirror> all) {
        return all.stream()
                .filter(other -> other.source() instanceof Source.Etcd)
                .filter(other -> feeds(other, mirror))
                .map(Mirror::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** @param way mirrors, each of which copies on some of the keys that the one before brings */
    private static void requireNoCircle(List<Mirror> way, List<Mirror> all) {
        for (Mirror next : all) {
            if (!feeds(way.get(way.size() - 1), next)) {
                continue;
            }
            if (next.equals(way.get(0))) {
                throw new IllegalArgumentException("mirrors form a loop: "
                        + way.stream().map(Mirror::name).collect(Collectors.joining(", "))
                        + ". Mirror disjoint keys in opposite directions; in a ring, configure separate mirrors for the"
                        + " keys of each primary");
            }
            if (!way.contains(next)) {
                List<Mirror> longer = new ArrayList<>(way);
                longer.add(next);
                requireNoCircle(longer, all);
            }
        }
    }

    /** Whether {@code one} brings keys to the source of {@code other} that it copies on. */
    private static boolean feeds(Mirror one, Mirror other) {
        return !shared(target(one), source(other)).isEmpty()
                && meet(one.scope().targetRanges(), other.scope().sourceRanges());
    }

    private static boolean meet(List<KeyRange> some, List<KeyRange> others) {
        return some.stream().anyMatch(one -> others.stream().anyMatch(one::intersects));
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
