package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.vocabulary.Counted;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Keeps the declared number of voters, or the largest odd number that machines allow. */
final class VoterRules {

    private static final String GROW = "automatic-promotion";
    private static final String SHRINK = "surplus-voter";

    private static final int LEAST_REDUNDANT = 3;

    private VoterRules() {}

    /**
     * Promotes a ready standby if a voter is missing, without waiting for members that join.
     *
     * <p>It waits only if the promotion would be rejected because of them.
     */
    static Optional<Decision> complete(Situation situation) {
        int voters = situation.facts().voters().size();
        if (voters % 2 == 1 || voters >= situation.target()) {
            return Optional.empty();
        }
        return situation.readyStandbys().stream()
                .filter(ready -> Preflight.check(new Step.Promote(ready.id(), ready.label()), situation.facts())
                        .isEmpty())
                .findFirst()
                .map(ready -> promote(situation, ready, voters + " voters of " + situation.target()))
                .filter(decision -> decision instanceof Decision.Change);
    }

    static Optional<Decision> grow(Situation situation) {
        int voters = situation.facts().voters().size();
        if (voters >= situation.target()) {
            return Optional.empty();
        }
        String observed = voters + " voters of " + situation.target();
        Optional<MemberFacts> ready = situation.readyStandbys().stream().findFirst();
        if (ready.isPresent()) {
            return Optional.of(promote(situation, ready.get(), observed));
        }
        List<MemberFacts> coming = situation.promotableLearners();
        if (coming.stream().anyMatch(learner -> !situation.isDead(learner))) {
            return Optional.of(new Decision.Waiting(
                    GROW,
                    observed,
                    Rules.names(coming) + " is not yet healthy and within "
                            + situation.limits().maxLag() + " entries for "
                            + situation.limits().stable().toSeconds() + " s"));
        }
        return LearnerRules.dead(situation)
                .or(() -> LearnerRules.addForVoter(situation, observed))
                .or(() -> Rules.retire(situation))
                .or(() -> Optional.of(new Decision.Waiting(GROW, observed, "no machine can be used for another now")));
    }

    private static Decision promote(Situation situation, MemberFacts learner, String observed) {
        Quorum before = situation.quorum();
        Quorum after = before.plusVoter(true);
        String seen = observed + "; " + learner.label() + " is "
                + Counted.of(situation.facts().lag(learner).orElse(0L), "entry", "entries") + " behind, healthy since "
                + situation.seen(learner).readySince().orElseThrow();
        // From an odd number nothing is gained yet: that can wait until all is well.
        boolean fromOdd = before.voters() % 2 == 1;
        if (!after.isHeld()
                || after.tolerance() < before.tolerance()
                || (fromOdd && before.healthy() < before.voters())) {
            return new Decision.Waiting(GROW, seen, "not promoted while not all voters are healthy: " + before);
        }
        if (fromOdd && !situation.mayChange(2)) {
            return new Decision.Waiting(GROW, seen, "not promoted: the changes of this hour are used up");
        }
        return new Decision.Change(
                GROW, seen, "it is promoted", new Step.Promote(learner.id(), learner.label()), before, after);
    }

    static Optional<Decision> shrink(Situation situation) {
        Quorum before = situation.quorum();
        // Too few of them are not made fewer for the sake of an odd number: the last copies count for more.
        boolean enough = situation.target()
                >= Math.min(LEAST_REDUNDANT, situation.shape().voters());
        if (before.voters() <= situation.target() || !enough) {
            return Optional.empty();
        }
        String observed = before.voters() + " voters, " + situation.target() + " wanted";
        if (before.healthy() < before.voters()) {
            return Optional.of(new Decision.Waiting(SHRINK, observed, "none is removed while not all are healthy"));
        }
        if (!situation.mayChange(1)) {
            return Optional.of(
                    new Decision.Waiting(SHRINK, observed, "none is removed: the changes of this hour are used up"));
        }
        MemberFacts surplus = situation.facts().voters().stream()
                .filter(voter -> !situation.facts().leader().equals(Optional.of(voter)))
                .max(Comparator.comparing((MemberFacts voter) ->
                                situation.shape().readReplicas().contains(voter.name()))
                        .thenComparing(MemberFacts::name))
                .orElseThrow();
        return Optional.of(new Decision.Change(
                SHRINK,
                observed,
                surplus.label() + " is removed, and benched",
                new Step.Remove(surplus.id(), surplus.label()),
                before,
                before.minusVoter(true)));
    }
}
