package io.understudy.cluster.goal;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;

/**
 * A voting member becomes a learner. There is no request for this in etcd: the member is removed, its data are kept
 * aside, and it joins again without data.
 *
 * @param voter its ID as a voting member, which does not return
 * @param member the same place as a learner
 */
public record DemoteMember(MemberId voter, MemberSpec member) implements NextStep {

    @Override
    public boolean undoes(Step step) {
        return arrival().undoes(step);
    }

    @Override
    public Next after(ClusterFacts facts) {
        return facts.member(voter).filter(MemberFacts::isVoter).isPresent()
                ? new RemoveMember(voter).after(facts)
                : arrival().after(facts);
    }

    private AddMember arrival() {
        return new AddMember(member, false);
    }
}
