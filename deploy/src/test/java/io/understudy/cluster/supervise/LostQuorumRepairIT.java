package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.cli.Commands;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code understudy cluster repair --take-over} after voting members of this host have ended. */
@Tag("schedules")
final class LostQuorumRepairIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    private Path folder;

    /** Without a quorum no lease is granted, so that neither a supervisor nor the command can be elected. */
    @Test
    void theMembersOfThisHostStartWithTheirData() throws Exception {
        try (SupervisedCluster cluster = SupervisedCluster.found(folder, 3, 3, "voters: 3\nstandbys: 0\n");
                Writer writer = Writer.start(cluster.clientUrls())) {
            await().atMost(PATIENCE).until(() -> cluster.isOf(3, 0));
            cluster.kill(0);
            cluster.kill(1);
            await("the loss of the quorum").atMost(PATIENCE).until(() -> cluster.look()
                    .filter(facts -> !facts.quorum().isHeld())
                    .isPresent());
            StringWriter text = new StringWriter();

            assertThat(repair(text, cluster)).as("%s", text).isZero();

            assertThat(text.toString())
                    .contains(
                            "no supervisor reachable at http://127.0.0.1:1",
                            "--take-over confirms that it does not run")
                    .contains("start m1 with its existing data", "start m2 with its existing data");
            assertThat(cluster.isOf(3, 0)).isTrue();
            assertThat(writer.lost()).isEmpty();
        }
    }

    private static int repair(StringWriter text, SupervisedCluster cluster) {
        return Commands.run(
                text,
                "cluster",
                "repair",
                "--take-over",
                "--yes",
                "--supervisors=http://127.0.0.1:1",
                "--config=" + cluster.file());
    }
}
