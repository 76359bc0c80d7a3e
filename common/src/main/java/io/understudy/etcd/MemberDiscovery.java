package io.understudy.etcd;

/** Where the endpoints of a cluster come from. */
public enum MemberDiscovery {
    /** The configured endpoints are seeds: the client URLs in the cluster's own member list are used as well. */
    MEMBERS,
    /**
     * Exactly the configured endpoints, each of which must always lead to one and the same member: for networks in which
     * the advertised client URLs can't be reached.
     */
    CONFIGURED
}
