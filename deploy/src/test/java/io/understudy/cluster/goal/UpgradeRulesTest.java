package io.understudy.cluster.goal;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.goal.MemberGoals.CancelDowngrade;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.status.ClusterStatus;
import io.understudy.cluster.status.ClusterStatus.Warning;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.StorageStatus;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Plans of upgrades between minor versions. */
final class UpgradeRulesTest {

    private static final ClusterFacts THREE = FactsFixture.voters(true, true, true);

    @Test
    void everyMemberWritesARaftSnapshotBeforeItStartsAs37() {
        assertThat(steps(changed(FactsFixture.withLearner(THREE, true, 0), UpgradeRulesTest::as36), "3.7.3"))
                .containsExactly(
                        "restart m4 with --snapshot-count=1 and wait until it serves",
                        "restart m4 as 3.7.3 and wait until it serves",
                        "restart m2 with --snapshot-count=1 and wait until it serves",
                        "restart m2 as 3.7.3 and wait until it serves",
                        "restart m3 with --snapshot-count=1 and wait until it serves",
                        "restart m3 as 3.7.3 and wait until it serves",
                        "move leadership to m2",
                        "restart m1 with --snapshot-count=1 and wait until it serves",
                        "restart m1 as 3.7.3 and wait until it serves");
    }

    /** One that an interrupted run had restarted so still has the flag: it is restarted again. */
    @Test
    void aRaftSnapshotThatThisRunMadeIsNotPlannedAgain() {
        ClusterFacts facts = changed(THREE, UpgradeRulesTest::as36);
        Step first = ((Plan.Steps) plan(facts, "3.7.3")).steps().get(0).step();

        assertThat(first.text()).isEqualTo("restart m2 with --snapshot-count=1 and wait until it serves");
        assertThat(steps(roll("3.7.3", first::equals).plan(facts)))
                .startsWith(
                        "restart m2 as 3.7.3 and wait until it serves",
                        "restart m3 with --snapshot-count=1 and wait until it serves");
    }

    /** An interrupted run may have left it stopped, with entries of 3.5. */
    @ParameterizedTest
    @ValueSource(strings = {"3.6.16", "3.7.3"})
    void aMemberOfUnknownVersionStartsWithItsConfiguredProgramFirst(String others) {
        ClusterFacts facts = changed(FactsFixture.voters(true, true, false), member -> as(member, others, "3.6.0", ""));

        assertThat(steps(facts, "3.7.3")).startsWith("restart m3 and wait until it serves");
    }

    /** An earlier program ends in a cluster of the target's version. */
    @Test
    void aSilentMemberOfAnUpgradedClusterStartsWithTheNewProgram() {
        ClusterFacts facts =
                changed(FactsFixture.voters(true, true, false), member -> as(member, "3.7.3", "3.7.0", ""));

        assertThat(steps(facts, "3.7.3")).containsExactly("restart m3 as 3.7.3 and wait until it serves");
        assertThat(steps(changed(facts, member -> as(member, "3.7.3", "3.6.0", "3.6.0")), "3.6.16"))
                .as("a downgrade that has not lowered its data")
                .startsWith("restart m3 and wait until it serves");
    }

    @Test
    void allMembersPublishTheirPromotionBeforeOneStartsAs36() {
        ClusterFacts facts = changed(FactsFixture.withLearner(THREE, true, 0), member -> as(member, "3.5.33", "", ""));

        assertThat(steps(facts, "3.6.16"))
                .containsExactly(
                        "restart m4 and wait until it serves",
                        "restart m2 and wait until it serves",
                        "restart m3 and wait until it serves",
                        "move leadership to m2",
                        "restart m1 and wait until it serves",
                        "restart m4 as 3.6.16 and wait until it serves",
                        "restart m1 as 3.6.16 and wait until it serves",
                        "restart m3 as 3.6.16 and wait until it serves",
                        "move leadership to m1",
                        "restart m2 as 3.6.16 and wait until it serves");
        assertThat(steps(roll("3.6.16", step -> true).plan(facts)))
                .startsWith("restart m4 as 3.6.16 and wait until it serves");
    }

    @ParameterizedTest
    @CsvSource({"3.5.25,3.6.16,3.5.26", "3.5.33,3.7.3,3.6.11", "3.6.10,3.7.3,3.6.11"})
    void aMinorVersionIsNeitherSkippedNorLeftTooEarly(String running, String target, String first) {
        String storage = running.startsWith("3.6") ? "3.6.0" : "";
        Refusal refusal = only(changed(THREE, member -> as(member, running, storage, "")), target);

        assertThat(refusal.rule()).isEqualTo("supported-upgrade");
        assertThat(refusal.wayOut()).contains(first);
    }

    @ParameterizedTest
    @CsvSource({
        "3.5.33,'',3.6.16,''",
        "3.6.16,3.6.0,3.7.3,''",
        "3.6.16,3.5.0,3.7.3,'m1 has 3.5.0, m2 has 3.5.0, m3 has 3.5.0'",
        "3.7.3,3.7.0,3.6.16,'m1 has 3.7.0, m2 has 3.7.0, m3 has 3.7.0'",
        "3.7.3,3.6.0,3.6.16,''",
        "3.6.16,3.6.0,3.5.33,'m1 has 3.6.0, m2 has 3.6.0, m3 has 3.6.0'",
        "3.6.16,'',3.5.33,'m1 has , m2 has , m3 has '",
        "3.6.16,3.5.0,3.5.33,''"
    })
    void theDataHaveTheVersionThatBothReleasesRead(String running, String storage, String target, String others) {
        EtcdVersion version = EtcdVersion.parse(target);
        String downgrade = EtcdVersion.parse(running).compareTo(version) > 0 ? version.ofCluster() : "";
        ClusterFacts facts = changed(THREE, member -> as(member, running, storage, downgrade));

        assertThat(refusals(facts, target))
                .extracting(Refusal::rule)
                .isEqualTo(others.isEmpty() ? List.of() : List.of("storage-versions-equal"));
        assertThat(refusals(facts, target)).allMatch(refusal -> refusal.why().endsWith(others));
    }

    @Test
    void membersThatWereUpgradedKeepTheStorageVersionOfTheCluster() {
        ClusterFacts facts =
                changed(THREE, member -> as(member, member.name().equals("m2") ? "3.7.3" : "3.6.16", "3.6.0", ""));

        assertThat(refusals(facts, "3.7.3")).isEmpty();
    }

    @Test
    void aClusterWithAlarmsIsNotUpgraded() {
        ClusterFacts facts = alarmed(changed(THREE, UpgradeRulesTest::as36));

        assertThat(refusals(facts, "3.7.3")).extracting(Refusal::rule).contains("no-alarms");
        assertThat(refusals(facts, "3.6.17")).isEmpty();
    }

    @Test
    void anEarlierMinorVersionNeedsAnEnabledDowngrade() {
        assertThat(only(changed(THREE, member -> as(member, "3.7.3", "3.7.0", "")), "3.6.16")
                        .wayOut())
                .contains("understudy cluster downgrade --to-version 3.6.16");
        assertThat(steps(changed(THREE, member -> as(member, "3.7.3", "3.6.0", "3.6.0")), "3.6.16"))
                .hasSize(4);
        assertThat(only(changed(THREE, member -> as(member, "3.6.16", "3.6.0", "3.5.0")), "3.7.3")
                        .rule())
                .isEqualTo("no-downgrade");
    }

    @Test
    void aDowngradeLowersTheDataBeforeItRestartsMembers() {
        ClusterFacts facts =
                changed(FactsFixture.withLearner(THREE, true, 0), member -> as(member, "3.7.3", "3.7.0", ""));

        assertThat(steps(downgrade(facts, "3.6.16")))
                .containsExactly(
                        "enable the downgrade to 3.6.0 and wait until all data have this storage version",
                        "restart m4 as 3.6.16 and wait until it serves",
                        "restart m2 as 3.6.16 and wait until it serves",
                        "restart m3 as 3.6.16 and wait until it serves",
                        "move leadership to m2",
                        "restart m1 as 3.6.16 and wait until it serves");
    }

    @Test
    void aDowngradeThatIsEnabledContinues() {
        ClusterFacts facts =
                changed(THREE, member -> as(member, member.name().equals("m2") ? "3.6.16" : "3.7.3", "3.6.0", "3.6.0"));

        assertThat(steps(downgrade(facts, "3.6.16")))
                .startsWith("restart m3 as 3.6.16 and wait until it serves")
                .hasSize(3);
        assertThat(steps(new CancelDowngrade().plan(facts))).containsExactly("cancel the downgrade");
        assertThat(ClusterStatus.of(facts, Optional.empty(), List.of(), List.of())
                        .warnings())
                .extracting(Warning::rule)
                .contains("downgrade-enabled")
                .doesNotContain("versions-mixed");
        assertThat(new CancelDowngrade().plan(changed(THREE, UpgradeRulesTest::as36)))
                .isInstanceOf(Plan.Done.class);
    }

    @ParameterizedTest
    @CsvSource({"3.7.3,3.7.0,3.5.33", "3.5.33,'',3.4.30"})
    void aDowngradeByTwoMinorVersionsOrFrom35IsRefused(String running, String storage, String target) {
        Plan plan = downgrade(changed(THREE, member -> as(member, running, storage, "")), target);

        assertThat(((Plan.Refused) plan).refusals()).extracting(Refusal::rule).containsExactly("supported-downgrade");
    }

    @Test
    void aDowngradeUnderAnAlarmIsRefusedBeforeItIsEnabled() {
        ClusterFacts alarmed = alarmed(changed(THREE, member -> as(member, "3.7.3", "3.7.0", "")));

        assertThat(((Plan.Refused) downgrade(alarmed, "3.6.16")).refusals())
                .extracting(Refusal::rule)
                .containsExactly("no-alarms");
    }

    @Test
    void aSilentMemberIsStartedBeforeTheDowngradeIsEnabled() {
        ClusterFacts facts =
                changed(FactsFixture.voters(true, true, false), member -> as(member, "3.7.3", "3.7.0", ""));

        assertThat(steps(downgrade(facts, "3.6.16")))
                .startsWith(
                        "restart m3 and wait until it serves",
                        "enable the downgrade to 3.6.0 and wait until all data have this storage version");
    }

    /** It responds, and reads through it fail. */
    @Test
    void anUnhealthyMemberIsRestartedAsItIsBeforeTheDowngradeIsEnabled() {
        ClusterFacts facts = changed(THREE, member -> as(member, "3.7.3", "3.7.0", ""));
        ClusterFacts unhealthy = changed(
                facts,
                member -> member.name().equals("m3")
                        ? with(
                                member,
                                answer -> new MemberAnswer(
                                        answer.version(),
                                        Optional.empty(),
                                        answer.raftTerm(),
                                        answer.raftIndex(),
                                        answer.appliedIndex(),
                                        answer.revision(),
                                        answer.databaseBytes(),
                                        answer.databaseBytesInUse(),
                                        false,
                                        answer.errors(),
                                        answer.storage()))
                        : member);

        assertThat(steps(downgrade(unhealthy, "3.6.16")))
                .startsWith(
                        "restart m3 and wait until it serves",
                        "enable the downgrade to 3.6.0 and wait until all data have this storage version");
    }

    private static ClusterFacts alarmed(ClusterFacts facts) {
        return changed(
                facts,
                member -> with(
                        member,
                        answer -> new MemberAnswer(
                                answer.version(),
                                answer.leader(),
                                answer.raftTerm(),
                                answer.raftIndex(),
                                answer.appliedIndex(),
                                answer.revision(),
                                answer.databaseBytes(),
                                answer.databaseBytesInUse(),
                                answer.reachesQuorum(),
                                List.of("memberID:1 alarm:NOSPACE "),
                                answer.storage())));
    }

    private static Plan downgrade(ClusterFacts facts, String target) {
        return new Roll(
                        FactsFixture.STARTED,
                        EtcdVersion.parse(target),
                        Optional.of(Path.of("/opt/etcd")),
                        true,
                        step -> false)
                .plan(facts);
    }

    @Test
    void anUpgradeThatHasBegunIsUndoneWithoutADowngrade() {
        ClusterFacts facts =
                changed(THREE, member -> as(member, member.name().equals("m2") ? "3.7.3" : "3.6.16", "3.6.0", ""));

        assertThat(steps(facts, "3.6.16")).containsExactly("restart m2 as 3.6.16 and wait until it serves");
    }

    private static List<String> steps(ClusterFacts facts, String target) {
        return steps(plan(facts, target));
    }

    private static List<String> steps(Plan plan) {
        return ((Plan.Steps) plan)
                .steps().stream().map(planned -> planned.step().text()).toList();
    }

    private static Refusal only(ClusterFacts facts, String target) {
        assertThat(refusals(facts, target)).hasSize(1);
        return refusals(facts, target).get(0);
    }

    private static List<Refusal> refusals(ClusterFacts facts, String target) {
        return plan(facts, target) instanceof Plan.Refused refused ? refused.refusals() : List.of();
    }

    private static Plan plan(ClusterFacts facts, String target) {
        return roll(target, step -> false).plan(facts);
    }

    private static Roll roll(String target, Predicate<Step> hasPerformed) {
        return new Roll(
                FactsFixture.STARTED,
                EtcdVersion.parse(target),
                Optional.of(Path.of("/opt/etcd")),
                false,
                hasPerformed);
    }

    private static ClusterFacts changed(ClusterFacts facts, UnaryOperator<MemberFacts> change) {
        return new ClusterFacts(
                facts.cluster(),
                facts.members().stream().map(change).toList(),
                facts.isConfirmed(),
                facts.alarms(),
                facts.at());
    }

    private static MemberFacts as36(MemberFacts member) {
        return as(member, "3.6.16", "3.6.0", "");
    }

    private static MemberFacts as(MemberFacts member, String version, String storage, String downgrade) {
        return with(
                member,
                answer -> new MemberAnswer(
                        EtcdVersion.parse(version),
                        answer.leader(),
                        answer.raftTerm(),
                        answer.raftIndex(),
                        answer.appliedIndex(),
                        answer.revision(),
                        answer.databaseBytes(),
                        answer.databaseBytesInUse(),
                        answer.reachesQuorum(),
                        answer.errors(),
                        new StorageStatus(storage, downgrade)));
    }

    private static MemberFacts with(MemberFacts member, UnaryOperator<MemberAnswer> change) {
        return new MemberFacts(
                member.id(),
                member.name(),
                member.role(),
                member.peerUrls(),
                member.clientUrls(),
                member.answer().map(change),
                member.measurements(),
                member.process());
    }
}
