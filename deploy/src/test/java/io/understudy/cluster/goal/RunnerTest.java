package io.understudy.cluster.goal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.goal.MemberGoals.DemoteMember;
import io.understudy.cluster.goal.MemberGoals.RemoveMember;
import io.understudy.cluster.goal.MemberGoals.ReplaceMember;
import io.understudy.cluster.machine.ConfiguredMachines.ManualMachines;
import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.membership.Membership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.OperationTimeouts;
import io.understudy.cluster.run.Outcome;
import io.understudy.cluster.run.RunListener;
import io.understudy.cluster.run.Runner;
import io.understudy.cluster.run.StepWork;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.etcd.StorageStatus;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What real clusters would take hours to show, or show once in many runs. */
final class RunnerTest {

    private static final MemberId ONE = new MemberId(1);
    private static final MemberId TWO = new MemberId(2);

    private MemberId leader = ONE;
    private int moves;
    private boolean isBroken;

    @Test
    void twoRunsWithOppositeGoalsEnd() throws Exception {
        Outcome outcome = run(this::away);

        assertThat(outcome).isInstanceOf(Outcome.Failed.class);
        assertThat(((Outcome.Failed) outcome).why()).contains("another process changes the cluster");
        assertThat(moves).isEqualTo(100);
    }

    /** A late response, as on a busy machine, is not a missing one. */
    @ParameterizedTest
    @ValueSource(strings = {"peer-url-served", "leader-known", "quorum-held"})
    void whatAStepShookIsLookedAtAgainBeforeItIsRefused(String rule) throws Exception {
        List<Plan> plans = new ArrayList<>(List.of(
                away(facts()),
                new Plan.Refused(List.of(new Refusal(rule, "seen once", "wait"))),
                new Plan.Done("all is well")));

        Outcome outcome = run(facts -> plans.remove(0));

        assertThat(outcome).isInstanceOf(Outcome.Reached.class);
    }

    @Test
    void aRefusalBeforeTheFirstStepIsReportedAtOnce() throws Exception {
        Refusal refusal = new Refusal("peer-url-served", "nothing answers", "start it there");

        assertThat(run(facts -> new Plan.Refused(List.of(refusal)))).isEqualTo(new Outcome.Refused(List.of(refusal)));
    }

    /** Such as the start of one member of several. */
    @Test
    void aStepThatTheGoalPassesMayFailAndIsReportedAtTheEnd() throws Exception {
        isBroken = true;
        List<Plan> plans = new ArrayList<>(List.of(away(facts()), new Plan.Done("all else is well")));
        Goal goal = new Goal() {
            @Override
            public Plan plan(ClusterFacts facts) {
                return plans.remove(0);
            }

            @Override
            public boolean passes(Step step) {
                return true;
            }
        };

        Outcome outcome = run(goal);

        assertThat(plans).isEmpty();
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> assertThat(failed.why())
                .contains("machine is broken"));
    }

    @Test
    void aPassedStepThatFailsAgainEndsTheRun() throws Exception {
        isBroken = true;
        List<Step> attempts = new ArrayList<>();
        Goal goal = new Goal() {
            @Override
            public Plan plan(ClusterFacts facts) {
                return away(facts);
            }

            @Override
            public boolean passes(Step step) {
                attempts.add(step);
                return attempts.size() < 10;
            }
        };

        assertThat(run(goal)).isInstanceOf(Outcome.Failed.class);
        assertThat(attempts).hasSize(2);
    }

    /** The next plan has the other steps. */
    @Test
    void aStartThatItsMachineRefusesCountsAsAttempted() {
        MemberSpec place = FactsFixture.place(1);
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public boolean isInUse(MemberSpec member) {
                throw new IllegalStateException("machine is broken");
            }
        });

        assertThatThrownBy(() -> work.begin(new Step.Start(place), facts())).hasMessageContaining("machine is broken");
        assertThat(work.hasPerformed(new Step.Start(place))).isTrue();
    }

    /** Otherwise an upgrade to 3.7 would plan it again and end with the first member. */
    @Test
    void aRestartForARaftSnapshotCountsAsPerformed() throws Exception {
        StepWork work = new StepWork(new Moves(), new ManualMachines(List.of(), step -> {}));
        Step restart = new Step.Restart(FactsFixture.place(2), TWO, null, Optional.empty(), true);

        work.begin(restart, facts());
        assertThat(work.hasPerformed(restart)).isTrue();
    }

    /** Machines on which nothing can be stopped. */
    @Test
    void aMemberWithABrokenProgramIsNotStopped() {
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public Optional<String> programFailure(MemberSpec member, UnaryOperator<MachineSettings> settings) {
                return Optional.of("no such file");
            }
        });
        Step restart = new Step.Restart(FactsFixture.place(2), TWO);

        assertThat(work.obstacle(restart, facts())).hasValueSatisfying(refusal -> assertThat(refusal.toString())
                .isEqualTo("program-runs: m2 could not start again: no such file. Install its program, or correct"
                        + " machines.m2.program"));
        assertThatThrownBy(() -> work.begin(restart, facts())).hasMessageStartingWith("program-runs");
        assertThat(work.obstacle(new Step.Join(FactsFixture.place(4), new MemberId(4)), facts()))
                .hasValueSatisfying(refusal -> assertThat(refusal.why()).isEqualTo("m4 could not start: no such file"));
    }

    /** Such as a new version that rejects an argument. */
    @Test
    void aMemberThatDoesNotStartWithAnotherProgramStartsAsConfigured() throws Exception {
        List<String> orders = new ArrayList<>();
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public void stop(MemberSpec member) {
                orders.add("stop");
            }

            @Override
            public void start(MemberSpec member, UnaryOperator<MachineSettings> settings) {
                orders.add("start with another program");
                throw new IllegalStateException("unknown flag");
            }

            @Override
            public void start(MemberSpec member) {
                orders.add("start as configured");
            }
        });
        Step restart = new Step.Restart(FactsFixture.place(2), TWO, null, Optional.of(Path.of("new/etcd")), false);
        Goal goal = facts -> plan(restart, facts);

        Outcome outcome = new Runner(patience -> facts(), work, OperationTimeouts.DEFAULT, RunListener.NONE).run(goal);

        assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> assertThat(failed.why())
                .contains("unknown flag")
                .endsWith("; m2 was started again as configured"));
        assertThat(orders).containsExactly("stop", "start with another program", "start as configured");
    }

    /** Since 3.6 each member applies the limit to its own list. */
    @ParameterizedTest
    @CsvSource({
        "2,2,2,false,''",
        "2,2,1,false,m3 has 1",
        "2,2,,false,that of m3 is unknown",
        "2,2,,true,''",
        "2,1,,true,m2 has 1"
    })
    void anotherLearnerNeedsTheSameLimitOfAllMembers(
            String first, String second, @Nullable String third, boolean isConfirmed, String why) {
        Map<String, Optional<String>> running =
                Map.of("m1", Optional.of(first), "m2", Optional.of(second), "m3", Optional.ofNullable(third));
        StepWork work = new StepWork(
                new Moves(),
                new NoMachines() {
                    @Override
                    public List<MemberSpec> places() {
                        return List.of(FactsFixture.place(1), FactsFixture.place(2), FactsFixture.place(3));
                    }

                    @Override
                    public Optional<String> maxLearners(MemberSpec member) {
                        return running.getOrDefault(member.name(), Optional.empty());
                    }
                },
                new StepWork.LearnerLimit(2, isConfirmed));
        ClusterFacts old = FactsFixture.withNeverStarted(facts(), Role.LEARNER, FactsFixture.peer(4));
        ClusterFacts now = FactsFixture.withVersion(old, 1, "3.6.16", Duration.ZERO);
        Step add = new Step.AddLearner(FactsFixture.place(5));

        assertThat(work.obstacle(add, now).map(Refusal::why).orElse(""))
                .isEqualTo(
                        why.isEmpty()
                                ? ""
                                : "another learner needs the same --max-learners for all members, 2; " + why);
        assertThat(work.obstacle(add, old)).as("before 3.6 it is 1").isEmpty();
        assertThat(work.obstacle(add, FactsFixture.withVersion(facts(), 1, "3.6.16", Duration.ZERO)))
                .as("the first learner")
                .isEmpty();
    }

    /** After a roll with --program the configuration may still have the old one. */
    @ParameterizedTest
    @CsvSource({"3.7.0,3.6.16,true", "3.7.0,3.7.1,false", "3.6.0,3.6.16,false", "'',3.5.33,false"})
    void aMemberIsNotStartedWithAProgramThatEndsInTheCluster(String cluster, String program, boolean isRefused) {
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public EtcdVersion programVersion(MemberSpec member) {
                return EtcdVersion.parse(program);
            }
        });
        ClusterFacts facts = FactsFixture.withStorage(facts(), cluster);
        MemberSpec place = FactsFixture.place(2);

        for (Step step : List.of(
                new Step.Start(place),
                new Step.Restart(place, TWO),
                new Step.Join(FactsFixture.place(4), new MemberId(4)))) {
            assertThat(work.obstacle(step, facts).map(Refusal::rule))
                    .isEqualTo(isRefused ? Optional.of("program-current") : Optional.empty());
        }
        Step given = new Step.Restart(place, TWO, null, Optional.of(Path.of("new/etcd")), false);
        assertThat(work.obstacle(given, facts)).isEmpty();
    }

    /** It would be an upgrade without the checks of a roll. */
    @ParameterizedTest
    @CsvSource({
        "3.5.33,3.5.33,3.6.16,true",
        "3.5.33,3.6.16,3.6.16,false",
        "3.6.16,3.6.16,3.7.3,true",
        "3.5.33,3.5.33,3.5.34,false"
    })
    void aMemberOfALaterMinorVersionThanAllVotersIsNotAdded(
            String first, String second, String program, boolean isRefused) {
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public EtcdVersion programVersion(MemberSpec member) {
                return EtcdVersion.parse(program);
            }
        });
        ClusterFacts facts = facts();
        for (int number = 1; number <= 3; number++) {
            facts = FactsFixture.withVersion(facts, number, number == 2 ? second : first, Duration.ZERO);
        }
        MemberSpec place = FactsFixture.place(4);

        for (Step step : List.of(
                new Step.AddLearner(place),
                new Step.Join(place, new MemberId(4)),
                new Step.Migrate(FactsFixture.place(2), place, TWO))) {
            assertThat(work.obstacle(step, facts).map(Refusal::rule).filter("upgrade-checked"::equals))
                    .isEqualTo(isRefused ? Optional.of("upgrade-checked") : Optional.empty());
        }
        for (Step step : List.of(new Step.Start(FactsFixture.place(2)), new Step.Restart(FactsFixture.place(2), TWO))) {
            assertThat(work.obstacle(step, facts))
                    .as("it may be upgraded already")
                    .isEmpty();
        }
    }

    /** Else it stays down after SIGTERM. */
    @Test
    void aMemberThatASignalFindsStoppingStartsAgain() throws Exception {
        List<String> orders = new ArrayList<>();
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public void stop(MemberSpec member) {
                if (Thread.currentThread().isInterrupted()) {
                    throw new IllegalStateException("interrupted while waiting for it to end");
                }
                orders.add("stop");
            }

            @Override
            public void start(MemberSpec member) {
                orders.add("start");
            }
        });

        Thread.currentThread().interrupt();
        work.begin(new Step.Restart(FactsFixture.place(2), TWO), facts());

        assertThat(Thread.interrupted()).isTrue();
        assertThat(orders).containsExactly("stop", "start");
    }

    @Test
    void aRunningMemberThatOneObservationMissesIsNotRestarted() throws Exception {
        Outcome outcome = roll(null, FactsFixture.withSilent(facts(), 2), facts());

        assertThat(outcome).isInstanceOf(Outcome.Reached.class);
        assertThat(restarted).isEmpty();
    }

    /** Its metrics have the start time. */
    @Test
    void aLatePageOfMetricsNeitherProvesARestartNorEndsARoll() throws Exception {
        Optional<Instant> before = Optional.of(FactsFixture.STARTED.minusSeconds(9));
        Optional<Instant> after = Optional.of(FactsFixture.STARTED.plusSeconds(9));
        ClusterFacts restarting = FactsFixture.withStart(facts(), 2, before);
        ClusterFacts late = FactsFixture.withStart(facts(), 2, Optional.empty());
        ClusterFacts again = FactsFixture.withStart(facts(), 2, after);

        Outcome outcome = roll(null, restarting, late, restarting, again, late, again);

        assertThat(outcome).isInstanceOf(Outcome.Reached.class);
        assertThat(restarted).containsExactly("m2");
    }

    @Test
    void aMemberWithTheTargetsVersionIsAwaitedUntilItIsHealthy() throws Exception {
        String target = "3.5.31";
        ClusterFacts two = FactsFixture.withVersion(
                FactsFixture.withVersion(facts(), 1, target, Duration.ZERO), 3, target, Duration.ZERO);
        ClusterFacts all = FactsFixture.withVersion(two, 2, target, Duration.ZERO);

        Outcome outcome = roll(EtcdVersion.parse(target), two, all, FactsFixture.withSilent(all, 2), all);

        assertThat(outcome).isInstanceOf(Outcome.Reached.class);
        assertThat(restarted).containsExactly("m2");
    }

    /** Until then etcd is not upgraded. */
    @Test
    void aDowngradeIsReachedOnceEtcdHasEndedIt() throws Exception {
        EtcdVersion target = EtcdVersion.parse("3.6.16");
        ClusterFacts all = facts();
        for (int number = 1; number <= 3; number++) {
            all = FactsFixture.withVersion(all, number, "3.6.16", Duration.ZERO);
        }
        StorageStatus enabled = new StorageStatus("3.6.0", "3.6.0");
        ClusterFacts two = FactsFixture.withStorage(FactsFixture.withVersion(all, 2, "3.7.3", Duration.ZERO), enabled);
        ClusterFacts ending = FactsFixture.withStorage(all, enabled);

        Outcome outcome = reach(
                new Roll(FactsFixture.STARTED, target, Optional.empty(), true, step -> false),
                two,
                ending,
                ending,
                ending,
                FactsFixture.withStorage(all, "3.6.0"));

        assertThat(outcome).isEqualTo(new Outcome.Reached("every member has version 3.6.16"));
        assertThat(restarted).containsExactly("m2");
        assertThat(observed.enabledDowngrade()).isEmpty();
    }

    /** Only {@code --cancel} ends another downgrade. */
    @ParameterizedTest
    @CsvSource({"3.6.0,downgrade-ended", "3.5.0,no-downgrade"})
    void anEnabledDowngradeIsReportedWithItsWayOut(String enabled, String rule) {
        ClusterFacts all = facts();
        for (int number = 1; number <= 3; number++) {
            all = FactsFixture.withVersion(all, number, "3.6.16", Duration.ZERO);
        }
        Roll roll = new Roll(FactsFixture.STARTED, EtcdVersion.parse("3.6.16"), Optional.empty(), true, step -> false);

        assertThat(roll.plan(FactsFixture.withStorage(all, new StorageStatus("3.6.0", enabled))))
                .isInstanceOfSatisfying(Plan.Refused.class, refused -> assertThat(refused.refusals())
                        .extracting(Refusal::rule)
                        .containsExactly(rule));
    }

    private final List<String> restarted = new ArrayList<>();
    private ClusterFacts observed;

    private Outcome roll(@Nullable EtcdVersion version, ClusterFacts... seen) throws InterruptedException {
        return reach(new Roll(FactsFixture.STARTED, version), seen);
    }

    /** A run that observes this, one after the other. */
    private Outcome reach(Goal goal, ClusterFacts... seen) throws InterruptedException {
        List<ClusterFacts> left = new ArrayList<>(List.of(seen));
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            private boolean isStopped;

            @Override
            public void stop(MemberSpec member) {
                isStopped = true;
            }

            @Override
            public void start(MemberSpec member) {
                restarted.add(member.name());
                isStopped = false;
            }

            @Override
            public Optional<Boolean> isRunning(MemberSpec member) {
                return Optional.of(!isStopped);
            }
        });
        return new Runner(
                        patience -> observed = left.size() > 1 ? left.remove(0) : left.get(0),
                        work,
                        OperationTimeouts.DEFAULT,
                        RunListener.NONE)
                .run(goal);
    }

    @Test
    void theClusterIsObservedAgainOnceOthersCannotChangeIt() throws Exception {
        List<Plan> plans = new ArrayList<>(List.of(away(facts()), new Plan.Done("another command did it")));
        StepWork work = new StepWork(new Moves(), new NoMachines());
        Runner runner = new Runner(
                patience -> facts(),
                work,
                OperationTimeouts.DEFAULT,
                RunListener.NONE,
                (step, facts) -> new Runner.Permission(Optional.empty(), true));

        assertThat(runner.run(facts -> plans.remove(0))).isInstanceOf(Outcome.Reached.class);
        assertThat(moves).isZero();
    }

    /** Each observation does, thus also that of a join's effect. A command that was killed before leaves it to the next. */
    @Test
    void aCommandEndsTheFirstStartOfMembersThatHaveData() throws Exception {
        List<String> ended = new ArrayList<>();
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public List<MemberSpec> places() {
                return List.of(FactsFixture.place(1), FactsFixture.place(2));
            }

            @Override
            public void endFirstStart(MemberSpec member) {
                ended.add(member.name());
                throw new IllegalStateException("read-only file system");
            }
        });
        Runner runner = new Runner(patience -> facts(), work, OperationTimeouts.DEFAULT, RunListener.NONE);

        assertThat(runner.run(facts -> new Plan.Done("nothing to do"))).isInstanceOf(Outcome.Reached.class);
        assertThat(ended).containsExactly("m1", "m2");
    }

    @Test
    void dataThatCannotMoveIsFoundBeforeItsMemberStops() {
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public Optional<String> moveFailure(MemberSpec from, MemberSpec to) {
                return Optional.of("a process uses it");
            }
        });
        Step migrate = new Step.Migrate(FactsFixture.place(2), FactsFixture.place(4), TWO);

        assertThat(work.obstacle(migrate, facts())).hasValueSatisfying(refusal -> assertThat(refusal.toString())
                .isEqualTo(
                        "data-movable: the data of m2 cannot be moved to m4: a process uses it. Correct that, or replace"
                                + " without --migrate-data"));
        assertThatThrownBy(() -> work.begin(migrate, facts())).hasMessageStartingWith("data-movable");
    }

    /** Such as a file system mounted at its data directory. */
    @Test
    void noVoterIsRemovedIfItsSuccessorCouldNotStartWithoutData() {
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public Optional<String> setAsideFailure(MemberSpec member) {
                return Optional.of("it is a mount point");
            }

            @Override
            public Optional<Boolean> isRunning(MemberSpec member) {
                return Optional.of(member.name().equals("m5"));
            }
        });
        MemberSpec place = FactsFixture.place(3);
        Plan.Steps demotion = (Plan.Steps) new DemoteMember(new MemberId(3), place).plan(facts());

        assertThat(demotion.steps())
                .extracting(Plan.Planned::step)
                .startsWith(new Step.Remove(new MemberId(3), "m3"), new Step.AddLearner(place));
        for (Step step : List.of(new Step.AddLearner(place), new Step.Join(place, new MemberId(9)))) {
            assertThat(work.obstacle(step, facts())).hasValueSatisfying(refusal -> assertThat(refusal.toString())
                    .isEqualTo("data-directory-free: earlier data of m3 cannot be set aside: it is a mount point."
                            + " Configure another data directory (machines.m3.dataDirectory), such as one below it"));
        }
        assertThat(work.obstacle(new Step.Join(FactsFixture.place(5), new MemberId(5)), facts()))
                .as("a join that an interrupted run began")
                .isEmpty();
    }

    @Test
    void aRemovedMemberThatCannotBeRetiredIsReported() throws Exception {
        List<MemberFacts> listed = new ArrayList<>(facts().members());
        Membership membership = new Moves() {
            @Override
            public void remove(MemberId member) {
                listed.removeIf(each -> each.id().equals(member));
            }
        };
        StepWork work = new StepWork(membership, new NoMachines() {
            @Override
            public List<MemberSpec> places() {
                return List.of(FactsFixture.place(3));
            }

            @Override
            public Optional<Boolean> isRunning(MemberSpec member) {
                return Optional.of(true);
            }

            @Override
            public void retire(MemberSpec member) {
                throw new IllegalStateException("cannot rename it");
            }
        });
        List<String> notes = new ArrayList<>();
        RunListener listener = new RunListener() {
            @Override
            public void begins(Plan.Planned step) {}

            @Override
            public void ended(Plan.Planned step, Duration took) {}

            @Override
            public void catchingUp(CatchUpRate rate) {}

            @Override
            public void notes(String what) {
                notes.add(what);
            }
        };

        Outcome outcome = new Runner(
                        patience -> new ClusterFacts(new ClusterId(7), listed, true, List.of(), FactsFixture.STARTED),
                        work,
                        OperationTimeouts.DEFAULT,
                        listener)
                .run(new RemoveMember(new MemberId(3)));

        assertThat(outcome).isInstanceOf(Outcome.Reached.class);
        assertThat(notes)
                .containsExactly("warning: the removed member was not stopped, or its data was not set aside: cannot"
                        + " rename it");
    }

    @Test
    void aMemberStartsAgainIfItsDataDoesNotMove() {
        List<String> orders = new ArrayList<>();
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public void stop(MemberSpec member) {
                orders.add("stop " + member.name());
            }

            @Override
            public void moveData(MemberSpec from, MemberSpec to) {
                throw new IllegalStateException("disk is full");
            }

            @Override
            public void start(MemberSpec member) {
                orders.add("start " + member.name());
            }
        });
        Step migrate = new Step.Migrate(FactsFixture.place(2), FactsFixture.place(4), TWO);

        assertThatThrownBy(() -> work.begin(migrate, facts())).hasMessage("disk is full; m2 was started again");
        assertThat(orders).containsExactly("stop m2", "start m2");
    }

    @Test
    void aMemberThatRecoversAfterThePlanIsNotRemovedFirst() throws Exception {
        List<String> requests = new ArrayList<>();
        Membership membership = new Moves() {
            @Override
            public MemberId addLearner(List<URI> peerUrls) {
                requests.add("add");
                throw new IllegalStateException("machine is broken");
            }

            @Override
            public void remove(MemberId member) {
                requests.add("remove " + member);
            }
        };
        Goal goal = new ReplaceMember(new MemberId(3), FactsFixture.place(4), true, true);
        Plan.Steps agreed = (Plan.Steps) goal.plan(FactsFixture.voters(true, true, false));
        Runner runner = new Runner(
                patience -> FactsFixture.voters(true, true, true),
                new StepWork(membership, new NoMachines()),
                OperationTimeouts.DEFAULT,
                RunListener.NONE);

        Outcome outcome = runner.run(goal, agreed.steps());

        assertThat(outcome).isInstanceOf(Outcome.Failed.class);
        assertThat(requests).containsExactly("add");
    }

    /** Else the next change is refused until someone removes it. */
    @Test
    void anAbortedAddLeavesNoLearner() throws Exception {
        List<MemberFacts> listed = new ArrayList<>(facts().members());
        MemberSpec place = FactsFixture.place(4);
        Membership membership = listing(listed);
        Machines interrupting = new NoMachines() {
            @Override
            public void join(MemberSpec member, String initialCluster) {
                Thread.currentThread().interrupt();
            }
        };
        Runner runner = new Runner(
                patience -> new ClusterFacts(new ClusterId(7), listed, true, List.of(), FactsFixture.STARTED),
                new StepWork(membership, interrupting),
                OperationTimeouts.DEFAULT,
                RunListener.NONE);

        assertThatThrownBy(() -> runner.run(new AddMember(place, true))).isInstanceOf(InterruptedException.class);
        assertThat(listed).hasSize(4);
        Outcome outcome = runner.abort();

        assertThat(listed).hasSize(3);
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
            assertThat(failed.isUndone()).isTrue();
            assertThat(failed.why()).isEqualTo("interrupted; it was removed again");
        });
    }

    @Test
    void aFailedDemotionIsNotUndoneAsTheVoterStaysRemoved() throws Exception {
        List<MemberFacts> listed = new ArrayList<>(facts().members());
        MemberSpec place = FactsFixture.place(3);
        Membership membership = listing(listed);
        Machines broken = new NoMachines() {
            @Override
            public void join(MemberSpec member, String initialCluster) {
                throw new IllegalStateException("machine is broken");
            }
        };
        Runner runner = new Runner(
                patience -> new ClusterFacts(new ClusterId(7), listed, true, List.of(), FactsFixture.STARTED),
                new StepWork(membership, broken),
                OperationTimeouts.DEFAULT,
                RunListener.NONE);

        Outcome outcome = runner.run(new DemoteMember(new MemberId(3), place));

        assertThat(listed).hasSize(2);
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
            assertThat(failed.isUndone()).isFalse();
            assertThat(failed.why()).endsWith("machine is broken; it was removed again; no longer a member: m3");
        });
    }

    /** Such as a wrong dataDirectory: etcd would start with them as another member. */
    @Test
    void aMemberIsNotStartedWithDataOfAnother() {
        Map<String, DataOwner> owners = new HashMap<>();
        StepWork work = new StepWork(new Moves(), new NoMachines() {
            @Override
            public Optional<DataOwner> owner(MemberSpec member) {
                return Optional.ofNullable(owners.get(member.name()));
            }
        });
        MemberSpec place = FactsFixture.place(2);
        Step migrate = new Step.Migrate(FactsFixture.place(4), place, TWO);
        for (Step step : List.of(new Step.Start(place), new Step.Restart(place, TWO), migrate)) {
            owners.put("m2", new DataOwner(new ClusterId(9), TWO));
            assertThat(work.obstacle(step, facts())).hasValueSatisfying(refusal -> assertThat(refusal.toString())
                    .isEqualTo("data-directory-free: the data directory of m2 has data of member 2 of cluster 9, not of"
                            + " m2 of cluster 7. Correct machines.m2.dataDirectory; if the data of m2 are lost, remove"
                            + " it and add it again"));
            assertThatThrownBy(() -> work.begin(step, facts())).hasMessageStartingWith("data-directory-free");
            owners.put("m2", new DataOwner(new ClusterId(7), ONE));
            assertThat(work.obstacle(step, facts()))
                    .hasValueSatisfying(refusal -> assertThat(refusal.why()).contains("of member 1 of cluster 7"));
            owners.put("m2", new DataOwner(new ClusterId(7), TWO));
            assertThat(work.obstacle(step, facts())).isEmpty();
        }
        owners.put("m4", new DataOwner(new ClusterId(7), new MemberId(4)));
        assertThat(work.obstacle(migrate, facts()))
                .as("those of a removed member")
                .hasValueSatisfying(
                        refusal -> assertThat(refusal.why()).contains("directory of m4 has data of member 4"));
    }

    /** As after a suspend of this process: the deadline has passed, and the learner serves. */
    @Test
    void aStepIsObservedOnceMoreAfterItsDeadline() throws Exception {
        Addition addition = new Addition(true);

        Outcome outcome = addition.runner((step, facts) -> Runner.Permission.GRANTED)
                .run(new AddMember(FactsFixture.place(99), false));

        assertThat(outcome).isInstanceOf(Outcome.Reached.class);
    }

    /** A supervisor may have removed a voter that the learner is to replace. */
    @Test
    void nothingIsUndoneWithoutTheRightToChangeTheCluster() throws Exception {
        Addition addition = new Addition(false);
        Runner runner = addition.runner((step, facts) -> new Runner.Permission(
                addition.isStarted ? Optional.of("the lease has expired") : Optional.empty(), false));

        Outcome outcome = runner.run(new AddMember(FactsFixture.place(99), false));
        Outcome aborted = runner.abort();

        assertThat(addition.listed).hasSize(4);
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
            assertThat(failed.isUndone()).isFalse();
            assertThat(failed.why())
                    .startsWith("timeout after 0 s")
                    .endsWith("; it is still a member: the lease has expired; run the command again");
        });
        assertThat(aborted)
                .isEqualTo(new Outcome.Failed(
                        "interrupted; it is still a member: the lease has expired; run the command again", false));
    }

    /** A learner that is added, and has no time to start. */
    private final class Addition extends NoMachines {
        private final List<MemberFacts> listed = new ArrayList<>(facts().members());
        private final boolean serves;
        private boolean isStarted;

        Addition(boolean serves) {
            this.serves = serves;
        }

        @Override
        public void join(MemberSpec member, String initialCluster) {
            isStarted = true;
            if (serves) {
                listed.set(
                        3,
                        FactsFixture.member(
                                99,
                                Role.LEARNER,
                                Optional.of(
                                        FactsFixture.answer(Optional.of(leader), FactsFixture.LEADER_INDEX, true))));
            }
        }

        @Override
        public Optional<Boolean> isRunning(MemberSpec member) {
            return Optional.of(isStarted);
        }

        Runner runner(Runner.Permit permit) {
            Membership membership = new Moves() {
                @Override
                public MemberId addLearner(List<URI> peerUrls) {
                    listed.add(FactsFixture.withNeverStarted(facts(), Role.LEARNER, peerUrls.get(0))
                            .members()
                            .get(3));
                    return listed.get(3).id();
                }

                @Override
                public void remove(MemberId member) {
                    listed.removeIf(each -> each.id().equals(member));
                }
            };
            return new Runner(
                    patience -> new ClusterFacts(new ClusterId(7), listed, true, List.of(), FactsFixture.STARTED),
                    new StepWork(membership, this),
                    OperationTimeouts.DEFAULT.withStart(Duration.ZERO),
                    RunListener.NONE,
                    permit);
        }
    }

    private Outcome run(Goal goal) throws InterruptedException {
        StepWork work = new StepWork(new Moves(), new ManualMachines(List.of(), line -> {}));
        return new Runner(patience -> facts(), work, OperationTimeouts.DEFAULT, RunListener.NONE).run(goal);
    }

    /** As if another brought the leadership back after each step. */
    private Plan away(ClusterFacts facts) {
        MemberId other = leader.equals(ONE) ? TWO : ONE;
        Step move = new Step.MoveLeader(leader, other, other.toString());
        return plan(move, facts);
    }

    private static Plan plan(Step step, ClusterFacts facts) {
        return new Plan.Steps(List.of(new Plan.Planned(step, step.text(), facts.quorum(), facts.quorum(), false)));
    }

    private ClusterFacts facts() {
        List<MemberFacts> members = Stream.of(1, 2, 3)
                .map(number -> FactsFixture.member(
                        number,
                        Role.VOTER,
                        Optional.of(FactsFixture.answer(Optional.of(leader), FactsFixture.LEADER_INDEX, true))))
                .toList();
        return new ClusterFacts(new ClusterId(7), members, true, List.of(), FactsFixture.STARTED);
    }

    /** Adds learners to the list, and removes members from it. */
    private Membership listing(List<MemberFacts> listed) {
        return new Moves() {
            @Override
            public MemberId addLearner(List<URI> peerUrls) {
                MemberFacts learner = FactsFixture.withNeverStarted(facts(), Role.LEARNER, peerUrls.get(0))
                        .members()
                        .get(3);
                listed.add(learner);
                return learner.id();
            }

            @Override
            public void remove(MemberId member) {
                listed.removeIf(each -> each.id().equals(member));
            }
        };
    }

    private class Moves implements Membership {
        @Override
        public void moveLeader(MemberId from, MemberId to) {
            if (isBroken) {
                throw new IllegalStateException("machine is broken");
            }
            leader = to;
            moves++;
        }

        @Override
        public MemberId addLearner(List<URI> peerUrls) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void promote(MemberId learner) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void remove(MemberId member) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void updatePeerUrls(MemberId member, List<URI> peerUrls) {
            throw new UnsupportedOperationException();
        }
    }
}
