package io.understudy.cluster.goal;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import java.util.Comparator;
import java.util.Optional;

/** Leadership is handed over in milliseconds; losing it costs an election. */
final class Leadership {

    private Leadership() {}

    /** The step that makes another lead, if the member does and another can. */
    static Optional<Step> away(ClusterFacts facts, MemberFacts member) {
        if (!leads(facts, member)) {
            return Optional.empty();
        }
        return facts.healthyVoters().stream()
                .filter(voter -> !voter.id().equals(member.id()))
                .min(Comparator.comparing((MemberFacts voter) ->
                                facts.divergence().members().contains(voter.id()))
                        .thenComparing(voter -> facts.lag(voter).orElse(Long.MAX_VALUE) > InSync.ENTRIES)
                        .thenComparing(MemberFacts::name))
                .map(heir -> new Step.MoveLeader(member.id(), heir.id(), heir.label()));
    }

    static boolean leads(ClusterFacts facts, MemberFacts member) {
        return facts.leader().map(MemberFacts::id).filter(member.id()::equals).isPresent();
    }
}
