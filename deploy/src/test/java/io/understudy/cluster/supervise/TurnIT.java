package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.cluster.supervise.SupervisorState.Event;
import io.understudy.cluster.supervise.elect.Candidacy;
import io.understudy.cluster.supervise.elect.Turn;
import io.understudy.etcd.EtcdConnections;
import io.understudy.vocabulary.ElectionState;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One command at a time changes a cluster, no supervisor meanwhile, and none while they are paused.
 *
 * <p>Tests invariant DP23.
 */
final class TurnIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String SHAPE = """
            voters: 1
            standbys: 1
            deadTime: 4s
            stableTime: 1s
            """;

    private final List<String> waiting = new CopyOnWriteArrayList<>();

    @TempDir
    private Path folder;

    @Test
    void oneChangesTheClusterAtATime() throws Exception {
        try (SupervisedCluster cluster = SupervisedCluster.found(folder, 3, 1, SHAPE);
                EtcdConnections connections =
                        EtcdConnections.open(cluster.settings().cluster())) {
            await().atMost(PATIENCE).until(() -> cluster.isOf(1, 0));
            aSupervisorWithoutObservationsIsNotActive(cluster, connections);
            CompletableFuture<Turn> second;
            SupervisorProcess active;
            try (Turn first = take("the first", cluster, connections)) {
                active = cluster.supervise();
                SupervisorProcess supervisor = active;
                await("the standby to be missed, and nothing done")
                        .atMost(PATIENCE)
                        .until(() -> supervisor
                                .state()
                                .last()
                                .filter(event -> event.outcome() == Event.Outcome.PAUSED
                                        && event.detail().equals("the first"))
                                .isPresent());
                second = CompletableFuture.supplyAsync(() -> take("the second", cluster, connections));
                await("the second to wait").atMost(PATIENCE).until(() -> waiting.contains("waiting for the first"));
                // A standby that had joined would stay; an observation of a busy machine may time out.
                await("no standby").atMost(PATIENCE).until(() -> cluster.isOf(1, 0));
                assertThat(first.lost()).isEmpty();
            }
            try (Turn turn = second.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(turn.lost()).isEmpty();
                await("no standby").atMost(PATIENCE).until(() -> cluster.isOf(1, 0));
            }
            await("the standby to join").atMost(PATIENCE).until(() -> cluster.isOf(1, 1));
            pausedByOneAndResumedByAnother(cluster, active);
        }
    }

    /** As when the thread of its observations is stuck. */
    private static void aSupervisorWithoutObservationsIsNotActive(
            SupervisedCluster cluster, EtcdConnections connections) {
        try (Candidacy candidacy = Candidacy.start(
                "stuck",
                connections,
                () -> cluster.settings().cluster().seeds().subList(0, 1),
                Duration.ofSeconds(2),
                Duration.ofSeconds(3))) {
            await("it to be elected")
                    .atMost(PATIENCE)
                    .until(() -> candidacy.standing() instanceof ElectionState.Active);
            await("it to resign")
                    .atMost(PATIENCE)
                    .until(() -> candidacy.standing().toString().contains("no observation completed"));
            await("the cluster to know").atMost(PATIENCE).until(() -> Turn.activeSupervisor(
                            connections,
                            () -> cluster.settings().cluster().seeds().subList(0, 1))
                    .isEmpty());
            candidacy.observed();
            await("it to be elected again")
                    .atMost(PATIENCE)
                    .until(() -> candidacy.standing() instanceof ElectionState.Active);
        }
    }

    private void pausedByOneAndResumedByAnother(SupervisedCluster cluster, SupervisorProcess active) throws Exception {
        SupervisorProcess other = cluster.supervise();
        StateClient atActive = client(active);
        StateClient atOther = client(other);
        await("the other to know")
                .atMost(PATIENCE)
                .until(() -> other.state().standing().toString().startsWith("standby to"));
        assertThat(atOther.pause()).isEqualTo("paused\n");
        assertThat(active.state().paused()).isPresent();
        assertThat(atActive.resume()).isEqualTo("resumed\n");
        await("neither to be paused")
                .atMost(PATIENCE)
                .until(() -> active.state().paused().isEmpty()
                        && other.state().paused().isEmpty());
    }

    private static StateClient client(SupervisorProcess supervisor) {
        return new StateClient(URI.create("http://127.0.0.1:" + supervisor.port()), null);
    }

    private Turn take(String holder, SupervisedCluster cluster, EtcdConnections connections) {
        try {
            return Turn.take(
                    holder,
                    connections,
                    () -> cluster.settings().cluster().seeds().subList(0, 1),
                    waiting::add);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
