package io.understudy.cluster.goal;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.goal.MemberGoals.ChangeClientUrls;
import io.understudy.cluster.goal.MemberGoals.ChangePeerUrls;
import io.understudy.cluster.goal.MemberGoals.DemoteMember;
import io.understudy.cluster.goal.MemberGoals.MigrateMember;
import io.understudy.cluster.goal.MemberGoals.MoveLeadership;
import io.understudy.cluster.goal.MemberGoals.PromoteMember;
import io.understudy.cluster.goal.MemberGoals.RemoveMember;
import io.understudy.cluster.goal.MemberGoals.ReplaceMember;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Projection;
import io.understudy.cluster.plan.Step;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.MemberId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/**
 * Plans for every goal and every possible cluster.
 *
 * <p>Tests invariant DP19.
 */
class GoalPropertyTest {

    private static final int MOST_STEPS = 60;

    /** Counted here from healthy members and voters, not by the code under test. */
    @Property(tries = 3000)
    void noStepNeedsMoreVotesThanThereAreHealthyMembersNow(
            @ForAll("clusters") ClusterFacts facts, @ForAll("goals") Goal goal) {
        if (goal.plan(facts) instanceof Plan.Steps plan) {
            ClusterFacts now = facts;
            for (Plan.Planned planned : plan.steps()) {
                assertSurvived(now, planned.step());
                now = Projection.after(now, planned.step());
            }
        }
    }

    @Property(tries = 3000)
    void planningAgainAfterEveryStepEndsInTheGoal(
            @ForAll("clusters") ClusterFacts facts,
            @ForAll("goals") Goal any,
            @ForAll Set<@IntRange(max = 20) Integer> interrupted) {
        List<Step> done = new ArrayList<>();
        Goal goal = any instanceof Roll roll
                ? new Roll(roll.startedSince(), roll.version(), roll.program(), roll.enablesDowngrade(), done::contains)
                : any;
        if (!(goal.plan(facts) instanceof Plan.Steps)) {
            return;
        }
        ClusterFacts now = facts;
        while (goal.plan(now) instanceof Plan.Steps plan) {
            Step step = plan.steps().get(0).step();
            now = interrupted.contains(done.size()) ? halfDone(now, step) : Projection.after(now, step);
            done.add(step);
            assertThat(done).as("steps").hasSizeLessThan(MOST_STEPS);
        }
        assertThat(goal.plan(now)).as("after %s", done).isInstanceOf(Plan.Done.class);
    }

    @Property(tries = 1000)
    void nothingIsPlannedWithoutAQuorum(@ForAll("clusters") ClusterFacts facts, @ForAll("goals") Goal goal) {
        if (!facts.isConfirmed()) {
            assertThat(goal.plan(facts)).isNotInstanceOf(Plan.Steps.class);
        }
    }

    /**
     * The worst interruption: a stopped member did not start again, and a request to etcd may have had an effect or
     * not.
     */
    private static ClusterFacts halfDone(ClusterFacts facts, Step step) {
        if (step instanceof Step.Restart || step instanceof Step.Migrate) {
            MemberId stopped = step.subject().orElseThrow();
            List<MemberFacts> members = facts.members().stream()
                    .map(member -> member.id().equals(stopped)
                            ? new MemberFacts(
                                    member.id(),
                                    member.name(),
                                    member.role(),
                                    member.peerUrls(),
                                    member.clientUrls(),
                                    Optional.empty(),
                                    Measurements.NONE)
                            : member)
                    .toList();
            return new ClusterFacts(facts.cluster(), members, facts.isConfirmed(), facts.alarms(), facts.at());
        }
        return facts;
    }

    private static void assertSurvived(ClusterFacts now, Step step) {
        Set<MemberId> alive = now.members().stream()
                .filter(MemberFacts::isHealthy)
                .map(MemberFacts::id)
                .collect(Collectors.toCollection(HashSet::new));
        Set<MemberId> voters =
                now.voters().stream().map(MemberFacts::id).collect(Collectors.toCollection(HashSet::new));
        if (step instanceof Step.Remove remove) {
            voters.remove(remove.id());
        }
        if (step instanceof Step.Promote promote) {
            voters.add(promote.id());
        }
        if (step instanceof Step.Restart || step instanceof Step.Migrate) {
            alive.remove(step.subject().orElseThrow());
        }
        long votes = voters.stream().filter(alive::contains).count();
        assertThat(votes).as("%s on %s", step, now.quorum()).isGreaterThan(voters.size() / 2);
    }

    @Provide
    Arbitrary<ClusterFacts> clusters() {
        Arbitrary<ClusterFacts> voters = Arbitraries.integers()
                .between(1, 7)
                .flatMap(count -> Arbitraries.frequencyOf(
                                Tuple.of(4, Arbitraries.just(true)), Tuple.of(1, Arbitraries.just(false)))
                        .list()
                        .ofSize(count))
                .map(healthy -> {
                    boolean[] each = new boolean[healthy.size()];
                    for (int i = 0; i < each.length; i++) {
                        each[i] = healthy.get(i);
                    }
                    return FactsFixture.voters(each);
                });
        return Combinators.combine(voters, Arbitraries.integers().between(0, 4), Arbitraries.of(0L, 10L, 50_000L))
                .as((facts, learner, lag) -> switch (learner) {
                    case 0 -> FactsFixture.withLearner(facts, true, lag);
                    case 1 -> FactsFixture.withLearner(facts, false, 0);
                    case 2 -> FactsFixture.withNeverStarted(facts, Role.LEARNER, FactsFixture.peer(9));
                    default -> facts;
                });
    }

    @Provide
    Arbitrary<Goal> goals() {
        Arbitrary<Integer> number = Arbitraries.integers().between(1, 9);
        return Arbitraries.oneOf(
                number.map(each -> new AddMember(FactsFixture.place(each), true)),
                number.map(each -> new AddMember(FactsFixture.place(each), false)),
                number.map(each -> new PromoteMember(new MemberId(each))),
                number.map(each -> new RemoveMember(new MemberId(each))),
                number.map(each -> new DemoteMember(new MemberId(each), FactsFixture.place(each))),
                number.map(each -> new MoveLeadership(new MemberId(each))),
                Combinators.combine(number, number)
                        .as((old, place) ->
                                new ReplaceMember(new MemberId(old), FactsFixture.place(place), true, old % 2 == 0)),
                Combinators.combine(number, number)
                        .as((old, place) -> new MigrateMember(
                                new MemberId(old), FactsFixture.place(old), FactsFixture.place(place))),
                number.map(each -> new ChangePeerUrls(
                        new MemberId(each),
                        new MemberSpec(
                                "m" + each,
                                List.of(FactsFixture.peer(50 + each)),
                                List.of(FactsFixture.client(each))))),
                number.map(each -> new ChangeClientUrls(
                        new MemberId(each),
                        new MemberSpec(
                                "m" + each,
                                List.of(FactsFixture.peer(each)),
                                List.of(FactsFixture.client(50 + each))))),
                number.map(each -> new Scale(
                        each,
                        IntStream.rangeClosed(1, 9)
                                .mapToObj(FactsFixture::place)
                                .toList())),
                Arbitraries.just(new Roll(FactsFixture.STARTED.plusSeconds(9), null)),
                Arbitraries.of("3.5.30", "3.5.31", "3.6.1")
                        .map(version -> new Roll(FactsFixture.STARTED, EtcdVersion.parse(version))));
    }
}
