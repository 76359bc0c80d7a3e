package io.understudy.cluster.run;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.UnobservableException;
import io.understudy.cluster.plan.Step;
import java.time.Duration;
import java.util.Optional;

/** Waits until a step's effect shows in what the members answer, or it is clear that it won't. */
final class StepWatch {

    /** A process that was told to start may not be there at once. */
    private static final Duration GONE_FOR = Duration.ofSeconds(1);

    private final ClusterObserver observer;
    private final StepWork work;
    private final Patience patience;
    private final RunListener listener;

    StepWatch(ClusterObserver observer, StepWork work, Patience patience, RunListener listener) {
        this.observer = observer;
        this.work = work;
        this.patience = patience;
        this.listener = listener;
    }

    void await(Step step, ClusterFacts before) throws StepFailedException, InterruptedException {
        Duration allowed = allowed(step);
        Deadline deadline = Deadline.in(allowed);
        Deadline gone = Deadline.in(GONE_FOR);
        CatchUpWatch progress = new CatchUpWatch();
        String seen = "nothing";
        while (!deadline.isOver()) {
            try {
                ClusterFacts now = observer.observe(patience.look());
                if (Effects.isSeen(step, before, now)) {
                    return;
                }
                seen = now.quorum() + lost(now, step);
                if (step instanceof Step.CatchUp catchUp && progress.moved(now, catchUp, listener)) {
                    deadline = Deadline.in(allowed);
                }
            } catch (UnobservableException e) {
                seen = String.valueOf(e.getMessage());
            }
            Optional<MemberSpec> starting = starting(step);
            if (starting.isEmpty() || !work.isGone(starting.get())) {
                gone = Deadline.in(GONE_FOR);
            } else if (gone.isOver()) {
                throw new StepFailedException(
                        starting.get().name() + " ended instead of serving" + work.endOfLog(starting.get()));
            }
            deadline.pause(patience.between());
        }
        throw new StepFailedException("waited " + allowed.toSeconds() + " s to " + step.told() + ", in vain; "
                + progress.told().orElse(seen)
                + starting(step).map(work::endOfLog).orElse(""));
    }

    /** Where the member of the step is looked for in vain. */
    private static String lost(ClusterFacts now, Step step) {
        return step.subject()
                .flatMap(now::member)
                .filter(member -> !Effects.isFound(member))
                .map(member -> "; nothing answers at its peer URL " + Step.joined(member.peerUrls()))
                .orElse("");
    }

    private Duration allowed(Step step) {
        if (step instanceof Step.CatchUp) {
            return patience.catchUp();
        }
        return starting(step).isPresent() ? patience.start() : patience.request();
    }

    private static Optional<MemberSpec> starting(Step step) {
        if (step instanceof Step.Join join) {
            return Optional.of(join.member());
        }
        if (step instanceof Step.Start start) {
            return Optional.of(start.member());
        }
        if (step instanceof Step.Restart restart) {
            return Optional.of(restart.member());
        }
        return step instanceof Step.Migrate migrate ? Optional.of(migrate.to()) : Optional.empty();
    }

    /** How far a learner is, and whether it comes nearer. */
    private static final class CatchUpWatch {
        private final long beganNanos = System.nanoTime();
        private long first = -1;
        private long leastLag = Long.MAX_VALUE;
        private Optional<CatchUpRate> last = Optional.empty();

        boolean moved(ClusterFacts now, Step.CatchUp step, RunListener listener) {
            Optional<MemberAnswer> own = now.member(step.learner()).flatMap(MemberFacts::answer);
            Optional<MemberAnswer> leading = now.leader().flatMap(MemberFacts::answer);
            if (own.isEmpty() || leading.isEmpty()) {
                return false;
            }
            long applied = own.get().appliedIndex();
            long target = leading.get().raftIndex();
            if (first < 0) {
                first = applied;
            }
            double seconds = Math.max(0.001, (System.nanoTime() - beganNanos) / 1e9);
            CatchUpRate rate = new CatchUpRate(step.label(), applied, target, (applied - first) / seconds);
            last = Optional.of(rate);
            listener.catchingUp(rate);
            boolean isNearer = target - applied < leastLag;
            leastLag = Math.min(leastLag, target - applied);
            return isNearer;
        }

        Optional<String> told() {
            return last.map(CatchUpRate::toString);
        }
    }
}
