package io.understudy.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.local.etcd.EtcdMember;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Figures 8 and 9 of etcd's learner design: a mistyped URL, which there costs the quorum for good.
 *
 * <p>Tests invariant DP20.
 */
@Tag("schedules")
class MisconfiguredAddIT {

    private static final Duration ELECTION = Duration.ofSeconds(5);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void aMistypedUrlIsRolledBackAndWritesNeverStop(int voters) throws Exception {
        try (ChangedCluster cluster = ChangedCluster.start(voters, folder);
                WriterBeside writer = cluster.writer()) {
            Awaitility.await()
                    .ignoreExceptions()
                    .until(() -> cluster.facts().quorum().healthy() == voters);
            MemberSpec place = cluster.machines.newPlaceBehindProxies();
            MemberSpec mistyped =
                    new MemberSpec(place.name(), List.of(URI.create("http://127.0.0.1:9")), place.clientUrls());

            Outcome outcome = cluster.reach(
                    new AddMember(mistyped, true), ChangedCluster.PATIENCE.withStart(Duration.ofSeconds(3)));

            assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                assertThat(failed.isUndone()).as(failed.why()).isTrue();
                assertThat(failed.why()).contains(place.name(), "removed again");
            });
            assertThat(cluster.facts().members()).hasSize(voters);
            Awaitility.await()
                    .ignoreExceptions()
                    .until(() -> cluster.facts().quorum().equals(new Quorum(voters, voters)));

            if (voters == 3 || voters == 5) {
                oneDown(cluster, voters);
            }
            if (voters == 2) {
                oneOfTwoDown(cluster, writer);
            } else {
                assertThat(writer.longestStall()).isLessThan(ELECTION);
            }
            assertThat(writer.lost()).isZero();
        }
    }

    /** With one member down, five proceed; of three, etcd would refuse it, and we do beforehand. */
    private static void oneDown(ChangedCluster cluster, int voters) throws Exception {
        EtcdMember dead = cluster.etcd.followers().get(0);
        dead.kill();
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> cluster.facts().quorum().healthy() == voters - 1);

        Outcome outcome = cluster.reach(new AddMember(cluster.machines.newPlaceBehindProxies(), true));

        if (voters == 3) {
            assertThat(LearnerDesignIT.rules(outcome)).containsExactly("etcd-adds");
        } else {
            assertThat(outcome).as("%s", cluster.events).isInstanceOf(Outcome.Reached.class);
        }
    }

    private static void oneOfTwoDown(ChangedCluster cluster, WriterBeside writer) throws Exception {
        assertThat(writer.longestStall()).isLessThan(ELECTION);
        EtcdMember dead = cluster.etcd.followers().get(0);
        dead.kill();
        Awaitility.await().ignoreExceptions().until(() -> !cluster.facts().isConfirmed());

        assertThat(LearnerDesignIT.rules(cluster.reach(new AddMember(cluster.machines.newPlaceBehindProxies(), true))))
                .containsExactly("quorum-held");
        dead.start();
    }
}
