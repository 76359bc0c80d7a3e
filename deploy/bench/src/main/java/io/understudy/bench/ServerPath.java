package io.understudy.bench;

import java.util.Set;

/** A way by which what a cluster holds can be read or watched. */
public enum ServerPath {
    GATEWAY("gateway", Set.of(ProcessRole.GATEWAY, ProcessRole.LEARNER, ProcessRole.VOTERS)),
    /** The gateway while the voters are near, where they are far otherwise. */
    GATEWAY_NEAR("gateway-near", Set.of(ProcessRole.GATEWAY, ProcessRole.LEARNER, ProcessRole.VOTERS)),
    /** Requests to the learner itself. */
    LEARNER("learner", Set.of(ProcessRole.LEARNER, ProcessRole.VOTERS)),
    /** Requests to a follower itself. */
    FOLLOWER("follower", Set.of(ProcessRole.LEARNER, ProcessRole.VOTERS)),
    /** Requests to the leader itself, which need no learner. */
    LEADER("leader", Set.of(ProcessRole.VOTERS)),
    /** etcd's own proxy before the voters: answers what it has answered before from its cache, and joins watches. */
    GRPC_PROXY("grpc-proxy", Set.of(ProcessRole.GRPC_PROXY, ProcessRole.VOTERS));

    private final String title;

    @SuppressWarnings("ImmutableEnumChecker") // Set.of is
    private final Set<ProcessRole> roles;

    ServerPath(String title, Set<ProcessRole> roles) {
        this.title = title;
        this.roles = roles;
    }

    /** The processes that may work for a client by this way. */
    Set<ProcessRole> roles() {
        return roles;
    }

    @Override
    public String toString() {
        return title;
    }
}
