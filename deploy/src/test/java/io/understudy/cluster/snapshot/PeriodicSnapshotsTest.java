package io.understudy.cluster.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.vocabulary.ClusterId;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When a snapshot is attempted, of a cluster without members. */
final class PeriodicSnapshotsTest {

    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.678Z");
    private static final Duration INTERVAL = Duration.ofHours(1);

    @TempDir
    private Path folder;

    @Test
    void isAttemptedWhenTheNewestIsTooOld() throws Exception {
        Files.createFile(new SnapshotDirectory(folder).fileOf(NOW.minus(INTERVAL)));
        assertThat(failures()).isEqualTo(1);
        Files.createFile(new SnapshotDirectory(folder).fileOf(NOW.minusSeconds(1)));
        assertThat(failures()).isZero();
    }

    /** It would be the newest until then. */
    @Test
    void aSnapshotOfTheFutureDoesNotEndTheSchedule() throws Exception {
        Files.createFile(new SnapshotDirectory(folder).fileOf(Instant.now().plus(Duration.ofDays(365))));
        assertThat(failures()).isEqualTo(1);
    }

    @Test
    void aDirectoryThatCannotBeListedIsAFailureAndRetriedLater() throws Exception {
        assertThat(failures("snapshot-20269999T999999.999Z.db")).isEqualTo(1);
    }

    /** Returns the failed attempts in two observations at once, the only outcome without members. */
    private double failures(String... created) throws Exception {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        SnapshotSettings settings =
                new SnapshotSettings(Optional.of(folder), INTERVAL, 2, Duration.ZERO, List.of(), Duration.ofSeconds(1));
        try (EtcdConnections connections = EtcdConnections.open(EtcdSettings.of(URI.create("http://127.0.0.1:1")));
                PeriodicSnapshots snapshots = new PeriodicSnapshots(
                        settings,
                        new SnapshotTaker(
                                member -> Optional.empty(), connections, new SnapshotTool(Path.of("/etcdutl"))),
                        meters)) {
            for (String name : created) {
                Files.createFile(folder.resolve(name));
            }
            for (int look = 0; look < 2; look++) {
                snapshots.tick(new ClusterFacts(new ClusterId(1), List.of(), true, List.of(), NOW));
                snapshots.idle().get(30, TimeUnit.SECONDS);
            }
        }
        return meters.find("understudy.cluster.snapshots").tag("outcome", "failed").timers().stream()
                .mapToLong(timer -> timer.count())
                .sum();
    }
}
