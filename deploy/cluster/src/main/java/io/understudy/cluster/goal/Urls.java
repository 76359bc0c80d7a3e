package io.understudy.cluster.goal;

import java.net.URI;
import java.util.List;
import java.util.Set;

/** Addresses, in whatever order etcd keeps them. */
final class Urls {

    private Urls() {}

    static boolean same(List<URI> one, List<URI> other) {
        return Set.copyOf(one).equals(Set.copyOf(other));
    }
}
