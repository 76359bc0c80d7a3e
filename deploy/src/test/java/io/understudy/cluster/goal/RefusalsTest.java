package io.understudy.cluster.goal;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.goal.MemberGoals.ChangePeerUrls;
import io.understudy.cluster.goal.MemberGoals.DemoteMember;
import io.understudy.cluster.goal.MemberGoals.RemoveMember;
import io.understudy.cluster.goal.MemberGoals.ReplaceMember;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Hashes;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterFacts.Divergence;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Planned;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Step;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.etcd.StorageStatus;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is refused before anything is sent, by which rule, and what to do instead. */
class RefusalsTest {

    private static final ClusterFacts THREE = FactsFixture.voters(true, true, true);

    @Test
    void withOneOfThreeDownNothingCanBeAddedUntilItIsRemoved() {
        Refusal refusal = refusal(new AddMember(FactsFixture.place(4), true), FactsFixture.voters(true, true, false));

        assertThat(refusal.rule()).isEqualTo("etcd-adds");
        assertThat(refusal.why()).contains("3 of the 3 voting members are connected", "healthy: 2, not healthy: m3");
        assertThat(refusal.wayOut()).contains("understudy cluster replace");
    }

    @Test
    void withOneOfTwoDownNothingCanBeChangedAtAll() {
        Refusal refusal = refusal(new AddMember(FactsFixture.place(3), true), FactsFixture.voters(true, false));

        assertThat(refusal.rule()).isEqualTo("quorum-held");
        assertThat(refusal.wayOut()).contains("m2", "understudy cluster recover");
    }

    @Test
    void membersBeforeThreeFiveAreToBeUpgradedByHandAsTheyConfirmNothing() {
        ClusterFacts one = FactsFixture.withVersion(FactsFixture.voters(true), 1, "3.4.23", Duration.ZERO);
        ClusterFacts old = new ClusterFacts(one.cluster(), one.members(), false, one.alarms(), one.at());

        Refusal refusal = refusal(new AddMember(FactsFixture.place(3), true), old);

        assertThat(refusal.rule()).isEqualTo("quorum-held");
        assertThat(refusal.wayOut()).contains("before etcd 3.5", "upgrade them");
    }

    @Test
    void withOneOfFiveDownMembersAreAdded() {
        assertThat(steps(
                        new AddMember(FactsFixture.place(6), true), FactsFixture.voters(true, true, true, true, false)))
                .containsExactly(
                        "add m6 as a learner at http://10.0.0.6:2380",
                        "start m6 without data and wait until it serves",
                        "wait until m6 is in sync with the leader",
                        "promote m6");
    }

    @Test
    void anUpgradeRestartsThoseOfAnotherVersionOneByOneTheLeaderLast() {
        ClusterFacts begun = FactsFixture.withVersion(THREE, 3, "3.5.31", Duration.ZERO);

        assertThat(steps(new Roll(FactsFixture.STARTED, EtcdVersion.parse("3.5.31")), begun))
                .containsExactly(
                        "restart m2 as 3.5.31 and wait until it serves",
                        "move leadership to m2",
                        "restart m1 as 3.5.31 and wait until it serves");
    }

    @Test
    void anUpgradeThatEtcdDoesNotSupportIsRefusedBeforeAnyRestart() {
        ClusterFacts old = FactsFixture.withVersion(THREE, 3, "3.5.16", Duration.ZERO);

        Refusal refusal = refusal(new Roll(FactsFixture.STARTED, EtcdVersion.parse("3.6.16")), old);

        assertThat(refusal.rule()).isEqualTo("supported-upgrade");
        assertThat(refusal.wayOut()).contains("3.5.26");
    }

    /** Its program was exchanged: the others stay as they are. */
    @Test
    void aRollWithoutAVersionEndsWhereAMemberCameBackAsAnother() {
        ClusterFacts changed = FactsFixture.withVersion(THREE, 3, "3.6.16", Duration.ZERO);

        Refusal refusal = refusal(new Roll(FactsFixture.STARTED.plusSeconds(9), null), changed);

        assertThat(refusal.rule()).isEqualTo("version-unchanged");
        assertThat(refusal.why()).endsWith("3.5.30, 3.6.16");
    }

    @Test
    void noMemberJoinsAcrossMoreThanOneMinorRelease() {
        AddMember add = new AddMember(FactsFixture.place(4), true);

        Refusal refusal = refusal(add, FactsFixture.withVersion(THREE, 2, "3.3.27", Duration.ZERO));

        assertThat(refusal.rule()).isEqualTo("versions-close");
        assertThat(refusal.why()).contains("3.3.27", "3.5.30");
        assertThat(refusal.wayOut()).contains("understudy cluster roll");
        assertThat(steps(add, FactsFixture.withVersion(THREE, 2, "3.4.30", Duration.ZERO)))
                .isNotEmpty();
    }

    /** etcd's lessor counts durations by the leader's own clock. */
    @Test
    void aClockThatIsOffRefusesNoChange() {
        ClusterFacts behind = FactsFixture.withVersion(THREE, 2, "3.5.30", Duration.ofMinutes(-1));

        assertThat(steps(new AddMember(FactsFixture.place(4), true), behind)).isNotEmpty();
    }

    @Test
    void aDeadVoterGoesBeforeItsSuccessorComes() {
        assertThat(steps(
                        new ReplaceMember(new MemberId(3), FactsFixture.place(4), true, true),
                        FactsFixture.voters(true, true, false)))
                .startsWith("remove m3 permanently", "add m4 as a learner at http://10.0.0.4:2380")
                .endsWith("promote m4");
    }

    @Test
    void aDemotedVoterIsRemovedAndJoinsAgainAsALearner() {
        assertThat(steps(new DemoteMember(new MemberId(1), FactsFixture.place(1)), THREE))
                .startsWith(
                        "move leadership to m2", "remove m1 permanently", "add m1 as a learner at http://10.0.0.1:2380")
                .endsWith("wait until m1 is in sync with the leader");
    }

    @Test
    void aVoterThatTheQuorumNeedsIsNotDemoted() {
        Refusal refusal = refusal(
                new DemoteMember(new MemberId(2), FactsFixture.place(2)), FactsFixture.voters(true, true, false));

        assertThat(refusal.rule()).isEqualTo("quorum-survives");
    }

    /** The only change is the one that heals. */
    @Test
    void whereMemberListsDifferOnlyTheMemberApartIsRemoved() {
        ClusterFacts apart = new ClusterFacts(
                THREE.cluster(),
                THREE.members(),
                true,
                List.of(),
                THREE.at(),
                new Divergence(Set.of(new MemberId(1)), true, List.of("m1 lists 4 members")),
                Map.of());

        assertThat(refusal(new AddMember(FactsFixture.place(4), true), apart).rule())
                .isEqualTo("members-agree");
        assertThat(refusal(new RemoveMember(new MemberId(2)), apart).wayOut()).startsWith("Remove m1");
        assertThat(steps(new RemoveMember(new MemberId(1)), apart))
                .containsExactly("move leadership to m2", "remove m1 permanently");
    }

    @Test
    void aCorruptMemberIsRemovedBeforeItsAlarmIsDisarmed() {
        ClusterFacts corrupt = withAlarm(THREE, 3, "CORRUPT");

        assertThat(steps(repair(Map.of(1, 5L, 2, 5L, 3, 6L)), corrupt))
                .containsExactly("remove m3 permanently", "disarm CORRUPT of m3");
        assertThat(refusal(repair(Map.of(1, 5L, 2, 6L, 3, 7L)), corrupt).wayOut())
                .startsWith("Restore a snapshot");
        assertThat(refusal(repair(Map.of(1, 5L, 3, 6L)), corrupt).wayOut())
                .as("one did not respond")
                .startsWith("Repeat the command");
        assertThat(refusal(repair(Map.of(1, 5L, 2, 5L, 3, 5L)), corrupt).rule()).isEqualTo("corruption-confirmed");
    }

    /** etcd's leader compares the others with itself, and 3.5 raises each alarm of member 0. */
    @Test
    void theHashesShowTheCorruptMemberWhicheverTheAlarmNames() {
        RepairCluster ofLeader = repair(Map.of(1, 6L, 2, 5L, 3, 5L));

        assertThat(steps(ofLeader, withAlarm(THREE, 2, "CORRUPT")))
                .containsExactly("move leadership to m2", "remove m1 permanently", "disarm CORRUPT of m2");
        assertThat(steps(repair(Map.of(1, 5L, 2, 5L, 3, 6L)), withAlarm(THREE, 0, "CORRUPT")))
                .containsExactly("remove m3 permanently", "disarm CORRUPT of an unknown member");
        assertThat(steps(repair(Map.of(1, 5L, 2, 5L, 3, 6L)), withAlarm(FactsFixture.voters(true, true), 2, "CORRUPT")))
                .as("after the removal")
                .containsExactly("disarm CORRUPT of m2");
        ClusterFacts five = withAlarm(FactsFixture.voters(true, true, true, true, true), 4, "CORRUPT");
        assertThat(steps(repair(Map.of(1, 6L, 2, 5L, 3, 5L, 4, 5L, 5, 7L)), five))
                .as("one at a time, the leader last; the alarm stays until the last is gone")
                .containsExactly("remove m5 permanently");
        assertThat(steps(repair(Map.of(1, 6L, 2, 5L, 3, 5L, 5, 5L)), five))
                .as("the named one did not respond")
                .containsExactly("move leadership to m2", "remove m1 permanently");
    }

    /** A learner refuses to report its hash; etcd's leader reads it from the peer port. */
    @Test
    void aCorruptLearnerIsRemovedWhereAllVotersAgree() {
        ClusterFacts learner = FactsFixture.withLearner(THREE, true, 0);
        RepairCluster equal = repair(Map.of(1, 5L, 2, 5L, 3, 5L));

        assertThat(steps(equal, withAlarm(learner, 4, "CORRUPT")))
                .containsExactly("remove m4 permanently", "disarm CORRUPT of m4");
        assertThat(refusal(repair(Map.of(1, 5L, 2, 5L)), withAlarm(learner, 4, "CORRUPT"))
                        .rule())
                .isEqualTo("corruption-confirmed");
        assertThat(refusal(equal, withAlarm(learner, 0, "CORRUPT")).wayOut()).contains("remove the learners");
        assertThat(steps(equal, withAlarm(THREE, 0, "CORRUPT"))).containsExactly("disarm CORRUPT of an unknown member");
        assertThat(refusal(repair(Map.of(1, 5L, 2, 5L)), withAlarm(THREE, 0, "CORRUPT"))
                        .rule())
                .isEqualTo("corruption-confirmed");
        assertThat(steps(repair(Map.of(1, 6L, 2, 5L, 3, 5L)), withAlarm(learner, 4, "CORRUPT")))
                .as("the leader's word about the learner is worth nothing")
                .containsExactly("move leadership to m2", "remove m1 permanently", "disarm CORRUPT of m4");
    }

    /** etcd hashes what is left after a compaction, so equal data have other hashes after another one. */
    @Test
    void aMemberThatCompactedToAnotherRevisionIsNotKnownToBeCorrupt() {
        Hashes<MemberId> hashes = new Hashes<>(Map.of(
                new MemberId(1), new Hashes.Hash(5, 8),
                new MemberId(2), new Hashes.Hash(5, 8),
                new MemberId(3), new Hashes.Hash(6, 1)));

        assertThat(refusal(repair(hashes, Map.of(), 2), withAlarm(THREE, 3, "CORRUPT"))
                        .rule())
                .isEqualTo("hash-comparable");
        assertThat(hashes.differs(new MemberId(3), new Hashes.Hash(5, 8))).isFalse();
    }

    /** One that stays behind must not block the removal of another that a majority contradicts. */
    @Test
    void aMemberThatCompactedToAnotherRevisionProtectsNoCorruptOne() {
        ClusterFacts five = FactsFixture.voters(true, true, true, true, true);
        Hashes.Hash right = new Hashes.Hash(5, 8);
        RepairCluster repair = repair(
                new Hashes<>(Map.of(
                        new MemberId(1),
                        right,
                        new MemberId(2),
                        right,
                        new MemberId(3),
                        right,
                        new MemberId(4),
                        new Hashes.Hash(6, 1),
                        new MemberId(5),
                        new Hashes.Hash(7, 8))),
                Map.of(),
                1);

        assertThat(steps(repair, withAlarm(five, 5, "CORRUPT")))
                .containsExactly("remove m5 permanently", "disarm CORRUPT of m5");
        assertThat(steps(repair, withAlarm(five, 4, "CORRUPT")))
                .as("the alarm may be of the one behind")
                .containsExactly("remove m5 permanently");
        assertThat(steps(repair, withAlarm(five, 0, "CORRUPT"))).containsExactly("remove m5 permanently");
        assertThat(refusal(repair, withAlarm(FactsFixture.voters(true, true, true, true), 4, "CORRUPT"))
                        .rule())
                .as("after the removal")
                .isEqualTo("hash-comparable");
    }

    /** Of an interrupted run. */
    @Test
    void theAlarmOfARemovedMemberIsDisarmed() {
        ClusterFacts left = withAlarm(FactsFixture.voters(true, true), 3, "CORRUPT");

        assertThat(steps(repair(Map.of(1, 5L, 2, 5L)), left)).containsExactly("disarm CORRUPT of 3");
        assertThat(refusal(repair(Map.of(1, 5L, 2, 6L)), left).rule()).isEqualTo("hash-majority");
    }

    /** It removed the corrupt leader, which had named a healthy member. */
    @Test
    void theAlarmOfAHealthyMemberIsDisarmedWhereAVotingMemberIsMissing() {
        ClusterFacts left = withAlarm(FactsFixture.voters(true, true), 2, "CORRUPT");
        Hashes<MemberId> equal = hashes(Map.of(1, 5L, 2, 5L));

        assertThat(steps(repair(equal, Map.of(), 3), left)).containsExactly("disarm CORRUPT of m2");
        assertThat(refusal(repair(equal, Map.of(), 2), left).rule())
                .as("of a complete cluster")
                .isEqualTo("corruption-confirmed");
        assertThat(refusal(repair(equal, Map.of(new MemberId(2), "switchover 7 of mirror dr"), 3), left)
                        .rule())
                .isEqualTo("alarm-of-move");
        assertThat(refusal(repair(hashes(Map.of(1, 5L, 2, 5L)), Map.of(), 4), withAlarm(THREE, 2, "CORRUPT"))
                        .rule())
                .as("one did not respond")
                .isEqualTo("corruption-confirmed");
        assertThat(refusal(
                                repair(equal, Map.of(), 3),
                                withAlarm(
                                        FactsFixture.withLearner(FactsFixture.voters(true, true), true, 0),
                                        2,
                                        "CORRUPT"))
                        .rule())
                .as("the learner may be corrupt")
                .isEqualTo("corruption-confirmed");
    }

    @Test
    void anAlarmThatAMoveRaisedIsLeftAlone() {
        RepairCluster repair =
                repair(Map.of(1, 5L, 2, 5L, 3, 6L), Map.of(new MemberId(1), "switchover 7 of mirror dr"));

        Refusal refusal = refusal(repair, withAlarm(THREE, 1, "CORRUPT"));
        assertThat(refusal.rule()).isEqualTo("alarm-of-move");
        assertThat(refusal.why()).contains("switchover 7 of mirror dr");
        assertThat(steps(repair, withAlarm(THREE, 3, "CORRUPT"))).startsWith("remove m3 permanently");
    }

    @Test
    void aCorruptMemberIsReplacedWhereAMachineIsConfigured() {
        RepairCluster repair = repair(hashes(Map.of(1, 5L, 2, 5L, 3, 6L)), Map.of(), 3, FactsFixture.place(3));

        assertThat(steps(repair, withAlarm(THREE, 3, "CORRUPT")))
                .startsWith(
                        "remove m3 permanently", "disarm CORRUPT of m3", "add m3 as a learner at http://10.0.0.3:2380")
                .endsWith("promote m3");
        assertThat(steps(repair, FactsFixture.voters(true, true)))
                .startsWith("add m3 as a learner at http://10.0.0.3:2380");
        Step.Join join = new Step.Join(FactsFixture.place(3), new MemberId(9));
        assertThat(repair.undoes(join)).isTrue();
    }

    /** Also if another machine is preferred now. */
    @Test
    void anInterruptedReplacementContinuesOnTheMachineOfItsListedMember() {
        ClusterFacts added =
                FactsFixture.withNeverStarted(FactsFixture.voters(true, true), Role.LEARNER, FactsFixture.peer(5));
        RepairCluster repair =
                repair(new Hashes<>(Map.of()), Map.of(), 3, FactsFixture.place(4), FactsFixture.place(5));

        assertThat(steps(repair, added)).startsWith("start m5 without data and wait until it serves");
        assertThat(refusal(new ReplaceMember(new MemberId(2), FactsFixture.place(4), true, false), added)
                        .rule())
                .isEqualTo("one-change-at-a-time");
    }

    /** Neither before the removal nor after it is two of three a success. */
    @Test
    void aCorruptMemberWithoutAPlaceForAnotherIsNotRemoved() {
        RepairCluster repair = repair(hashes(Map.of(1, 5L, 2, 5L, 3, 6L)), Map.of(), 3);

        assertThat(refusal(repair, withAlarm(THREE, 3, "CORRUPT")).rule()).isEqualTo("place-for-member");
        assertThat(refusal(repair, FactsFixture.voters(true, true)).rule()).isEqualTo("place-for-member");
        assertThat(repair.plan(THREE)).isInstanceOf(Plan.Done.class);
        // Nor is any removed that is there.
        assertThat(repair.plan(FactsFixture.voters(true, true, true, true))).isInstanceOf(Plan.Done.class);
    }

    @Test
    void aFullDatabaseIsDefragmentedMemberByMemberTheLeaderLast() {
        ClusterFacts full = withAlarm(FactsFixture.withLearner(THREE, true, 0), 2, "NOSPACE");

        assertThat(steps(repair(Map.of()), full))
                .containsExactly(
                        "compact to revision 9; watchers that are behind must read the keys again",
                        "defragment m4",
                        "defragment m2",
                        "defragment m3",
                        "move leadership to m2",
                        "defragment m1",
                        "disarm NOSPACE of m2");
    }

    /** The members to start may be on other machines. */
    @Test
    void aClusterWithoutAQuorumIsNotRepaired() {
        ClusterFacts lost = FactsFixture.voters(false, false, false);
        assertThat(lost.verdict()).isEqualTo(ClusterFacts.Verdict.LOST);

        Refusal refusal = refusal(repair(Map.of()), lost);
        assertThat(refusal.rule()).isEqualTo("quorum-held");
        assertThat(refusal.wayOut()).contains("understudy cluster recover");
    }

    /** Of three, one that defragments is one too many. */
    @Test
    void nothingIsDefragmentedWithoutASpareHealthyMember() {
        assertThat(refusal(repair(Map.of()), withAlarm(FactsFixture.voters(true, true, false), 2, "NOSPACE"))
                        .rule())
                .isEqualTo("quorum-survives");
    }

    private static RepairCluster repair(Map<Integer, Long> hashes) {
        return repair(hashes, Map.of());
    }

    private static RepairCluster repair(Map<Integer, Long> hashes, Map<MemberId, String> moves) {
        return repair(hashes(hashes), moves, 1);
    }

    private static RepairCluster repair(
            Hashes<MemberId> hashes, Map<MemberId, String> moves, int voters, MemberSpec... places) {
        return new RepairCluster(
                new Revision(9),
                hashes,
                moves,
                step -> false,
                facts -> List.of(),
                member -> OptionalLong.empty(),
                voters,
                List.of(places));
    }

    private static Hashes<MemberId> hashes(Map<Integer, Long> hashes) {
        return new Hashes<>(hashes.entrySet().stream()
                .collect(Collectors.toMap(
                        each -> new MemberId(each.getKey()), each -> new Hashes.Hash(each.getValue(), 1))));
    }

    private static ClusterFacts withAlarm(ClusterFacts facts, int number, String kind) {
        String error = (number == 0 ? "" : "memberID:" + number + "  ") + "alarm:" + kind;
        List<MemberFacts> members = facts.members().stream()
                .map(member -> new MemberFacts(
                        member.id(),
                        member.name(),
                        member.role(),
                        member.peerUrls(),
                        member.clientUrls(),
                        member.answer().map(answer -> withError(answer, error)),
                        member.measurements(),
                        member.process()))
                .toList();
        return new ClusterFacts(facts.cluster(), members, facts.isConfirmed(), List.of(kind), facts.at());
    }

    private static MemberAnswer withError(MemberAnswer answer, String error) {
        return new MemberAnswer(
                answer.version(),
                answer.leader(),
                answer.raftTerm(),
                answer.raftIndex(),
                answer.appliedIndex(),
                answer.revision(),
                answer.databaseBytes(),
                answer.databaseBytesInUse(),
                answer.reachesQuorum(),
                List.of(error),
                StorageStatus.NONE);
    }

    @Test
    void aStandbyTakesThePlaceOfTheDeadInTwoSteps() {
        ClusterFacts facts = FactsFixture.withLearner(FactsFixture.voters(true, true, false), true, 0);

        assertThat(steps(new ReplaceMember(new MemberId(3), FactsFixture.place(4), true, true), facts))
                .containsExactly("remove m3 permanently", "promote m4");
    }

    @Test
    void aHealthyVoterStaysUntilItsSuccessorVotes() {
        assertThat(steps(new ReplaceMember(new MemberId(2), FactsFixture.place(4), true, false), THREE))
                .endsWith("promote m4", "remove m2 permanently");
    }

    /** A confirmation and the turn may take minutes. */
    @Test
    void aVoterThatIsBackSinceItWasFoundDeadStaysUntilItsSuccessorVotes() {
        assertThat(steps(new ReplaceMember(new MemberId(3), FactsFixture.place(4), true, true), THREE))
                .endsWith("promote m4", "remove m3 permanently");
    }

    @Test
    void aVoterThatIsSlowForAMomentStaysUntilItsSuccessorVotes() {
        ClusterFacts joined = FactsFixture.withLearner(FactsFixture.voters(true, true, false), true, 0);

        assertThat(steps(new ReplaceMember(new MemberId(3), FactsFixture.place(4), true, false), joined))
                .containsExactly("promote m4", "remove m3 permanently");
    }

    @Test
    void theLeaderHandsOverBeforeItIsRemovedOrRestarted() {
        assertThat(steps(new RemoveMember(new MemberId(1)), THREE))
                .containsExactly("move leadership to m2", "remove m1 permanently");
        assertThat(steps(new Roll(FactsFixture.STARTED.plusSeconds(9), null), FactsFixture.withLearner(THREE, true, 0)))
                .containsExactly(
                        "restart m4 and wait until it serves",
                        "restart m2 and wait until it serves",
                        "restart m3 and wait until it serves",
                        "move leadership to m2",
                        "restart m1 and wait until it serves");
    }

    @Test
    void everyStepHasItsQuorumBeforeAndAfter() {
        Plan.Steps plan = (Plan.Steps) new Scale(1, List.of()).plan(THREE);

        assertThat(plan.steps())
                .filteredOn(Planned::isFinal)
                .extracting(step -> step.before() + " -> " + step.after())
                .containsExactly(
                        "3 voters, 3 healthy, 2 needed: survives 1 failure -> "
                                + "2 voters, 2 healthy, 2 needed: survives no failure",
                        "2 voters, 2 healthy, 2 needed: survives no failure -> "
                                + "1 voter, 1 healthy, 1 needed: survives no failure");
    }

    @Test
    void threeGrowToFiveOneAfterTheOther() {
        assertThat(steps(new Scale(5, List.of(FactsFixture.place(4), FactsFixture.place(5))), THREE))
                .containsExactly(
                        "add m4 as a learner at http://10.0.0.4:2380",
                        "start m4 without data and wait until it serves",
                        "wait until m4 is in sync with the leader",
                        "promote m4",
                        "add m5 as a learner at http://10.0.0.5:2380",
                        "start m5 without data and wait until it serves",
                        "wait until m5 is in sync with the leader",
                        "promote m5");
    }

    @Test
    void aRollComparesStartTimesByTheClockOfTheMember() {
        Instant since = FactsFixture.STARTED.plusSeconds(9);
        for (int minutes : List.of(-10, 10)) {
            Duration ahead = Duration.ofMinutes(minutes);
            assertThat(steps(new Roll(since, null), clock(ahead, FactsFixture.STARTED)))
                    .contains("restart m2 and wait until it serves");
            assertThat(steps(new Roll(since, null), clock(ahead, since.plusSeconds(1))))
                    .doesNotContain("restart m2 and wait until it serves");
        }
    }

    /** Member 2 started at that time, and its clock is ahead of this machine's. */
    private static ClusterFacts clock(Duration ahead, Instant started) {
        return FactsFixture.withVersion(
                FactsFixture.withStart(THREE, 2, Optional.of(started.plus(ahead))), 2, "3.5.30", ahead);
    }

    @Test
    void theOnlyVoterIsNotRestarted() {
        Refusal refusal = refusal(new Roll(FactsFixture.STARTED.plusSeconds(9), null), FactsFixture.voters(true));

        assertThat(refusal.rule()).isEqualTo("quorum-survives");
        assertThat(refusal.wayOut()).contains("understudy cluster add");
    }

    @Test
    void aVoterIsNotRemovedWhenTheRestCouldNotDecide() {
        assertThat(refusal(new RemoveMember(new MemberId(2)), FactsFixture.voters(true, true, false))
                        .rule())
                .isEqualTo("quorum-survives");
    }

    @Test
    void aChangeThatSomeoneBeganIsFinishedFirst() {
        ClusterFacts facts = FactsFixture.withNeverStarted(THREE, Role.LEARNER, FactsFixture.peer(9));

        Refusal refusal = refusal(new RemoveMember(new MemberId(2)), facts);
        assertThat(refusal.rule()).isEqualTo("one-change-at-a-time");
        assertThat(refusal.wayOut()).contains("--promote never for a learner");
        assertThat(steps(new AddMember(FactsFixture.place(9), false), facts)).hasSize(2);
        assertThat(steps(new RemoveMember(new MemberId(99)), facts)).containsExactly("remove 63 permanently");
    }

    @Test
    void aLearnerThatNeverStartedDoesNotBlockPromotions() {
        ClusterFacts facts = FactsFixture.withNeverStarted(
                FactsFixture.withLearner(THREE, true, 0), Role.LEARNER, FactsFixture.peer(9));

        assertThat(Preflight.check(new Step.Promote(new MemberId(4), "m4"), facts))
                .isEmpty();
    }

    @Test
    void oneLearnerIsAllThereMayBe() {
        Refusal refusal = refusal(new AddMember(FactsFixture.place(5), true), FactsFixture.withLearner(THREE, true, 0));

        assertThat(refusal.rule()).isEqualTo("learner-slot-free");
        assertThat(refusal.why()).contains("etcd 3.5.30 allows 1 learner, which is m4");
    }

    @Test
    void aLearnerIsNeverTurnedIntoAVoterByAnUpdate() {
        MemberSpec elsewhere = new MemberSpec("m4", List.of(FactsFixture.peer(44)), List.of());

        assertThat(refusal(new ChangePeerUrls(new MemberId(4), elsewhere), FactsFixture.withLearner(THREE, true, 0))
                        .rule())
                .isEqualTo("learner-stays-learner");
    }

    /** Each member applies the update to its own list. */
    @Test
    void aLearnerIsUpdatedOnlyIfEveryMemberKeepsIt() {
        MemberSpec elsewhere = new MemberSpec("m4", List.of(FactsFixture.peer(44)), List.of());
        ChangePeerUrls goal = new ChangePeerUrls(new MemberId(4), elsewhere);
        ClusterFacts safe = FactsFixture.withLearner(THREE, true, 0);
        for (int number = 1; number <= 4; number++) {
            safe = FactsFixture.withVersion(safe, number, "3.5.33", Duration.ZERO);
        }

        assertThat(goal.plan(safe)).isInstanceOf(Plan.Steps.class);
        assertThat(refusal(goal, FactsFixture.withVersion(safe, 3, "3.6.10", Duration.ZERO))
                        .why())
                .endsWith("m3 (3.6.10)");
        assertThat(refusal(goal, FactsFixture.withSilent(safe, 3)).why()).endsWith("m3 (unknown)");
    }

    @ParameterizedTest
    @CsvSource({
        "ftp://10.0.0.4:2380, peer-url-well-formed",
        "http:///nowhere, peer-url-well-formed",
        "http://10.0.0.4, peer-url-well-formed",
        "http://10.0.0.4:2380/path, peer-url-well-formed",
        "http://0.0.0.0:2380, peer-url-well-formed",
        "https://10.0.0.4:2380, peer-url-well-formed",
    })
    void anUrlThatCannotBeReachedCostsNothing(String url, String rule) {
        MemberSpec place = new MemberSpec("m4", List.of(URI.create(url)), List.of());

        assertThat(refusal(new AddMember(place, true), THREE).rule()).isEqualTo(rule);
    }

    @Test
    void anUrlOrANameOfAnotherIsRefused() {
        assertThat(refusal(
                                new ChangePeerUrls(
                                        new MemberId(2),
                                        new MemberSpec("m2", List.of(FactsFixture.peer(3)), List.of())),
                                THREE)
                        .rule())
                .isEqualTo("peer-url-not-in-use");
        assertThat(refusal(new AddMember(new MemberSpec("m2", List.of(FactsFixture.peer(4)), List.of()), true), THREE)
                        .rule())
                .isEqualTo("name-not-in-use");
    }

    private static Refusal refusal(Goal goal, ClusterFacts facts) {
        Plan plan = goal.plan(facts);
        assertThat(plan).isInstanceOf(Plan.Refused.class);
        return ((Plan.Refused) plan).refusals().get(0);
    }

    private static List<String> steps(Goal goal, ClusterFacts facts) {
        Plan plan = goal.plan(facts);
        assertThat(plan).isInstanceOf(Plan.Steps.class);
        return ((Plan.Steps) plan).steps().stream().map(Planned::action).toList();
    }
}
