package io.understudy.cluster.goal;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/**
 * Moves a member with its ID and data, which the leader does not stream again.
 *
 * <p>The peer URL is updated first, so that the member list shows the progress.
 */
public record MigrateMember(MemberId member, MemberSpec from, MemberSpec to) implements NextStep {

    @Override
    public Next after(ClusterFacts facts) {
        Optional<MemberFacts> listed = facts.member(member);
        if (listed.isEmpty()) {
            return Next.impossible("is-member", "no member has the ID " + member, "See understudy cluster status");
        }
        MemberFacts found = listed.get();
        Optional<Step> handOver = Leadership.away(facts, found);
        if (found.name().equals(to.name()) && found.isHealthy() && isAt(found)) {
            return new Next.Reached(to.name() + " serves with the data of member " + member);
        }
        if (handOver.isPresent()) {
            return new Next.Do(handOver.get());
        }
        return new Next.Do(
                isAt(found)
                        ? new Step.Migrate(from, to, member)
                        : new Step.UpdatePeerUrls(member, found.label(), to.peerUrls()));
    }

    private boolean isAt(MemberFacts found) {
        return Urls.same(found.peerUrls(), to.peerUrls());
    }
}
