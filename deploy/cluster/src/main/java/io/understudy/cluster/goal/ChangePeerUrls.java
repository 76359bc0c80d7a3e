package io.understudy.cluster.goal;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/**
 * The others find a member at other peer URLs, and it listens there.
 *
 * @param place the member as it is to be started
 */
public record ChangePeerUrls(MemberId member, MemberSpec place) implements NextStep {

    @Override
    public Next after(ClusterFacts facts) {
        Optional<MemberFacts> listed = facts.member(member);
        if (listed.isEmpty()) {
            return Next.impossible("is-member", "no member has the ID " + member, "See understudy cluster status");
        }
        MemberFacts found = listed.get();
        boolean isListed = Urls.same(found.peerUrls(), place.peerUrls());
        if (isListed && found.isHealthy() && found.process().servesPeers().orElse(true)) {
            return new Next.Reached(found.label() + " has the peer URLs " + place.peerUrls());
        }
        return new Next.Do(Leadership.away(facts, found)
                .orElseGet(() -> isListed
                        ? new Step.Restart(place, member)
                        : new Step.UpdatePeerUrls(member, found.label(), place.peerUrls())));
    }
}
