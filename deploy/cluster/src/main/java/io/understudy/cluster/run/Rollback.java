package io.understudy.cluster.run;

import io.understudy.cluster.membership.Membership.OutcomeUnknownException;
import io.understudy.cluster.membership.Membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.OperationTimeouts.Deadline;
import io.understudy.cluster.run.Runner.Permission;
import io.understudy.cluster.run.Runner.Permit;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/** Removes a member that did not start: a learner, which no vote depends on. */
record Rollback(ClusterObserver observer, StepWork work, OperationTimeouts patience, Permit permit) {

    /** Removes the member of the step. Returns why it could not be removed; empty if it was. */
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
                // Others may have relied on the learner since this run lost the right to change the cluster.
                Permission permission = permit.check(step, facts);
                if (permission.denial().isPresent()) {
                    return Optional.of(permission.denial().get() + "; run the command again");
                }
                if (facts.isConfirmed() && !permission.isNew()) {
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
