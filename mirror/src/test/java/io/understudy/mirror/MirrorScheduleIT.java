package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.StatusRuntimeException;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.RecordedHistory;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Workload;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.KeyRange;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Faults of source, target and mirror one after the other, chosen by a seed, while commits flow. At every checkpoint the
 * target held exactly what the source held at that revision, checkpoints only went forward, and in the end both are equal.
 *
 * <p>Tests invariant M1.
 */
@Tag("schedules")
final class MirrorScheduleIT {

    private static final Logger LOG = LoggerFactory.getLogger(MirrorScheduleIT.class);

    private static final int FAULTS = Schedule.isLong() ? 200 : 20;

    /** So many faults. */
    private static final int CATCH_UP_AFTER = 5;

    private static final ByteString CHECKPOINT = ReservedKeys.checkpoint("dr");
    private static final ByteString ACTIVE = ReservedKeys.of("dr", "active");

    @RegisterExtension
    static final EtcdExtension SOURCE =
            EtcdExtension.voters(3).named("source").with(builder -> builder.behindProxies());

    @RegisterExtension
    static final EtcdExtension TARGET =
            EtcdExtension.voters(3).named("target").with(builder -> builder.behindProxies());

    /** So little that large commits are written in parts. */
    private static final int MAX_REQUEST_BYTES = 32 << 10;

    private enum Kind {
        KILL,
        PAUSE,
        CUT,
        BLACK_HOLE,
        HALF_OPEN
    }

    @Test
    void theTargetHasOnlyStatesOfTheSourceWhateverHappens(@TempDir Path folder) throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        LOG.info("seed={} faults={}", seed, FAULTS);
        Random random = new Random(seed);
        RecordedHistory source = new RecordedHistory(0);
        try (MirrorJvm mirror = MirrorJvm.etcd(folder, SOURCE.cluster(), TARGET.cluster(), MAX_REQUEST_BYTES)) {
            writes(random, 100);
            mirror.start();
            for (int fault = 0; fault < FAULTS; fault++) {
                switch (random.nextInt(5)) {
                    case 0 -> killMirror(mirror, random);
                    case 1 -> compactUnderIt(mirror, random, source);
                    case 2 -> disturb(SOURCE.cluster(), random);
                    default -> disturb(TARGET.cluster(), random);
                }
                if (fault % CATCH_UP_AFTER == CATCH_UP_AFTER - 1) {
                    awaitCaughtUp(mirror);
                }
            }
            SOURCE.heal();
            TARGET.heal();
            writes(random, 50);
            awaitCaughtUp(mirror);
        }
        try (TestClient client = TestClient.of(SOURCE.cluster().leader())) {
            source.record(client);
        }
        assertThatTargetFollowed(source, seed);
    }

    /** SIGKILL at any moment. What it still had on its way is fenced off, whether its lease has run out or not. */
    private static void killMirror(MirrorJvm mirror, Random random) {
        writes(random, random.nextInt(40));
        mirror.kill();
        writes(random, random.nextInt(20));
        endActivity();
        mirror.start();
        writes(random, random.nextInt(20));
    }

    /** While it is away what it has not seen is compacted. */
    private static void compactUnderIt(MirrorJvm mirror, Random random, RecordedHistory history)
            throws InterruptedException {
        mirror.kill();
        writes(random, random.nextInt(1, 60));
        try (TestClient client = TestClient.of(SOURCE.cluster().leader())) {
            history.record(client);
            long head = client.get(CHECKPOINT).getHeader().getRevision();
            var unused = client.kv()
                    .compact(CompactionRequest.newBuilder().setRevision(head).build());
        }
        endActivity();
        mirror.start();
        writes(random, random.nextInt(20));
    }

    private static void disturb(LocalEtcd cluster, Random random) {
        EtcdMember member =
                cluster.members().get(random.nextInt(cluster.members().size()));
        Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
        switch (kind) {
            case KILL -> member.kill();
            case PAUSE -> member.pause();
            case CUT -> member.clientProxy().cut();
            case BLACK_HOLE -> member.clientProxy().blackHole();
            case HALF_OPEN -> member.clientProxy().halfOpen();
        }
        writes(random, random.nextInt(60));
        switch (kind) {
            case KILL -> member.launch();
            case PAUSE -> member.resume();
            case CUT, BLACK_HOLE, HALF_OPEN -> member.clientProxy().heal();
        }
        writes(random, random.nextInt(20));
    }

    /** Some outcomes are unknown; the source's own history has them. */
    private static void writes(Random random, int count) {
        int done = 0;
        while (done < count) {
            try (TestClient client = TestClient.of(aliveMember(random))) {
                Workload workload = new Workload(client, random.nextLong());
                while (done < count) {
                    workload.step();
                    done++;
                    if (random.nextInt(40) == 0) {
                        // More than one transaction of the mirror takes.
                        var unused = client.kv().txn(workload.large(60, 40_000 / 60));
                    }
                }
            } catch (StatusRuntimeException e) {
                done++;
            }
        }
    }

    private static EtcdMember aliveMember(Random random) {
        List<EtcdMember> alive = SOURCE.cluster().members().stream()
                .filter(member -> member.isAlive() && !member.isPaused())
                .toList();
        return alive.get(random.nextInt(alive.size()));
    }

    /** As if the lease had run out. */
    private static void endActivity() {
        await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            try (TestClient client = TestClient.of(TARGET.cluster().leader())) {
                client.delete(ACTIVE.toStringUtf8());
                return true;
            }
        });
    }

    private static void awaitCaughtUp(MirrorJvm mirror) {
        await().alias("caught up")
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(50))
                .ignoreExceptions()
                .untilAsserted(() -> {
                    try (TestClient source = TestClient.of(SOURCE.cluster().leader());
                            TestClient target = TestClient.of(TARGET.cluster().leader())) {
                        long head = source.get(CHECKPOINT).getHeader().getRevision();
                        RangeResponse found = target.get(CHECKPOINT);
                        Checkpoint checkpoint = CheckpointCodec.decode(
                                "the target", found.getKvs(0).getValue());
                        assertThat(checkpoint.state())
                                .as("%s, the mirror's log ends with %s", checkpoint, mirror.log())
                                .isEqualTo(CheckpointState.SYNCED);
                        if (checkpoint.revision().value() < head) {
                            // Progress moves the checkpoint seldom: have something happen.
                            source.put("/w/0000", "caught up?");
                        }
                        assertThat(checkpoint.revision().value())
                                .as("%s, the mirror's log ends with %s", checkpoint, mirror.log())
                                .isGreaterThanOrEqualTo(head);
                    }
                });
    }

    private static void assertThatTargetFollowed(RecordedHistory source, long seed) throws Exception {
        RecordedHistory target = new RecordedHistory(0);
        try (TestClient client = TestClient.of(TARGET.cluster().leader())) {
            target.record(client);
        }
        RecordedHistory.Walk expected = source.walk();
        SortedMap<ByteString, ByteString> held = new TreeMap<>(KeyRange.KEY_ORDER);
        long reached = 0;
        int compared = 0;
        List<Event> events = target.events();
        for (int i = 0; i < events.size(); i++) {
            Event event = events.get(i);
            RecordedHistory.apply(event, held);
            boolean last = i + 1 == events.size()
                    || events.get(i + 1).getKv().getModRevision()
                            != event.getKv().getModRevision();
            if (!last) {
                continue;
            }
            Checkpoint checkpoint = checkpointAt(events, i);
            if (checkpoint == null || checkpoint.state() != CheckpointState.SYNCED) {
                continue;
            }
            long revision = checkpoint.revision().value();
            assertThat(revision).as("seed %d: a checkpoint went back", seed).isGreaterThanOrEqualTo(reached);
            reached = revision;
            assertThat(held)
                    .as("seed %d: target revision %d, %s", seed, event.getKv().getModRevision(), checkpoint)
                    .isEqualTo(expected.to(revision));
            compared++;
        }
        LOG.info("seed={} checkpoints={} revision={}", seed, compared, reached);
        // Of commits that come close together there is one checkpoint; but one at least each time that all were waited
        // for.
        assertThat(compared).as("checkpoints compared, seed %d", seed).isGreaterThan(FAULTS / CATCH_UP_AFTER);
        List<Event> written = source.events();
        assertThat(reached)
                .as("seed %d: the last commit compared", seed)
                .isGreaterThanOrEqualTo(written.get(written.size() - 1).getKv().getModRevision());
    }

    /** The checkpoint written at the revision of the last event, at {@code index}; null if none was. */
    private static @Nullable Checkpoint checkpointAt(List<Event> events, int index) throws Exception {
        long revision = events.get(index).getKv().getModRevision();
        for (int i = index; i >= 0 && events.get(i).getKv().getModRevision() == revision; i--) {
            Event event = events.get(i);
            if (event.getKv().getKey().equals(CHECKPOINT) && event.getType() == Event.EventType.PUT) {
                return CheckpointCodec.decode("the target", event.getKv().getValue());
            }
        }
        return null;
    }
}
