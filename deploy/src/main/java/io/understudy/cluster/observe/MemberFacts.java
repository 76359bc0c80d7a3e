package io.understudy.cluster.observe;

import io.understudy.etcd.Role;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One member, as the cluster lists it and as it answered.
 *
 * @param name empty until it has started for the first time
 * @param clientUrls empty until it has started for the first time
 * @param answer empty if it did not answer in time
 * @param peers whom it has a live connection with ({@code etcd_network_active_peers}); empty if it did not answer
 * @param process its process, as seen from outside
 */
public record MemberFacts(
        MemberId id,
        String name,
        Role role,
        List<URI> peerUrls,
        List<URI> clientUrls,
        Optional<MemberAnswer> answer,
        Set<MemberId> peers,
        MemberProcess process) {

    /** One of whose process nothing was seen. */
    public MemberFacts(
            MemberId id,
            String name,
            Role role,
            List<URI> peerUrls,
            List<URI> clientUrls,
            Optional<MemberAnswer> answer,
            Set<MemberId> peers) {
        this(id, name, role, peerUrls, clientUrls, answer, peers, MemberProcess.UNSEEN);
    }

    public MemberFacts {
        peerUrls = List.copyOf(peerUrls);
        clientUrls = List.copyOf(clientUrls);
        peers = Set.copyOf(peers);
    }

    public boolean isVoter() {
        return role == Role.VOTER;
    }

    public boolean isLearner() {
        return role == Role.LEARNER;
    }

    /** Whether it has ever started: etcd counts members with a name as started, alive or not. */
    public boolean hasStarted() {
        return !name.isEmpty();
    }

    /** Whether it answers, knows a leader, and reaches the quorum by itself. */
    public boolean isHealthy() {
        return answer.isPresent()
                && answer.get().reachesQuorum()
                && answer.get().leader().isPresent();
    }

    /** What to call it: its name, or its id until it has one. */
    public String label() {
        return hasStarted() ? name : id.toString();
    }
}
