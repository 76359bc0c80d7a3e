package io.understudy.cluster.goal;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep;
import io.understudy.cluster.plan.Step;
import java.util.Optional;

/**
 * Adds a member as a learner and promotes it only when it has caught up.
 *
 * <p>Invariant DP20: whatever joins, is isolated or misconfigured, writers see at most one election, and no
 * acknowledged write is lost.
 *
 * @param isToVote whether the member is promoted
 */
public record AddMember(MemberSpec member, boolean isToVote) implements NextStep {

    /** A member that does not start is removed again. */
    @Override
    public boolean undoes(Step step) {
        return step instanceof Step.Join || step instanceof Step.CatchUp;
    }

    @Override
    public Next after(ClusterFacts facts) {
        Optional<MemberFacts> listed = facts.at(member);
        if (listed.isEmpty()) {
            return new Next.Do(new Step.AddLearner(member));
        }
        MemberFacts found = listed.get();
        if (found.hasStarted() && !found.name().equals(member.name())) {
            return Next.impossible(
                    "peer-url-not-in-use",
                    "the member at " + found.peerUrls() + " has the name " + found.name() + ", not " + member.name(),
                    "Specify its name or another peer URL");
        }
        if (!found.hasStarted()) {
            return new Next.Do(new Step.Join(member, found.id()));
        }
        if (found.isVoter()) {
            return isToVote
                    ? new Next.Reached(member.name() + " is a voting member")
                    : Next.impossible(
                            "voter-stays-voter",
                            member.name() + " is a voting member",
                            "Make it a learner with understudy cluster demote " + member.name());
        }
        if (found.answer().isEmpty()) {
            return new Next.Do(new Step.Start(member));
        }
        return isToVote || !InSync.isSo(facts, found)
                ? Promotion.next(facts, found)
                : new Next.Reached(member.name() + " is a learner in sync with the leader");
    }
}
