package io.understudy.cluster.supervise.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.plan.Step;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.etcd.EtcdVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a supervisor decides, case by case, in simulated clusters.
 *
 * <p>Tests invariant DP25.
 */
final class RulesTest {

    private static final Shape THREE_AND_ONE = new Shape(3, 1, Set.of(), false, 1);
    private static final Limits LIMITS = new Limits(
            Duration.ofSeconds(30), 100, Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofSeconds(120), 20);
    private static final EtcdVersion V35 = EtcdVersion.parse("3.5.30");
    private static final EtcdVersion V36 = EtcdVersion.parse("3.6.5");
    private static final Shape FIVE_AND_ONE = new Shape(5, 1, Set.of(), false, 1);
    private static final Shape THREE_AND_ONE_OF_TWO = new Shape(3, 1, Set.of(), false, 2);

    private static Simulated settled(Shape shape, int machines, int voters) {
        Simulated cluster = new Simulated(shape, LIMITS, V35, machines, voters);
        cluster.run(120);
        cluster.changes().clear();
        return cluster;
    }

    @Test
    void aStandbyIsKeptInSync() {
        Simulated cluster = settled(THREE_AND_ONE, 4, 3);
        assertThat(cluster.voters()).isEqualTo(3);
        assertThat(cluster.learnerNames()).containsExactly("m4");
        assertThat(cluster.last()).isInstanceOf(Decision.Settled.class);
    }

    @Test
    void oneMemberGrowsToThreeAndAStandby() {
        Simulated cluster = settled(THREE_AND_ONE, 4, 1);
        assertThat(cluster.voters()).isEqualTo(3);
        assertThat(cluster.learners()).isEqualTo(1);
    }

    @Test
    void threeGrowToFiveAndShrinkAgain() {
        Simulated cluster = settled(new Shape(5, 1, Set.of(), false, 1), 6, 3);
        assertThat(cluster.voters()).isEqualTo(5);
        assertThat(cluster.learners()).isEqualTo(1);

        assertThat(settled(THREE_AND_ONE, 5, 5).voters()).isEqualTo(3);
    }

    @Test
    void withFourMachinesThereAreThreeVoters() {
        Simulated cluster = settled(new Shape(5, 0, Set.of(), false, 1), 4, 4);
        assertThat(cluster.voters()).isEqualTo(3);
    }

    @Test
    void aDeadVoterIsRemovedAStandbyPromotedAndAnotherAdded() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.kill(0);
        cluster.run(29);
        assertThat(cluster.changes()).isEmpty();
        cluster.run(60);
        assertThat(cluster.changes().stream()
                        .map(change -> change.step().getClass().getSimpleName()))
                .containsExactly("Remove", "Promote", "AddLearner", "Join");
        assertThat(cluster.voterNames()).containsExactlyInAnyOrder("m2", "m3", "m4");
        assertThat(cluster.learnerNames()).containsExactly("m5");
    }

    @Test
    void theMachineOfADeadVoterIsUsedAgainAfterAWhile() {
        Simulated cluster = settled(THREE_AND_ONE, 4, 3);
        cluster.kill(0);
        cluster.run(60);
        assertThat(cluster.last().action()).contains("m1 is left alone for a while");
        cluster.run(120);
        assertThat(cluster.learnerNames()).containsExactly("m1");
    }

    @Test
    void anOperatorReceivesInstructionsForAStartOnce() {
        Simulated cluster = new Simulated(THREE_AND_ONE, LIMITS, V35, 4, 3);
        cluster.leaveToItsOperator(3);
        cluster.run(59);
        assertThat(cluster.changes().stream()
                        .map(change -> change.step().getClass().getSimpleName()))
                .containsExactly("AddLearner", "Join");
    }

    @Test
    void aFlappingVoterIsNotChased() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        for (int round = 0; round < 20; round++) {
            cluster.stall(1);
            cluster.run(20);
            cluster.revive(1);
            cluster.run(3);
        }
        assertThat(cluster.changes()).isEmpty();
    }

    /** After a roll with --program: the member would end, and be removed for it. */
    @Test
    void aDeadVoterWithAnOutdatedProgramIsNeitherStartedNorRemoved() {
        Simulated cluster = settled(new Shape(3, 0, Set.of(), false, 1), 4, 3);
        cluster.outdate(2);
        cluster.run(300);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last().action()).isEqualTo("neither started nor removed: set its program");
    }

    @Test
    void withoutAStandbyADeadVotersProcessIsStarted() {
        Simulated cluster = settled(new Shape(3, 0, Set.of(), false, 1), 3, 3);
        cluster.kill(2);
        cluster.run(40);
        assertThat(cluster.changes()).singleElement().satisfies(change -> assertThat(change.step())
                .isInstanceOf(Step.Start.class));
        assertThat(cluster.last()).isInstanceOf(Decision.Settled.class);
    }

    @Test
    void aDeadVoterWithoutASuccessorStays() {
        Simulated cluster = settled(new Shape(3, 0, Set.of(), false, 1), 3, 3);
        cluster.breakDown(2);
        cluster.run(600);
        assertThat(cluster.voters()).isEqualTo(3);
        assertThat(cluster.last().action()).contains("no machine for another");
    }

    @Test
    void withoutAQuorumNothingIsChangedAndRecoveryIsSuggested() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.breakDown(0);
        cluster.breakDown(1);
        cluster.run(10);
        // Recovery is not suggested while they start.
        assertThat(cluster.last()).isInstanceOf(Decision.Waiting.class);
        cluster.run(600);
        assertThat(steps(cluster)).containsExactly("Start", "Start");
        assertThat(cluster.last()).isInstanceOf(Decision.QuorumLost.class);
        assertThat(String.join("\n", ((Decision.QuorumLost) cluster.last()).guidance()))
                .contains("2 of 3 voters are needed", "m1, m2", "has the most recent data", "cluster recover");
    }

    @Test
    void aQuorumOfWhichThisSupervisorSeesTooLittleIsNotLost() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.cutFromSupervisor(1);
        cluster.cutFromSupervisor(2);
        for (int second = 0; second < 600; second++) {
            assertThat(cluster.tick().rule()).isEqualTo("cut-off");
        }
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last()).asString().contains("1 of 3 voting members healthy", "the cluster has a quorum");
        cluster.kill(2);
        cluster.run(120);
        assertThat(cluster.changes()).singleElement().satisfies(change -> assertThat(change.step())
                .isInstanceOf(Step.Start.class));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void anEndedMemberIsStartedOnceThoughThisSupervisorDoesNotReachTheLeader(int voters) {
        Simulated cluster = settled(new Shape(voters, 1, Set.of(), false, 1), voters + 2, voters);
        cluster.cutFromSupervisor(0);
        cluster.run(600);
        cluster.breakDown(1);
        cluster.run(59);
        assertThat(steps(cluster)).containsOnly("MoveLeader");
        cluster.run(600);
        assertThat(steps(cluster)).containsOnly("MoveLeader", "Start").containsOnlyOnce("Start");
    }

    @Test
    void aReadReplicaGivesItsSlotToAFutureVoterAndRejoins() {
        Shape shape = new Shape(3, 0, Set.of("m4"), false, 1);
        Simulated cluster = settled(shape, 5, 3);
        assertThat(cluster.learnerNames()).containsExactly("m4");
        cluster.breakDown(0);
        cluster.run(300);
        assertThat(cluster.voterNames()).containsExactlyInAnyOrder("m2", "m3", "m5");
        assertThat(cluster.learnerNames()).containsExactly("m4");
        assertThat(cluster.changes())
                .anySatisfy(change -> assertThat(change.rule()).isEqualTo("learner-slot"));
    }

    @Test
    void aReadReplicaIsTheStandbyIfDeclaredSo() {
        Simulated cluster = settled(new Shape(3, 1, Set.of("m4"), true, 1), 5, 3);
        assertThat(cluster.learnerNames()).containsExactly("m4");
        cluster.kill(0);
        cluster.run(90);
        assertThat(cluster.voterNames()).containsExactlyInAnyOrder("m2", "m3", "m4");
    }

    @Test
    void aLearnerThatNeverStartsIsRemovedAgainAndItsMachineLeftAlone() {
        Simulated cluster = new Simulated(THREE_AND_ONE, LIMITS, V35, 5, 3);
        cluster.breakDown(3);
        cluster.run(100);
        assertThat(cluster.changes())
                .anySatisfy(change -> assertThat(change.rule()).isEqualTo("join-rollback"));
        assertThat(cluster.learnerNames()).containsExactly("m5");
    }

    @Test
    void aSlowLearnerThatHasStartedIsNotRemoved() {
        Simulated cluster = new Simulated(THREE_AND_ONE, LIMITS, V35, 5, 3);
        cluster.cripple(3);
        cluster.run(20);
        cluster.changes().clear();
        cluster.forget();
        cluster.run(300);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last().observed()).isEqualTo("m4 is not healthy");
    }

    @Test
    void aLearnerElsewhereThatNeverStartsIsNeitherWaitedForNorRemoved() {
        Simulated cluster = new Simulated(THREE_AND_ONE_OF_TWO, LIMITS, V36, 5, 3);
        cluster.run(60);
        cluster.addElsewhere(false);
        cluster.run(10);
        cluster.changes().clear();
        cluster.kill(0);
        cluster.run(300);
        assertThat(cluster.changes().stream()
                        .map(change -> change.step().getClass().getSimpleName()))
                .startsWith("Remove", "Promote");
        assertThat(cluster.learnerNames()).contains("elsewhere");
    }

    @Test
    void aLearnerElsewhereIsNotMadeAVoterNorRemovedWhenItIsDead() {
        Simulated cluster = new Simulated(THREE_AND_ONE_OF_TWO, LIMITS, V36, 4, 3);
        cluster.addElsewhere(true);
        cluster.run(60);
        cluster.breakDown(3);
        cluster.breakDown(0);
        cluster.run(60);
        cluster.killElsewhere();
        cluster.run(300);
        assertThat(cluster.voterNames()).doesNotContain("elsewhere");
        assertThat(cluster.learnerNames()).contains("elsewhere");
    }

    @Test
    void aDeadVoterStaysWhileItsSuccessorCouldNotBePromoted() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.hide(3);
        cluster.kill(0);
        cluster.run(60);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last().action()).contains("not removed yet", "no response at the peer URL of m4");
    }

    @Test
    void aDeadVoterStaysWhileNoLearnerSlotIsFree() {
        Simulated cluster = settled(new Shape(3, 0, Set.of(), false, 1), 4, 3);
        cluster.addElsewhere(true);
        cluster.breakDown(2);
        cluster.run(300);
        assertThat(steps(cluster)).containsExactly("Start");
        assertThat(cluster.last()).asString().contains("not removed", "learner slots are taken by elsewhere");
    }

    @Test
    void aDeadVoterStaysWhileNoLearnerCouldBeAdded() {
        Simulated cluster = new Simulated(new Shape(3, 0, Set.of(), false, 2), LIMITS, V36, 4, 3);
        cluster.run(1);
        cluster.addElsewhere(false);
        cluster.breakDown(2);
        cluster.run(300);
        assertThat(steps(cluster)).containsExactly("Start");
        assertThat(cluster.last()).asString().contains("not removed yet", "one-change-at-a-time");
    }

    @Test
    void aDeadVoterStaysWhileTheOnlyFreeMachineIsManual() {
        Simulated cluster = settled(new Shape(3, 0, Set.of(), false, 1), 4, 3);
        cluster.leaveToItsOperator(3);
        cluster.breakDown(2);
        cluster.run(300);
        assertThat(steps(cluster)).containsExactly("Start");
        assertThat(cluster.last()).asString().contains("not removed", "understudy cluster replace m3 --with m4");
    }

    @Test
    void aDeadVoterStaysWhileTheOnlyFreeMachineCouldStartNoMember() {
        Simulated cluster = settled(new Shape(3, 0, Set.of(), false, 1), 4, 3);
        cluster.mute(3);
        cluster.breakDown(2);
        cluster.run(300);
        assertThat(steps(cluster)).containsExactly("Start");
        assertThat(cluster.last()).asString().contains("not removed", "not usable, see the log: m4");
    }

    @Test
    void aReadReplicaKeepsItsSlotWhileEtcdAddsNoMember() {
        Simulated cluster = settled(new Shape(3, 0, Set.of("m4"), false, 1), 7, 3);
        cluster.declare(new Shape(5, 0, Set.of("m4"), false, 1));
        cluster.stall(0);
        cluster.run(10);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last()).asString().contains("m5 is not added: etcd-adds");
    }

    @Test
    void aDeadLearnersSlotCountsAsFree() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.breakDown(3);
        cluster.breakDown(2);
        cluster.run(120);
        assertThat(cluster.voterNames()).containsExactlyInAnyOrder("m1", "m2", "m5");
    }

    /** As while its host restarts. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDeadLearnerStaysWhileNoOtherMachineCanTakeItsSlot(boolean isReadReplica) {
        Simulated cluster = settled(isReadReplica ? new Shape(3, 0, Set.of("m4"), false, 1) : THREE_AND_ONE, 4, 3);
        cluster.leaveToItsOperator(3);
        cluster.run(60);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last()).asString().contains("dead-learner", "m4 is hung", "not removed");
        cluster.repairAll();
        cluster.run(60);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last()).isInstanceOf(Decision.Settled.class);
    }

    @Test
    void aHungLearnerWithoutASuccessorJoinsAgainOnItsMachine() {
        Simulated cluster = settled(THREE_AND_ONE, 4, 3);
        cluster.stall(3);
        cluster.run(59);
        assertThat(cluster.changes()).isEmpty();
        cluster.run(241);
        assertThat(steps(cluster)).containsExactly("Remove", "Retire", "AddLearner", "Join");
        assertThat(cluster.last()).isInstanceOf(Decision.Settled.class);
    }

    @Test
    void aDeadLearnerIsStartedWithItsData() {
        Simulated cluster = settled(THREE_AND_ONE, 4, 3);
        cluster.kill(3);
        cluster.run(60);
        assertThat(steps(cluster)).containsExactly("Start");
        assertThat(cluster.last()).isInstanceOf(Decision.Settled.class);
    }

    @Test
    void aLearnerThatDoesNotStartWithItsDataJoinsAgainEachTimeLater() {
        Simulated cluster = settled(THREE_AND_ONE, 4, 3);
        List<Integer> pauses = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            cluster.breakDown(3);
            while (cluster.learners() > 0) {
                cluster.run(1);
            }
            cluster.repairAll();
            int pause = 0;
            while (cluster.learners() == 0) {
                cluster.run(1);
                pause++;
            }
            pauses.add(pause);
            cluster.run(60);
        }
        assertThat(steps(cluster)).startsWith("Start", "Remove", "AddLearner", "Join", "Start");
        assertThat(pauses.get(1)).isGreaterThan(pauses.get(0));
        assertThat(pauses.get(2)).isGreaterThan(pauses.get(1));
    }

    @Test
    void aDeadReadReplicaGivesItsSlotToAnother() {
        Simulated cluster = settled(new Shape(3, 0, Set.of("m4", "m5"), false, 1), 5, 3);
        assertThat(cluster.learnerNames()).containsExactly("m4");
        cluster.stall(3);
        cluster.run(60);
        assertThat(cluster.learnerNames()).containsExactly("m5");
    }

    @Test
    void theStandbyIsPromotedThoughAnotherLearnerIsJoining() {
        Simulated cluster = new Simulated(new Shape(3, 2, Set.of(), false, 2), LIMITS, V36, 6, 3);
        cluster.run(120);
        cluster.changes().clear();
        cluster.cripple(5);
        cluster.breakDown(4);
        cluster.run(60);
        assertThat(cluster.learnerNames()).containsExactlyInAnyOrder("m4", "m6");
        cluster.kill(0);
        cluster.changes().clear();
        cluster.run(35);
        assertThat(cluster.changes().stream()
                        .map(change -> change.step().getClass().getSimpleName()))
                .containsExactly("Remove", "Promote");
    }

    @Test
    void theProcessOfARemovedMemberIsEnded() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.stall(0);
        cluster.run(120);
        assertThat(cluster.changes())
                .anySatisfy(change -> assertThat(change.step()).isEqualTo(new Step.Retire(Simulated.spec("m1"))));
    }

    /** Its supervisor was killed right after the removal. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theProcessOfAMemberThatAnotherSupervisorRemovedIsEnded(boolean isUnreadable) {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.stall(0);
        while (!steps(cluster).contains("Remove")) {
            cluster.run(1);
        }
        cluster.forget();
        if (isUnreadable) {
            cluster.makeUnreadable();
        }
        cluster.run(120);
        assertThat(steps(cluster).contains("Retire")).isEqualTo(!isUnreadable);
    }

    @Test
    void whatWasNeverSeenAsAMemberIsLeftAlone() {
        Simulated cluster = new Simulated(THREE_AND_ONE, LIMITS, V35, 4, 3);
        cluster.occupy(3);
        cluster.run(120);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last().observed()).contains("m4 runs, and no member has its name or peer URL");
    }

    @Test
    void membersOfOtherNamesAreFoundByTheirPeerUrlsAndNotEnded() {
        Simulated cluster = new Simulated(new Shape(3, 0, Set.of(), false, 1), LIMITS, V35, 3, 3);
        cluster.callOtherwise();
        cluster.run(120);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last()).isInstanceOf(Decision.Settled.class);
    }

    @Test
    void aMemberWithoutMeasurementsIsNotDead() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.hideMetrics(2);
        cluster.run(300);
        assertThat(cluster.changes()).isEmpty();
        cluster.showMetrics();
        cluster.run(60);
        assertThat(cluster.changes()).isEmpty();
    }

    @Test
    void inconclusiveObservationsDoNotMakeAMemberDead() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.stall(2);
        cluster.hideMetrics(2);
        cluster.run(300);
        cluster.showMetrics();
        cluster.run(30);
        assertThat(cluster.changes()).isEmpty();
        cluster.run(3);
        assertThat(cluster.changes()).isNotEmpty();
    }

    @Test
    void noMemberIsAddedOnAMachineThatCannotBeQueried() {
        Simulated cluster = settled(THREE_AND_ONE, 6, 3);
        cluster.mute(4);
        cluster.kill(0);
        cluster.run(60);
        assertThat(cluster.voterNames()).containsExactlyInAnyOrder("m2", "m3", "m4");
        assertThat(cluster.learnerNames()).containsExactly("m6");
    }

    @Test
    void aPauseOfTheSupervisorCountsForNothing() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.kill(0);
        for (int look = 0; look < 10; look++) {
            Decision unused = cluster.tick(Duration.ofSeconds(12));
        }
        assertThat(cluster.changes()).isEmpty();
        cluster.run(31);
        assertThat(cluster.changes()).isNotEmpty();
    }

    @Test
    void atLeastThreeObservationsMakeAMemberDead() {
        Limits hasty = new Limits(
                Duration.ofSeconds(1), 100, Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofSeconds(120), 20);
        Simulated cluster = new Simulated(THREE_AND_ONE, hasty, V35, 5, 3);
        cluster.run(60);
        cluster.changes().clear();
        cluster.kill(0);
        cluster.run(2);
        assertThat(cluster.changes()).isEmpty();
        cluster.run(1);
        assertThat(cluster.changes()).isNotEmpty();
    }

    @Test
    void aHungVoterIsReplaced() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.stall(1);
        cluster.run(29);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.state(1)).isEqualTo(MemberState.SUSPECT);
        cluster.run(3);
        assertThat(steps(cluster)).startsWith("Remove", "Promote");
        assertThat(cluster.changes().get(0).observed()).contains("m2 is hung", "received nothing from it for 31 s");
    }

    @Test
    void aHungLeaderIsReplacedOnceItsSuccessorHasLedForTheDeadTime() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.stall(0);
        cluster.run(33);
        assertThat(steps(cluster)).startsWith("Remove", "Promote");
        assertThat(cluster.voterNames()).containsExactlyInAnyOrder("m2", "m3", "m4");
    }

    @Test
    void anotherLeaderSeesTheFaultForTheWholeDeadTime() {
        Simulated cluster = settled(new Shape(5, 1, Set.of(), false, 1), 7, 5);
        cluster.stall(4);
        cluster.run(20);
        cluster.kill(0);
        cluster.run(29);
        assertThat(cluster.state(4)).isEqualTo(MemberState.SUSPECT);
        assertThat(cluster.changes()).isEmpty();
        cluster.run(40);
        assertThat(cluster.voterNames()).doesNotContain("m1");
    }

    @Test
    void aVoterThatIsCutFromTheLeaderIsReplaced() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.cut(2);
        cluster.run(20);
        assertThat(cluster.state(2)).isEqualTo(MemberState.SUSPECT);
        cluster.run(13);
        assertThat(steps(cluster)).startsWith("Remove", "Promote");
        assertThat(cluster.changes().get(0).observed()).contains("m3 is cut", "serves no linearizable read");
    }

    @Test
    void aDeafVoterIsReplaced() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.deafen(2);
        cluster.run(33);
        assertThat(steps(cluster)).startsWith("Remove", "Promote");
        assertThat(cluster.changes().get(0).observed()).contains("m3 is deaf", "no progress of its log");
    }

    @Test
    void aKilledVoterIsDead() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.kill(2);
        cluster.run(33);
        assertThat(cluster.changes().get(0).observed()).contains("m3 is dead", "its process has ended");
    }

    @Test
    void whatOnlyTheSupervisorCannotReachIsReported() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.cutFromSupervisor(1);
        cluster.run(300);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.state(1)).isEqualTo(MemberState.UNREACHABLE);
        assertThat(cluster.last().rule()).isEqualTo("unreachable");
    }

    @Test
    void aLeaderThatServesNoReadsGivesLeadershipToAnother() {
        for (Consumer<Simulated> fault :
                List.<Consumer<Simulated>>of(each -> each.cripple(0), each -> each.cutFromSupervisor(0))) {
            Simulated cluster = settled(THREE_AND_ONE, 5, 3);
            fault.accept(cluster);
            cluster.run(29);
            assertThat(cluster.state(0)).isEqualTo(MemberState.SUSPECT);
            assertThat(cluster.changes()).isEmpty();
            cluster.follow(false);
            cluster.run(3);
            assertThat(cluster.withoutElection()).map(Decision.Change::step).containsInstanceOf(Step.MoveLeader.class);
            cluster.follow(true);
            cluster.run(268);
            assertThat(steps(cluster)).containsExactly("MoveLeader");
            assertThat(cluster.changes().get(0).rule()).isEqualTo("stuck-leader");
            assertThat(cluster.last().rule()).isIn("stuck", "stuck-leader");
            assertThat(cluster.voterNames()).contains("m1");
        }
    }

    @Test
    void aVoterWithoutReadsThatTheLeaderHearsIsReported() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.cripple(2);
        cluster.run(300);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last().rule()).isEqualTo("stuck");
    }

    @Test
    void aSlowLeaderGivesLeadershipToAFastMemberOnce() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.slowDown(0, Duration.ofMillis(250));
        cluster.slowDown(1, Duration.ofSeconds(2));
        cluster.run(1);
        assertThat(cluster.changes().get(0).step())
                .isInstanceOfSatisfying(
                        Step.MoveLeader.class, move -> assertThat(move.label()).isEqualTo("m3"));
        cluster.slowDown(2, Duration.ofSeconds(1));
        cluster.run(300);
        assertThat(cluster.changes()).hasSize(1);
        assertThat(cluster.last().rule()).isEqualTo("slow-disk");
    }

    @Test
    void aSlowLeaderIsReplacedWhileAnotherRuleWaitsForASlot() {
        Simulated cluster = settled(new Shape(3, 1, Set.of("m5"), false, 1), 5, 3);
        assertThat(cluster.last()).isInstanceOf(Decision.Waiting.class);
        cluster.slowDown(0, Duration.ofMillis(250));
        cluster.run(10);
        assertThat(steps(cluster)).containsExactly("MoveLeader");
    }

    @Test
    void aSlowLeaderIsReplacedWhileADeadVoterStays() {
        Simulated cluster = settled(new Shape(3, 0, Set.of(), false, 1), 3, 3);
        cluster.breakDown(2);
        cluster.run(120);
        cluster.slowDown(0, Duration.ofMillis(250));
        cluster.run(10);
        assertThat(steps(cluster)).containsExactly("Start", "MoveLeader");
    }

    @Test
    void withoutAQuorumLeadershipIsNotMoved() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.slowDown(0, Duration.ofSeconds(1));
        cluster.slowDown(1, Duration.ofSeconds(1));
        cluster.slowDown(2, Duration.ofSeconds(1));
        cluster.stall(1);
        cluster.stall(2);
        cluster.run(120);
        assertThat(cluster.changes()).isEmpty();
    }

    @Test
    void aRemovedMembersProcessEndsWhileALearnerJoins() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.stall(0);
        cluster.leaveToItsOperator(4);
        cluster.run(60);
        assertThat(cluster.learnerNames()).containsExactly("m5");
        assertThat(steps(cluster)).contains("Retire");
    }

    @Test
    void aSlowDiskThatAllShareMovesNothing() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        for (int machine = 0; machine < 4; machine++) {
            cluster.slowDown(machine, Duration.ofSeconds(1));
        }
        cluster.run(300);
        assertThat(cluster.changes()).isEmpty();
    }

    @Test
    void aFlappingLeaderGivesAwayLeadership() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        for (int round = 0; round < 3; round++) {
            cluster.stall(1);
            cluster.run(10);
            cluster.revive(1);
            cluster.run(3);
        }
        assertThat(cluster.state(1)).isEqualTo(MemberState.FLAPPING);
        assertThat(cluster.last().rule()).isEqualTo("flapping");
        cluster.kill(0);
        cluster.run(3);
        assertThat(steps(cluster)).containsExactly("MoveLeader");
    }

    @Test
    void aClockThatIsOffIsReported() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.setClock(1, Duration.ofMinutes(-1));
        cluster.run(100);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.state(0)).isEqualTo(MemberState.HEALTHY);
        assertThat(cluster.last().rule()).isEqualTo("clock-off");
    }

    @ParameterizedTest
    @ValueSource(longs = {-3_600, 3_600})
    void jumpsOfClocksNeitherCauseNorDelayAReplacement(long seconds) {
        Duration jump = Duration.ofSeconds(seconds);
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.setOwnClock(jump);
        cluster.run(60);
        assertThat(cluster.last()).isInstanceOf(Decision.Settled.class);
        cluster.stall(1);
        cluster.run(15);
        cluster.setOwnClock(jump.multipliedBy(2));
        cluster.setClock(2, jump.negated());
        cluster.run(14);
        assertThat(cluster.changes()).isEmpty();
        cluster.run(3);
        assertThat(steps(cluster)).startsWith("Remove", "Promote");
    }

    @Test
    void membersThatContradictEachOtherAreReported() {
        Simulated cluster = settled(THREE_AND_ONE, 4, 3);
        cluster.contradict(2);
        cluster.run(1);
        assertThat(cluster.last().rule()).isEqualTo("members-differ");
        assertThat(cluster.last()).asString().contains("m3 lists 2 members", "understudy cluster remove");
    }

    @Test
    void aReadReplicaThatVotesIsReported() {
        Simulated cluster = settled(new Shape(3, 0, Set.of("m3"), false, 1), 4, 3);
        cluster.run(100);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last().observed()).isEqualTo("m3 is declared as a read replica and is a voting member");
    }

    @Test
    void aClockThatIsOffDelaysNoReplacement() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.setClock(1, Duration.ofMinutes(-1));
        cluster.kill(0);
        cluster.run(60);
        assertThat(cluster.voterNames()).containsExactlyInAnyOrder("m2", "m3", "m4");
    }

    @Test
    void aMemberThatNeverStartedIsJoining() {
        Simulated cluster = new Simulated(THREE_AND_ONE, LIMITS, V35, 4, 3);
        cluster.breakDown(3);
        cluster.run(2);
        assertThat(cluster.finding("").state()).isEqualTo(MemberState.JOINING);
    }

    @Test
    void severalHungAtOnceAreNotReplaced() {
        Simulated cluster = settled(new Shape(5, 2, Set.of(), false, 2), 8, 5);
        cluster.stall(3);
        cluster.stall(4);
        cluster.run(300);
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.last().action()).contains("several voting members are silent at once, also m5");
    }

    @Test
    void aVoterThatTheLeaderHearsDelaysNoReplacement() {
        Simulated stuck = settled(FIVE_AND_ONE, 8, 5);
        stuck.cripple(3);
        stuck.stall(4);
        stuck.run(60);
        assertThat(stuck.voterNames()).containsExactlyInAnyOrder("m1", "m2", "m3", "m4", "m6");

        Simulated unreachable = settled(FIVE_AND_ONE, 8, 5);
        unreachable.cutFromSupervisor(3);
        unreachable.stall(4);
        unreachable.run(60);
        assertThat(unreachable.voterNames()).containsExactlyInAnyOrder("m1", "m2", "m3", "m4", "m6");
    }

    @Test
    void aHungVoterIsReplacedBeforeADeafOne() {
        Simulated cluster = settled(FIVE_AND_ONE, 8, 5);
        cluster.deafen(3);
        cluster.stall(4);
        cluster.run(300);
        assertThat(cluster.changes().get(0).observed()).contains("m5 is hung");
        assertThat(cluster.voterNames()).hasSize(5).doesNotContain("m4", "m5");
    }

    @Test
    void severalDeadAreReplacedOneByOne() {
        Simulated cluster = settled(new Shape(5, 1, Set.of(), false, 1), 8, 5);
        cluster.kill(3);
        cluster.kill(4);
        cluster.run(200);
        assertThat(cluster.voterNames()).hasSize(5).doesNotContain("m4", "m5");
    }

    @Test
    void withoutAQuorumOwnProcessesAreStartedWithTheirData() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.kill(0);
        cluster.kill(1);
        // No election can succeed, so there is nothing to wait for.
        cluster.run(1);
        assertThat(steps(cluster)).containsExactly("Start");
        cluster.run(5);
        assertThat(cluster.changes()).allMatch(change -> change.step() instanceof Step.Start);
        assertThat(cluster.voterNames()).containsExactlyInAnyOrder("m1", "m2", "m3");
        assertThat(cluster.isQuorumHeld()).isTrue();
    }

    @Test
    void anAlarmIsReportedAndAProcessStartsWithoutAnElection() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.alarm("NOSPACE of m1");
        cluster.run(1);
        assertThat(cluster.last().rule()).isEqualTo("alarm");
        cluster.follow(false);
        cluster.kill(2);
        cluster.run(31);
        assertThat(cluster.last()).isInstanceOfSatisfying(Decision.Change.class, change -> assertThat(change.step())
                .isInstanceOf(Step.Remove.class));
        assertThat(cluster.withoutElection()).isEmpty();
        cluster.run(30);
        assertThat(cluster.withoutElection()).hasValueSatisfying(change -> assertThat(change.step())
                .isEqualTo(new Step.Start(Simulated.spec("m3"))));
    }

    private static List<String> steps(Simulated cluster) {
        return cluster.changes().stream()
                .map(change -> change.step().getClass().getSimpleName())
                .toList();
    }

    @Test
    void aNewSupervisorObservesADeadMemberForTheFullTime() {
        Simulated cluster = settled(THREE_AND_ONE, 5, 3);
        cluster.kill(0);
        cluster.run(25);
        cluster.forget();
        cluster.run(29);
        assertThat(cluster.changes()).isEmpty();
        cluster.run(5);
        assertThat(cluster.changes()).isNotEmpty();
    }
}
