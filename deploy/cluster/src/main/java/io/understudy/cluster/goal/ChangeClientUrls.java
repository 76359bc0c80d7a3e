package io.understudy.cluster.goal;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/**
 * Changes a member's client URLs: it publishes them itself when it starts with them.
 *
 * @param place the member with its new URLs
 */
public record ChangeClientUrls(MemberId member, MemberSpec place) implements NextStep {

    @Override
    public Next after(ClusterFacts facts) {
        Optional<MemberFacts> listed = facts.member(member);
        if (listed.isEmpty()) {
            return Next.impossible("is-member", "no member has the ID " + member, "See understudy cluster status");
        }
        MemberFacts found = listed.get();
        if (found.isHealthy() && Urls.same(found.clientUrls(), place.clientUrls())) {
            return new Next.Reached(found.label() + " serves clients at " + place.clientUrls());
        }
        return new Next.Do(Leadership.away(facts, found).orElseGet(() -> new Step.Restart(place, member)));
    }
}
