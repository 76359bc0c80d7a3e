package io.understudy.etcd;

/** Source of a cluster's endpoints. */
public enum MemberDiscovery {
    /** The configured endpoints, and the client URLs in the cluster's member list. */
    MEMBERS,
    /**
     * Exactly the configured endpoints, each of which must always reach one and the same member. For networks in which
     * the advertised client URLs can't be reached.
     */
    CONFIGURED
}
