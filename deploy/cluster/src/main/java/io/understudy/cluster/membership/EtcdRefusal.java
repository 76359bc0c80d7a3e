package io.understudy.cluster.membership;

import java.util.Arrays;
import java.util.Optional;

/**
 * An error by which etcd rejects a request without any effect; for {@link #TOO_MANY_LEARNERS}, before 3.6 only.
 *
 * <p>It is identified by its text, since gRPC codes differ between releases ({@code rpctypes/error.go}, {@code
 * membership/errors.go}).
 */
enum EtcdRefusal {
    TOO_MANY_LEARNERS(
            "etcdserver: too many learner members in cluster",
            "the cluster has the maximum number of learners: one before etcd 3.6, --max-learners since. Promote or"
                    + " remove a learner first"),
    LEARNER_NOT_READY(
            "etcdserver: can only promote a learner member which is in sync with leader",
            "the learner has not started, or has applied less than 90% of the leader's log. Promote it once it is in"
                    + " sync"),
    NOT_A_LEARNER("etcdserver: can only promote a learner member", "the member is already a voting member"),
    NOT_FOUND(
            "etcdserver: member not found",
            "no member has this ID. IDs of removed members are never reused: check the member list, and add the member"
                    + " again if it is missing. Adding a member also fails with this error if the same peer URLs were added"
                    + " and removed within the same second: retry"),
    ID_EXISTS(
            "etcdserver: member ID already exist",
            "a member with the same ID exists. The ID is derived from peer URLs, cluster name and time. Check the member"
                    + " list before adding again"),
    PEER_URL_EXISTS(
            "etcdserver: Peer URLs already exists",
            "another member has this peer URL. Remove that member first, or use another peer URL"),
    BAD_URLS(
            "etcdserver: given member URLs are invalid",
            "a peer URL must be http://host:port or https://host:port, with a port and without a path"),
    NOT_ENOUGH_STARTED(
            "etcdserver: re-configuration failed due to not enough started members",
            "the started members would not form a quorum of the changed cluster. Start members that were added but never"
                    + " started, or remove them, one at a time"),
    UNHEALTHY(
            "etcdserver: unhealthy cluster",
            "the member that received the request has not been connected to a quorum of the changed cluster for 5 s."
                    + " Restart failed members or remove them, and wait until members have been connected for 5 s"),
    BAD_TRANSFEREE(
            "etcdserver: bad leader transferee", "only a voting member can be the leader. Specify a voting member"),
    NOT_LEADER("etcdserver: not leader", "the leader changed before the request. Check the leader and retry"),
    DOWNGRADE_TARGET(
            "etcdserver: invalid downgrade target version",
            "a cluster is downgraded by one minor version, from 3.6 or later"),
    DOWNGRADE_UNDER_WAY(
            "etcdserver: cluster has a downgrade job in progress",
            "another downgrade is enabled. Complete or cancel it first"),
    NO_DOWNGRADE("etcdserver: no inflight downgrade job", "no downgrade is enabled"),
    SENT_TO_LEARNER(
            "etcdserver: rpc not supported for learner",
            "a learner received the request and cannot change the membership. Send it to a voting member"),
    PERMISSION_DENIED(
            "etcdserver: permission denied",
            "changing members requires the root role. Set user and password of such a user (cluster.user,"
                    + " cluster.passwordFile), or its client certificate"),
    USER_EMPTY(
            "etcdserver: user name is empty",
            "the cluster requires authentication. Set a user with the root role (cluster.user, cluster.passwordFile), or"
                    + " its client certificate");

    private final String message;
    private final String explanation;

    EtcdRefusal(String message, String explanation) {
        this.message = message;
        this.explanation = explanation;
    }

    /**
     * Returns the refusal of a status description. Empty for every error after which the request may have had an
     * effect.
     */
    static Optional<EtcdRefusal> of(String description) {
        return Arrays.stream(values())
                .filter(refusal -> refusal.message.equals(description))
                .findFirst();
    }

    RefusedException exception() {
        return new RefusedException(message, explanation);
    }
}
