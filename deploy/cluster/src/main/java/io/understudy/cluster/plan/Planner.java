package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.plan.Goal.NextStep;
import io.understudy.cluster.plan.Goal.NextStep.Next;
import io.understudy.cluster.plan.Plan.Refusal;
import java.util.ArrayList;
import java.util.List;

/**
 * Plans single next steps, each on the projected cluster after the previous one.
 *
 * <p>One rejected step rejects the whole plan.
 *
 * <p>Invariant DP19: no step of a plan needs more votes than there are healthy members, and after any interruptions a
 * new plan reaches its goal.
 */
public final class Planner {

    /** Exceeds the steps of any goal. */
    private static final int MOST_STEPS = 200;

    private Planner() {}

    public static Plan plan(ClusterFacts facts, NextStep nextStep) {
        ClusterFacts now = facts;
        List<Plan.Planned> planned = new ArrayList<>();
        while (planned.size() < MOST_STEPS) {
            Next next = nextStep.after(now);
            if (next instanceof Next.Reached reached) {
                return planned.isEmpty() ? new Plan.Done(reached.why()) : new Plan.Steps(planned);
            }
            if (next instanceof Next.Impossible impossible) {
                return new Plan.Refused(impossible.refusals());
            }
            Step step = ((Next.Do) next).step();
            List<Refusal> refusals = Preflight.check(step, now);
            if (!refusals.isEmpty()) {
                return new Plan.Refused(at(planned.size(), step, refusals));
            }
            ClusterFacts then = Projection.after(now, step);
            planned.add(new Plan.Planned(step, step.text(), now.quorum(), then.quorum(), isFinal(step)));
            now = then;
        }
        throw new IllegalStateException("plan has too many steps: " + planned.subList(0, 5) + " …");
    }

    private static List<Refusal> at(int stepsBefore, Step step, List<Refusal> refusals) {
        return stepsBefore == 0
                ? refusals
                : refusals.stream()
                        .map(refusal -> new Refusal(
                                refusal.rule(),
                                "step " + (stepsBefore + 1) + " (" + step.text() + "): " + refusal.why(),
                                refusal.wayOut()))
                        .toList();
    }

    private static boolean isFinal(Step step) {
        return step instanceof Step.Remove || step instanceof Step.Migrate;
    }
}
