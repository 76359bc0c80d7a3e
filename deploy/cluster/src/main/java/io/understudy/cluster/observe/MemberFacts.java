package io.understudy.cluster.observe;

import io.understudy.etcd.Role;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.util.List;
import java.util.Optional;

/**
 * One member: its list entry and its response.
 *
 * @param name empty until it has started for the first time
 * @param clientUrls empty until it has started for the first time
 * @param answer empty if it did not respond in time
 * @param measurements changes since earlier observations
 * @param process externally visible state of its process
 */
public record MemberFacts(
        MemberId id,
        String name,
        Role role,
        List<URI> peerUrls,
        List<URI> clientUrls,
        Optional<MemberAnswer> answer,
        Measurements measurements,
        MemberProcess process) {

    /** Creates facts of a member without a visible process. */
    public MemberFacts(
            MemberId id,
            String name,
            Role role,
            List<URI> peerUrls,
            List<URI> clientUrls,
            Optional<MemberAnswer> answer,
            Measurements measurements) {
        this(id, name, role, peerUrls, clientUrls, answer, measurements, MemberProcess.UNSEEN);
    }

    public MemberFacts {
        peerUrls = List.copyOf(peerUrls);
        clientUrls = List.copyOf(clientUrls);
    }

    MemberFacts withMeasurements(Measurements other) {
        return new MemberFacts(id, name, role, peerUrls, clientUrls, answer, other, process);
    }

    MemberFacts withAnswer(MemberAnswer other) {
        return new MemberFacts(id, name, role, peerUrls, clientUrls, Optional.of(other), measurements, process);
    }

    public boolean isVoter() {
        return role == Role.VOTER;
    }

    public boolean isLearner() {
        return role == Role.LEARNER;
    }

    /** Whether the member has ever started: etcd then lists a name. */
    public boolean hasStarted() {
        return !name.isEmpty();
    }

    /** Whether it responds, has a leader, and reaches the quorum by itself. */
    public boolean isHealthy() {
        return answer.isPresent()
                && answer.get().reachesQuorum()
                && answer.get().leader().isPresent();
    }

    /** Returns the part of the quota that the database file takes, as etcd compares them; empty if unknown. */
    public Optional<Double> databaseFill() {
        return answer.flatMap(now ->
                process.quotaBytes().filter(quota -> quota > 0).map(quota -> (double) now.databaseBytes() / quota));
    }

    /** Returns its name, or its ID until it has one. */
    public String label() {
        return hasStarted() ? name : id.toString();
    }
}
