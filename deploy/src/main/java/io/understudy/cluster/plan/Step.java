package io.understudy.cluster.plan;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.util.List;

/** One change to a cluster, of which only one is under way at any time. */
public sealed interface Step {

    /** etcd is told of a new member, which does not vote. */
    record AddLearner(MemberSpec member) implements Step {}

    /** The process of a member that etcd expects starts, and is waited for until it serves. */
    record Join(MemberSpec member, MemberId id) implements Step {}

    /** The process of a member that has data starts, and is waited for until it serves. */
    record Start(MemberSpec member) implements Step {}

    /** A learner is waited for until it has applied what the leader had. */
    record CatchUp(MemberId learner, String label) implements Step {}

    /** A learner becomes a voter. */
    record Promote(MemberId learner, String label) implements Step {}

    /** Another voter leads. */
    record MoveLeader(MemberId from, MemberId to, String label) implements Step {}

    /** A member is no member any more, for good: its id never comes back. */
    record Remove(MemberId member, String label) implements Step {}

    /** A member's process ends and starts again, on the same data. */
    record Restart(MemberSpec member, MemberId id) implements Step {}

    /** The process of one that is no member any more ends; its data is set aside. */
    record Retire(MemberSpec member) implements Step {}

    /** The others are told another peer URL of a member. */
    record UpdatePeerUrls(MemberId member, String label, List<URI> peerUrls) implements Step {
        public UpdatePeerUrls {
            peerUrls = List.copyOf(peerUrls);
        }
    }
}
