package io.understudy.cluster.goal;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberProcess;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Planned;
import io.understudy.cluster.plan.Refusal;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.StorageStatus;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Plans of upgrades between minor versions. */
final class UpgradeRulesTest {

    private static final ClusterFacts THREE = FactsFixture.voters(true, true, true);

    @Test
    void aMemberWithoutRaftSnapshotWritesOneBeforeItStartsAs37() {
        ClusterFacts facts = changed(
                FactsFixture.withLearner(THREE, true, 0),
                member -> as(member, "3.6.16", "3.6.0", "", !member.name().equals("m3")));

        assertThat(steps(facts, "3.7.3"))
                .containsExactly(
                        "restart m4 as 3.7.3 and wait until it serves",
                        "restart m2 as 3.7.3 and wait until it serves",
                        "restart m3 with --snapshot-count=1 and wait until it has written a raft snapshot",
                        "restart m3 as 3.7.3 and wait until it serves",
                        "move leadership to m2",
                        "restart m1 as 3.7.3 and wait until it serves");
    }

    @Test
    void noRaftSnapshotIsNeededBefore36() {
        ClusterFacts facts = changed(THREE, member -> as(member, "3.5.33", "", "", false));

        assertThat(steps(facts, "3.6.16")).hasSize(4).noneMatch(step -> step.contains("snapshot"));
    }

    @ParameterizedTest
    @CsvSource({"3.5.25,3.6.16,3.5.26", "3.5.33,3.7.3,3.6.11", "3.6.10,3.7.3,3.6.11"})
    void aMinorVersionIsNeitherSkippedNorLeftTooEarly(String running, String target, String first) {
        Refusal refusal = only(changed(THREE, member -> as(member, running, "", "", true)), target);

        assertThat(refusal.rule()).isEqualTo("supported-upgrade");
        assertThat(refusal.wayOut()).contains(first);
    }

    @Test
    void storageVersionsAreEqualBeforeAnUpgrade() {
        ClusterFacts facts = changed(
                THREE, member -> as(member, "3.6.16", member.name().equals("m2") ? "3.5.0" : "3.6.0", "", true));

        Refusal refusal = only(facts, "3.7.3");

        assertThat(refusal.rule()).isEqualTo("storage-versions-equal");
        assertThat(refusal.why()).contains("3.5.0, 3.6.0; required: 3.6.0");
        assertThat(only(changed(THREE, member -> as(member, "3.6.16", "3.5.0", "", true)), "3.7.3")
                        .rule())
                .isEqualTo("storage-versions-equal");
    }

    @Test
    void membersThatAreUpgradedAlreadyKeepTheStorageVersionOfTheOthers() {
        ClusterFacts facts = changed(
                THREE, member -> as(member, member.name().equals("m3") ? "3.7.3" : "3.6.16", "3.6.0", "", true));

        assertThat(steps(facts, "3.7.3")).hasSize(3);
    }

    @Test
    void aClusterWithAlarmsIsNotUpgraded() {
        ClusterFacts facts = changed(
                THREE,
                member -> with(
                        member,
                        answer -> new MemberAnswer(
                                EtcdVersion.parse("3.6.16"),
                                answer.leader(),
                                answer.raftTerm(),
                                answer.raftIndex(),
                                answer.appliedIndex(),
                                answer.revision(),
                                answer.databaseBytes(),
                                answer.databaseBytesInUse(),
                                answer.reachesQuorum(),
                                List.of("memberID:1 alarm:NOSPACE "),
                                StorageStatus.NONE)));

        assertThat(refusals(facts, "3.7.3")).extracting(Refusal::rule).contains("no-alarms");
        assertThat(refusals(facts, "3.6.17")).isEmpty();
    }

    @Test
    void unknownRaftSnapshotsAreReported() {
        ClusterFacts facts =
                changed(THREE, member -> with(member, answer -> answer.withVersion(EtcdVersion.parse("3.6.16"))));

        assertThat(only(facts, "3.7.3").rule()).isEqualTo("raft-snapshot-known");
    }

    @Test
    void anEarlierMinorVersionNeedsAnEnabledDowngrade() {
        assertThat(only(changed(THREE, member -> as(member, "3.7.3", "3.7.0", "", true)), "3.6.16")
                        .wayOut())
                .contains("etcdctl downgrade enable 3.6.0");
        assertThat(steps(changed(THREE, member -> as(member, "3.7.3", "3.6.0", "3.6.0", true)), "3.6.16"))
                .hasSize(4);
        assertThat(only(changed(THREE, member -> as(member, "3.6.16", "3.6.0", "3.5.0", true)), "3.7.3")
                        .rule())
                .isEqualTo("no-downgrade");
    }

    private static List<String> steps(ClusterFacts facts, String target) {
        return ((Plan.Steps) plan(facts, target))
                .steps().stream().map(Planned::told).toList();
    }

    private static Refusal only(ClusterFacts facts, String target) {
        assertThat(refusals(facts, target)).hasSize(1);
        return refusals(facts, target).get(0);
    }

    private static List<Refusal> refusals(ClusterFacts facts, String target) {
        return plan(facts, target) instanceof Plan.Refused refused ? refused.refusals() : List.of();
    }

    private static Plan plan(ClusterFacts facts, String target) {
        return new Roll(FactsFixture.STARTED, EtcdVersion.parse(target), Optional.of(Path.of("/opt/etcd"))).plan(facts);
    }

    private static ClusterFacts changed(ClusterFacts facts, UnaryOperator<MemberFacts> change) {
        return new ClusterFacts(
                facts.cluster(),
                facts.members().stream().map(change).toList(),
                facts.isConfirmed(),
                facts.alarms(),
                facts.at());
    }

    private static MemberFacts as(
            MemberFacts member, String version, String storage, String downgrade, boolean hasRaftSnapshot) {
        MemberFacts answering = with(
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
                        new StorageStatus(storage, 0, downgrade)));
        return new MemberFacts(
                answering.id(),
                answering.name(),
                answering.role(),
                answering.peerUrls(),
                answering.clientUrls(),
                answering.answer(),
                answering.measurements(),
                new MemberProcess(
                        answering.process().startedAt(),
                        Optional.empty(),
                        answering.process().servesPeers(),
                        Optional.empty(),
                        Optional.of(hasRaftSnapshot)));
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
