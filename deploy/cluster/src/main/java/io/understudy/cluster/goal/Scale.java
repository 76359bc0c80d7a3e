package io.understudy.cluster.goal;

import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.goal.MemberGoals.Leadership;
import io.understudy.cluster.goal.MemberGoals.RemoveMember;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal.NextStep;
import io.understudy.cluster.plan.Step;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A number of voters, one member at a time.
 *
 * @param voters how many
 * @param places where new ones may run, best first; learners that run elsewhere stay learners
 */
public record Scale(int voters, List<MemberSpec> places) implements NextStep {

    public Scale {
        places = List.copyOf(places);
        if (voters < 1) {
            throw new IllegalArgumentException("the number of voting members is " + voters + "; it must be at least 1");
        }
    }

    @Override
    public boolean undoes(Step step) {
        return step instanceof Step.Join || step instanceof Step.CatchUp;
    }

    @Override
    public Next after(ClusterFacts facts) {
        int now = facts.voters().size();
        if (now == voters) {
            return new Next.Reached("the cluster has " + now + (now == 1 ? " voting member" : " voting members"));
        }
        return now < voters ? grow(facts) : shrink(facts);
    }

    /** A change in progress is completed first. */
    private Next grow(ClusterFacts facts) {
        Optional<MemberSpec> next = places.stream()
                .filter(place -> facts.voters().stream().noneMatch(voter -> isAt(voter, place)))
                .min(Comparator.comparing(
                        place -> facts.learners().stream().noneMatch(learner -> isAt(learner, place))));
        return next.isPresent()
                ? new AddMember(next.get(), true).after(facts)
                : Next.impossible(
                        "place-for-member",
                        voters + " voting members are requested, the cluster has "
                                + facts.voters().size() + ", and no machine is left for another",
                        "Specify more members (--member name=peerURL) or configure more machines");
    }

    /** Removes failed members first and the leader last, otherwise the last by name. */
    private Next shrink(ClusterFacts facts) {
        MemberFacts least = facts.voters().stream()
                .max(Comparator.comparing((MemberFacts voter) -> !voter.isHealthy())
                        .thenComparing(voter -> !Leadership.leads(facts, voter))
                        .thenComparing(MemberFacts::name))
                .orElseThrow();
        return new RemoveMember(least.id()).after(facts);
    }

    private static boolean isAt(MemberFacts member, MemberSpec place) {
        return member.name().equals(place.name()) || member.peerUrls().stream().anyMatch(place.peerUrls()::contains);
    }
}
