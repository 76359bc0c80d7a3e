package io.understudy.cluster.run;

import io.understudy.cluster.goal.MemberGoals.InSync;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.OperationTimeouts.Deadline;
import io.understudy.cluster.run.RunListener.CatchUpRate;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Waits until a step's effect is reported by members, or it has failed. */
record StepWatch(ClusterObserver observer, StepWork work, OperationTimeouts patience, RunListener listener) {

    /** Time for which a started process may not be visible. */
    private static final Duration GONE_FOR = Duration.ofSeconds(1);

    /** Maximum age of an observation while data arrives: another one waits for silent members. */
    private static final Duration WHILE_DATA_COMES = Duration.ofSeconds(30);

    void await(Step step, ClusterFacts before) throws StepFailedException, InterruptedException {
        Duration allowed = allowed(step);
        Deadline deadline = Deadline.in(allowed);
        long beganNanos = System.nanoTime();
        Deadline gone = Deadline.in(GONE_FOR);
        Progress progress = progress(step);
        String seen = "nothing";
        @Nullable ClusterFacts now = null;
        Deadline good = Deadline.in(Duration.ZERO);
        boolean isComing = false;
        Deadline idle = Deadline.in(EtcdMembership.IDLE);
        boolean isOver;
        do {
            // Observed once more after the deadline, as after a suspend: it may have passed between two observations.
            isOver = deadline.isOver();
            try {
                if (now == null || good.isOver() || !isComing || isOver) {
                    now = observer.observe(patience.look());
                    good = Deadline.in(WHILE_DATA_COMES);
                }
                if (Effects.isSeen(step, before, now)) {
                    return;
                }
                seen = now.quorum() + lost(before, now, step);
                boolean isNearer = progress.moved(now);
                if (isNearer) {
                    deadline = Deadline.in(allowed);
                    isOver = false;
                }
                isComing = isNearer && starting(step).isPresent();
            } catch (UnobservableException e) {
                now = null;
                seen = String.valueOf(e.getMessage());
            }
            Optional<MemberSpec> starting = starting(step);
            if (starting.isEmpty() || !work.isGone(starting.get())) {
                gone = Deadline.in(GONE_FOR);
            } else if (gone.isOver()) {
                throw new StepFailedException(
                        starting.get().name() + " exited during startup" + work.endOfLog(starting.get()));
            }
            if (starting.isPresent() && idle.isOver()) {
                work.appendEntry();
                idle = Deadline.in(EtcdMembership.IDLE);
            }
            if (!isOver) {
                deadline.pause(patience.between(System.nanoTime() - beganNanos));
            }
        } while (!isOver);
        throw new StepFailedException("timeout after " + allowed.toSeconds() + " s (" + step.text() + "); "
                + progress.text().orElse(seen)
                + starting(step).map(work::endOfLog).orElse(""));
    }

    /** Returns why a member that responds is not the restarted one, or the peer URL without a response. */
    private static String lost(ClusterFacts before, ClusterFacts now, Step step) {
        Optional<MemberFacts> subject = step.subject().flatMap(now::member);
        if (step instanceof Step.Restart
                && subject.filter(member -> member.isHealthy() && !Effects.isRestarted(before, member))
                        .isPresent()) {
            return subject.get().process().startedAt().isPresent()
                    ? "; its process is still the earlier one"
                    : "; its metrics lack the process start time";
        }
        return subject.filter(member -> !Effects.isFound(member))
                .map(member -> "; no response at its peer URL " + Step.joined(member.peerUrls()))
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

    private Progress progress(Step step) {
        if (step instanceof Step.CatchUp catchUp) {
            return new Progress(CatchUpRate.Unit.ENTRIES, catchUp.label(), now -> applied(now, catchUp));
        }
        // A member that joined partly in an earlier run is started, and may still be receiving.
        return starting(step)
                .map(newcomer -> new Progress(CatchUpRate.Unit.BYTES, newcomer.name(), now -> received(now, newcomer)))
                .orElseGet(() -> new Progress(CatchUpRate.Unit.ENTRIES, "", now -> Optional.empty()));
    }

    private static Optional<Mark> applied(ClusterFacts now, Step.CatchUp step) {
        return leading(now).flatMap(leading -> now.member(step.id())
                .flatMap(MemberFacts::answer)
                .map(own -> new Mark(own.appliedIndex(), leading.raftIndex())));
    }

    private Optional<Mark> received(ClusterFacts now, MemberSpec newcomer) {
        OptionalLong received = work.received(newcomer);
        return received.isEmpty()
                ? Optional.empty()
                : leading(now).map(leading -> new Mark(received.getAsLong(), leading.databaseBytes()));
    }

    private static Optional<MemberAnswer> leading(ClusterFacts now) {
        return now.leader().flatMap(MemberFacts::answer);
    }

    /** The progress of a learner and its target at the leader. */
    private record Mark(long done, long target) {}

    /** Measures the progress of a learner. */
    private final class Progress {
        private final CatchUpRate.Unit unit;
        private final String label;
        private final Function<ClusterFacts, Optional<Mark>> look;
        private final long beganNanos = System.nanoTime();
        private long first = -1;
        private long least = Long.MAX_VALUE;
        private Optional<CatchUpRate> last = Optional.empty();

        Progress(CatchUpRate.Unit unit, String label, Function<ClusterFacts, Optional<Mark>> look) {
            this.unit = unit;
            this.label = label;
            this.look = look;
        }

        boolean moved(ClusterFacts now) {
            Optional<Mark> mark = look.apply(now);
            if (mark.isEmpty()) {
                return false;
            }
            long done = mark.get().done();
            long target = mark.get().target();
            if (first < 0) {
                first = done;
            }
            double seconds = Math.max(0.001, (System.nanoTime() - beganNanos) / 1e9);
            CatchUpRate rate = new CatchUpRate(label, unit, done, target, (done - first) / seconds);
            last = Optional.of(rate);
            listener.catchingUp(rate);
            boolean isNearer = target - done < least;
            least = Math.min(least, target - done);
            return isNearer;
        }

        Optional<String> text() {
            return last.map(CatchUpRate::toString);
        }
    }

    /** A step did not have its effect. The message names what was waited for, and what was observed. */
    static final class StepFailedException extends Exception {
        StepFailedException(String message) {
            super(message);
        }
    }

    /** Determines by responses of members whether a step has taken effect. */
    private static final class Effects {

        private Effects() {}

        /** @param before observation before the step */
        static boolean isSeen(Step step, ClusterFacts before, ClusterFacts now) {
            if (step instanceof Step.Start start && !before.quorum().isHeld()) {
                // Several may have to start before one of them is healthy.
                return now.named(start.member().name())
                        .filter(member -> member.answer().isPresent())
                        .isPresent();
            }
            if (!now.isConfirmed()) {
                return false;
            }
            if (step instanceof Step.AddLearner add) {
                return now.members().stream().anyMatch(member -> member.peerUrls().stream()
                        .anyMatch(add.member().peerUrls()::contains));
            }
            if (step instanceof Step.Remove remove) {
                return now.member(remove.id()).isEmpty() && now.leader().isPresent();
            }
            if (step instanceof Step.MoveLeader move) {
                return now.leader()
                        .map(MemberFacts::id)
                        .filter(move.id()::equals)
                        .isPresent();
            }
            if (step instanceof Step.Promote promote) {
                return member(now, promote.id()).filter(MemberFacts::isVoter).isPresent();
            }
            if (step instanceof Step.UpdatePeerUrls update) {
                return member(now, update.id())
                        .filter(member -> Set.copyOf(member.peerUrls()).equals(Set.copyOf(update.peerUrls())))
                        .isPresent();
            }
            return isServing(step, before, now);
        }

        private static boolean isServing(Step step, ClusterFacts before, ClusterFacts now) {
            if (step instanceof Step.Disarm disarm) {
                return !now.raised().contains(disarm.alarm());
            }
            if (step instanceof Step.Downgrade downgrade) {
                return now.members().stream()
                        .flatMap(member -> member.answer().stream())
                        .map(MemberAnswer::storage)
                        .allMatch(storage -> storage.downgradeTo().equals(downgrade.version())
                                && (downgrade.version().isEmpty()
                                        || storage.version().equals(downgrade.version())));
            }
            if (step instanceof Step.Defragment defragment) {
                return member(now, defragment.id())
                        .filter(MemberFacts::isHealthy)
                        .isPresent();
            }
            if (step instanceof Step.Join join) {
                return member(now, join.id())
                        .filter(member -> member.hasStarted() && member.isHealthy() && isFound(member))
                        .isPresent();
            }
            if (step instanceof Step.Start start) {
                return now.named(start.member().name())
                        .filter(MemberFacts::isHealthy)
                        .isPresent();
            }
            if (step instanceof Step.CatchUp catchUp) {
                return member(now, catchUp.id())
                        .filter(member -> InSync.isSo(now, member))
                        .isPresent();
            }
            if (step instanceof Step.Restart restart) {
                return member(now, restart.id())
                        .filter(MemberFacts::isHealthy)
                        .filter(member -> isRestarted(before, member))
                        .filter(member -> restart.version() == null || InSync.isSo(now, member))
                        .isPresent();
            }
            if (step instanceof Step.Migrate migrate) {
                return member(now, migrate.id())
                        .filter(member -> member.isHealthy()
                                && member.name().equals(migrate.to().name()))
                        .isPresent();
            }
            return true;
        }

        /** Whether other members reach its peer URL: its own connections work for a while without. */
        static boolean isFound(MemberFacts member) {
            return member.process().servesPeers().orElse(true);
        }

        private static Optional<MemberFacts> member(ClusterFacts facts, MemberId id) {
            return facts.member(id);
        }

        /**
         * Whether the process is a newer one, by its version or start time. A page of metrics without it may be a late one and
         * proves nothing. Without an earlier start time, it must be after the earlier observation.
         */
        static boolean isRestarted(ClusterFacts before, MemberFacts now) {
            Optional<MemberFacts> earlier = before.member(now.id());
            if (isOtherVersion(earlier.flatMap(MemberFacts::answer), now.answer())) {
                return true;
            }
            Instant then = earlier.flatMap(member -> member.process().startedAt())
                    .orElseGet(() -> now.process().byItsClock(before.at()));
            return now.process().startedAt().filter(then::isBefore).isPresent();
        }

        private static boolean isOtherVersion(Optional<MemberAnswer> before, Optional<MemberAnswer> now) {
            return before.isPresent()
                    && now.isPresent()
                    && !before.get().version().equals(now.get().version());
        }
    }
}
