package io.understudy.cluster.run;

import io.understudy.cluster.membership.OutcomeUnknownException;
import io.understudy.cluster.membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.UnobservableException;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/** Takes back a member that did not come up: it was a learner, so no vote was ever needed of it, nor to remove it. */
final class Rollback {

    private final ClusterObserver observer;
    private final StepWork work;
    private final Patience patience;

    Rollback(ClusterObserver observer, StepWork work, Patience patience) {
        this.observer = observer;
        this.work = work;
        this.patience = patience;
    }

    /** Removes the member of the step; tells why it could not be, empty when it is gone. */
    Optional<String> undo(Step step) throws InterruptedException {
        MemberId member = step.subject().orElseThrow();
        Deadline deadline = Deadline.in(patience.request().plus(patience.settle()));
        String why = "not attempted";
        while (!deadline.isOver()) {
            try {
                ClusterFacts facts = observer.observe(patience.look());
                Optional<MemberFacts> listed = facts.member(member);
                if (listed.isEmpty() && facts.isConfirmed()) {
                    return Optional.empty();
                }
                if (listed.filter(MemberFacts::isVoter).isPresent()) {
                    return Optional.of("it is already a voting member");
                }
                if (facts.isConfirmed()) {
                    if (step instanceof Step.Join join) {
                        work.stopJoining(join, facts);
                    }
                    work.remove(member);
                }
            } catch (RefusedException | OutcomeUnknownException | UnobservableException e) {
                why = String.valueOf(e.getMessage());
            }
            deadline.pause(patience.between());
        }
        return Optional.of(why);
    }
}
