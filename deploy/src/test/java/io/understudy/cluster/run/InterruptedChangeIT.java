package io.understudy.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.goal.MemberGoals.ChangeClientUrls;
import io.understudy.cluster.goal.MemberGoals.ChangePeerUrls;
import io.understudy.cluster.goal.MemberGoals.MigrateMember;
import io.understudy.cluster.goal.MemberGoals.ReplaceMember;
import io.understudy.cluster.goal.Roll;
import io.understudy.cluster.goal.Scale;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.vocabulary.MemberId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A command that is killed at every step, and run again each time, finishes; writers notice elections at most.
 *
 * <p>Tests invariant DP19.
 */
@Tag("schedules")
class InterruptedChangeIT {

    private static final Duration ELECTION = Duration.ofSeconds(5);

    @TempDir
    private Path folder;

    @Test
    void everyStepMayBeTheLastOfARun() throws Exception {
        try (ChangedCluster cluster = ChangedCluster.startWithoutProxies(3, folder);
                WriterBeside writer = cluster.writer()) {
            MemberSpec fourth = cluster.machines.newPlace();
            MemberSpec fifth = cluster.machines.newPlace();
            List<MemberSpec> places = List.of(fourth, fifth);
            finishesHoweverOftenInterrupted(cluster, new Scale(5, places));
            assertThat(cluster.facts().quorum()).hasToString("5 voters, 5 healthy, 3 needed: survives 2 failures");

            MemberSpec elsewhere = cluster.machines.newPlace();
            finishesHoweverOftenInterrupted(cluster, new MigrateMember(cluster.id(fifth), fifth, elsewhere));
            assertThat(cluster.facts().named(elsewhere.name())).isPresent();

            MemberSpec otherPeer =
                    new MemberSpec(fourth.name(), cluster.machines.newPlace().peerUrls(), fourth.clientUrls());
            MemberId moved = cluster.id(fourth);
            assertThat(cluster.reach(new ChangePeerUrls(moved, otherPeer)))
                    .as("%s", cluster.events)
                    .isInstanceOf(Outcome.Reached.class);
            assertThat(cluster.facts().member(moved).orElseThrow().peerUrls()).isEqualTo(otherPeer.peerUrls());

            MemberSpec otherClient = new MemberSpec(
                    fourth.name(),
                    otherPeer.peerUrls(),
                    cluster.machines.newPlace().clientUrls());
            finishesHoweverOftenInterrupted(cluster, new ChangeClientUrls(moved, otherClient));

            finishesHoweverOftenInterrupted(cluster, new Scale(3, places));
            assertThat(cluster.facts().quorum()).hasToString("3 voters, 3 healthy, 2 needed: survives 1 failure");

            assertThat(writer.longestStall()).isLessThan(ELECTION);
            assertThat(writer.lost()).isZero();
        }
    }

    @Test
    void theDeadIsReplacedAndTheRestRestartedOneByOne() throws Exception {
        try (ChangedCluster cluster = ChangedCluster.start(3, folder);
                WriterBeside writer = cluster.writer()) {
            EtcdMember dead = cluster.etcd.followers().get(0);
            MemberId deadId = cluster.id(dead.name());
            dead.kill();
            Awaitility.await()
                    .ignoreExceptions()
                    .until(() -> cluster.facts().quorum().healthy() == 2);

            MemberSpec successor = cluster.machines.newPlaceBehindProxies();
            finishesHoweverOftenInterrupted(cluster, new ReplaceMember(deadId, successor, true, true));
            assertThat(cluster.facts().quorum()).hasToString("3 voters, 3 healthy, 2 needed: survives 1 failure");

            // Start times are compared with the error of a clock rounded to a second.
            Awaitility.await().until(() -> cluster.facts().members().stream()
                    .map(MemberFacts::process)
                    .allMatch(
                            process -> process.startedAt().orElseThrow().isBefore(process.byItsClock(Instant.now()))));
            Instant since = Instant.now();
            ClusterFacts before = cluster.facts();
            assertThat(cluster.reach(new Roll(since, null)))
                    .as("%s", cluster.events)
                    .isInstanceOf(Outcome.Reached.class);
            assertThat(cluster.facts().members())
                    .hasSameSizeAs(before.members())
                    .allMatch(MemberFacts::isHealthy)
                    .allMatch(
                            member -> member.process().startedAt().orElseThrow().isAfter(since));
            assertThat(writer.longestStall()).isLessThan(ELECTION);
            assertThat(writer.lost()).isZero();
        }
    }

    /** Interrupts each run at its first step that no earlier run began; the next run takes that step. */
    private static void finishesHoweverOftenInterrupted(ChangedCluster cluster, Goal goal) throws InterruptedException {
        Set<String> begun = new HashSet<>();
        while (true) {
            int known = begun.size();
            try {
                Outcome outcome = cluster.reach(goal, step -> {
                    if (begun.add(step.action())) {
                        throw new KilledError();
                    }
                });
                assertThat(outcome).as("%s", cluster.events).isInstanceOf(Outcome.Reached.class);
                return;
            } catch (KilledError e) {
                assertThat(begun).hasSizeGreaterThan(known);
            }
        }
    }

    /** As if the process had ended there. */
    private static final class KilledError extends Error {}
}
