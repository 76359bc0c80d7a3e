package io.understudy.cluster.goal;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/**
 * Replaces a member: removes a failed voter first, a healthy one after its successor's promotion.
 *
 * <p>No step needs more votes than there are healthy voters.
 *
 * @param successor a place for a new member, or a standby learner
 * @param isToVote whether the successor becomes a voting member, as the replaced member is
 * @param isOldLost whether several observations found it dead: a slow voter must not be removed before its successor
 *     votes
 */
public record ReplaceMember(MemberId old, MemberSpec successor, boolean isToVote, boolean isOldLost)
        implements NextStep {

    @Override
    public boolean undoes(Step step) {
        return arrival().undoes(step);
    }

    @Override
    public Next after(ClusterFacts facts) {
        RemoveMember departure = new RemoveMember(old);
        Optional<MemberFacts> listed = facts.member(old);
        // It may be back since it was found dead.
        if (isOldLost && listed.filter(found -> !found.isHealthy()).isPresent()) {
            return departure.after(facts);
        }
        Next arriving = arrival().after(facts);
        return arriving instanceof Next.Reached && listed.isPresent() ? departure.after(facts) : arriving;
    }

    private AddMember arrival() {
        return new AddMember(successor, isToVote);
    }
}
