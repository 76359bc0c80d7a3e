package io.understudy.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.goal.MemberGoals.RemoveMember;
import io.understudy.cluster.goal.Scale;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Step;
import io.understudy.local.etcd.EtcdMember;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The figures of etcd's learner design, each of which there ends in an outage or close to one, with our commands: writers
 * notice an election at most.
 *
 * <p>Tests invariant DP20.
 */
@Tag("schedules")
class LearnerDesignIT {

    /** Two election timeouts of 1 s, each up to twice that, and a request to a member that does not answer. */
    private static final Duration ELECTION = Duration.ofSeconds(5);

    @TempDir
    private Path folder;

    private ChangedCluster cluster;
    private WriterBeside writer;

    private void start(int voters) {
        cluster = ChangedCluster.start(voters, folder);
        Awaitility.await().until(() -> cluster.facts().quorum().healthy() == voters);
        writer = cluster.writer();
    }

    @BeforeEach
    void nothingYet() {
        cluster = null;
        writer = null;
    }

    @AfterEach
    void noAcknowledgedWriteIsLostAndNothingStalledLongerThanAnElection() throws Exception {
        try (ChangedCluster ended = cluster) {
            Duration stall = writer.longestStall();
            assertThat(writer.lost())
                    .as("acknowledged writes lost, of %s", writer.acknowledged())
                    .isZero();
            assertThat(stall).as("stall; %s", ended.events).isLessThan(ELECTION);
        }
    }

    /** Figures 1, 10, 11 and 12, then 2 and 4: a member joins under load; with four voters one may be cut off. */
    @Test
    void neitherAJoinNorALaterPartitionStopsWrites() throws Exception {
        start(3);
        MemberSpec place = cluster.machines.newPlaceBehindProxies();
        EtcdMember leader = cluster.etcd.leader();

        assertThat(cluster.reach(new AddMember(place, true))).isInstanceOf(Outcome.Reached.class);
        awaitQuorum("4 voters, 4 healthy, 3 needed: survives 1 failure");
        assertThat(cluster.etcd.leader()).as("no election").isSameAs(leader);

        cluster.etcd.isolate(cluster.etcd.followers().get(0));
        awaitFurtherWrites();
        cluster.etcd.heal();
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> cluster.facts().quorum().tolerance() == 1);

        assertThat(cluster.reach(new RemoveMember(cluster.id(leader.name())))).isInstanceOf(Outcome.Reached.class);
        assertThat(cluster.events).contains("remove " + leader.name() + " permanently");
    }

    /** Figure 5, the 2-and-2 split: the new member is with the minority, and has no vote yet. */
    @Test
    void aSplitInTheMiddleLeavesTheMajorityOfTheVoters() throws Exception {
        start(3);
        MemberSpec place = cluster.machines.newPlaceBehindProxies();
        assertThat(cluster.reach(new AddMember(place, false))).isInstanceOf(Outcome.Reached.class);

        EtcdMember lone = cluster.etcd.followers().get(0);
        cluster.etcd.isolate(lone);
        cluster.etcd.isolate(cluster.machines.member(place));
        awaitFurtherWrites();
        assertThat(cluster.facts().quorum()).hasToString("3 voters, 2 healthy, 2 needed: survives no failure");

        cluster.etcd.heal();
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> cluster.facts().quorum().tolerance() == 1);
        assertThat(cluster.reach(new AddMember(place, true))).isInstanceOf(Outcome.Reached.class);
    }

    /** Figures 6 and 9: a member is cut off already; an add would make four of three. */
    @Test
    void nothingIsAddedWhileOneOfThreeIsCutOff() throws Exception {
        start(3);
        cluster.etcd.isolate(cluster.etcd.followers().get(0));
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> cluster.facts().healthyVoters().size() == 2);

        Outcome outcome = cluster.reach(new AddMember(cluster.machines.newPlaceBehindProxies(), true));

        assertThat(rules(outcome)).containsExactly("etcd-adds");
        assertThat(cluster.facts().members()).hasSize(3);
        awaitFurtherWrites();
    }

    /** Figure 3: the leader is cut off in the middle of an add; the others elect one, which completes the add. */
    @Test
    void theLeaderMayBeIsolatedInTheMiddle() throws Exception {
        start(3);
        MemberSpec place = cluster.machines.newPlaceBehindProxies();
        EtcdMember first = cluster.etcd.leader();

        Outcome outcome = cluster.reach(new AddMember(place, true), step -> {
            if (step.step() instanceof Step.Join) {
                cluster.etcd.isolate(first);
                Awaitility.await().ignoreExceptions().until(() -> leads(other -> !other.equals(first.name())));
                cluster.etcd.heal();
            }
        });

        assertThat(outcome).as("%s", cluster.events).isInstanceOf(Outcome.Reached.class);
        assertThat(cluster.facts().named(place.name()).orElseThrow().isVoter()).isTrue();
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> cluster.facts().quorum().healthy() == 4);
    }

    /** Figure 7: the second member of a cluster of one needs no vote before it can give one. */
    @Test
    void aClusterOfOneGrowsToThreeAndShrinksAgain() throws Exception {
        start(1);
        List<MemberSpec> places =
                List.of(cluster.machines.newPlaceBehindProxies(), cluster.machines.newPlaceBehindProxies());

        assertThat(cluster.reach(new Scale(3, places))).as("%s", cluster.events).isInstanceOf(Outcome.Reached.class);
        awaitQuorum("3 voters, 3 healthy, 2 needed: survives 1 failure");
        assertThat(cluster.reach(new Scale(1, places))).as("%s", cluster.events).isInstanceOf(Outcome.Reached.class);
        assertThat(cluster.facts().members()).hasSize(1);
    }

    private boolean leads(Predicate<String> name) {
        return cluster.facts().leader().map(MemberFacts::name).filter(name).isPresent();
    }

    /** A single observation on a busy machine may miss a member. */
    private void awaitQuorum(String expected) {
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> expected.equals(cluster.facts().quorum().toString()));
    }

    private void awaitFurtherWrites() {
        long before = writer.acknowledged();
        Awaitility.await().atMost(ELECTION).until(() -> writer.acknowledged() > before + 20);
    }

    static Set<String> rules(Outcome outcome) {
        assertThat(outcome).isInstanceOf(Outcome.Refused.class);
        return ((Outcome.Refused) outcome)
                .refusals().stream().map(Refusal::rule).collect(Collectors.toSet());
    }
}
