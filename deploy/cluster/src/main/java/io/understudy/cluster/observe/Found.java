package io.understudy.cluster.observe;

import io.understudy.etcd.Endpoint;
import io.understudy.vocabulary.MemberId;
import java.util.Map;
import java.util.Set;

/**
 * The endpoints of members that an observation found, for the next one.
 *
 * @param listing the member list
 * @param endpoints the client URLs in it
 * @param answering the endpoints that responded, by member
 */
record Found(Listing listing, Set<Endpoint> endpoints, Map<MemberId, Endpoint> answering) {

    Found {
        endpoints = Set.copyOf(endpoints);
        answering = Map.copyOf(answering);
    }
}
