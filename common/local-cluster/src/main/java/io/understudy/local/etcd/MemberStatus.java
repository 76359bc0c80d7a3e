package io.understudy.local.etcd;

/**
 * The status that a member reports.
 *
 * @param clusterId unsigned
 * @param memberId unsigned
 * @param leaderId unsigned, 0 while it has none
 * @param revision revision of its own store
 * @param raftTerm its raft term
 * @param raftAppliedIndex raft index it has applied
 * @param learner whether it is a learner
 * @param version its version
 */
public record MemberStatus(
        long clusterId,
        long memberId,
        long leaderId,
        long revision,
        long raftTerm,
        long raftAppliedIndex,
        boolean learner,
        String version) {

    /** Whether it reports itself as the leader. */
    public boolean leads() {
        return leaderId != 0 && leaderId == memberId;
    }
}
