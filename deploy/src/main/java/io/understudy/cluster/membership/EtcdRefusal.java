package io.understudy.cluster.membership;

import java.util.Arrays;
import java.util.Optional;

/**
 * What etcd says when it does not do what it was asked for, and nothing has happened. The texts are the contract, for
 * gRPC codes differ between releases ({@code rpctypes/error.go}, {@code membership/errors.go}).
 */
enum EtcdRefusal {
    TOO_MANY_LEARNERS(
            "etcdserver: too many learner members in cluster",
            "the cluster has as many learners as it may; before etcd 3.6 that is one, from then on --max-learners."
                    + " Promote or remove the learner it has, then add the next"),
    LEARNER_NOT_READY(
            "etcdserver: can only promote a learner member which is in sync with leader",
            "the learner has not started, or has not yet applied nine tenths of the leader's log. Let it catch up, then"
                    + " promote it"),
    NOT_A_LEARNER(
            "etcdserver: can only promote a learner member", "the member votes already. There is nothing to promote"),
    NOT_FOUND(
            "etcdserver: member not found",
            "no member has this id now; one that was removed never comes back. Look at the member list, and add it as a"
                    + " new member if it is missing. An addition is answered so if the same peer URLs were added and"
                    + " removed within its second: try it again"),
    ID_EXISTS(
            "etcdserver: member ID already exist",
            "a member with the same id, which is made of its peer URLs, the cluster's name and the time, is there"
                    + " already. Look at the member list before adding again"),
    PEER_URL_EXISTS(
            "etcdserver: Peer URLs already exists",
            "another member has this peer URL. Remove that member first if it is to be replaced, or give the new one"
                    + " another URL"),
    BAD_URLS(
            "etcdserver: given member URLs are invalid",
            "a peer URL is http://host:port or https://host:port, with a port and without a path. Correct it"),
    NOT_ENOUGH_STARTED(
            "etcdserver: re-configuration failed due to not enough started members",
            "the members that have ever started would be no quorum of the cluster as it would be. Start those that were"
                    + " added and never ran, or remove them, one at a time"),
    UNHEALTHY(
            "etcdserver: unhealthy cluster",
            "the member asked has not been connected for five seconds to a quorum of the cluster as it would be. Bring"
                    + " members back, or remove the dead, and wait until they have been connected for five seconds"),
    BAD_TRANSFEREE(
            "etcdserver: bad leader transferee", "a learner, or one that is no member, can't lead. Name a voter"),
    NOT_LEADER("etcdserver: not leader", "leadership moved just before the request came. Look again who leads"),
    LEARNER_ASKED(
            "etcdserver: rpc not supported for learner",
            "a learner was asked, which changes no membership. Ask a voter"),
    PERMISSION_DENIED(
            "etcdserver: permission denied",
            "members are changed by users with the role root only. Give the name and password of one (cluster.user, cluster.passwordFile), or its client certificate"),
    USER_EMPTY(
            "etcdserver: user name is empty",
            "the cluster wants to know who asks. Give a user with the role root (cluster.user, cluster.passwordFile), or its client certificate");

    private final String message;
    private final String explanation;

    EtcdRefusal(String message, String explanation) {
        this.message = message;
        this.explanation = explanation;
    }

    /** The one that a status description stands for; empty for everything that may have happened nevertheless. */
    static Optional<EtcdRefusal> of(String description) {
        return Arrays.stream(values())
                .filter(refusal -> refusal.message.equals(description))
                .findFirst();
    }

    String message() {
        return message;
    }

    RefusedException exception() {
        return new RefusedException(message, explanation);
    }
}
