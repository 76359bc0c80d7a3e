package io.understudy.cluster.observe;

import io.understudy.etcd.Endpoint;
import io.understudy.vocabulary.MemberId;
import java.util.Map;
import java.util.Set;

/**
 * What one look leaves to the next: where the members were found.
 *
 * @param listing who they were
 * @param endpoints where they say that clients find them
 * @param answering where those who answered did
 */
record Found(Listing listing, Set<Endpoint> endpoints, Map<MemberId, Endpoint> answering) {

    Found {
        endpoints = Set.copyOf(endpoints);
        answering = Map.copyOf(answering);
    }
}
