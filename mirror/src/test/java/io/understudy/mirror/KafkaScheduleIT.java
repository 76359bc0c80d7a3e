package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.Event;
import io.grpc.StatusRuntimeException;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.RecordedHistory;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Topic;
import io.understudy.mirror.fixture.TopicHistory;
import io.understudy.mirror.fixture.Workload;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mirror, broker and voters are killed, in an order and at moments chosen by a seed, while commits flow. After each
 * snapshot the topic has every commit of the source, whole, in order, nothing twice, nothing missing.
 *
 * <p>Tests invariant M26.
 */
@Tag("schedules")
final class KafkaScheduleIT {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaScheduleIT.class);

    private static final int KILLS = Schedule.isLong() ? 50 : 5;
    private static final String TOPIC = "schedule";

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(3).named("source");

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    private enum Part {
        MIRROR,
        BROKER,
        VOTER
    }

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final int partitions = random.nextBoolean() ? 1 : 3;
    private final RecordedHistory source = new RecordedHistory(0);

    @Test
    void everyCommitIsThereOnceWhateverIsKilled(@TempDir Path folder) throws Exception {
        LOG.info("seed={} kills={} partitions={}", seed, KILLS, partitions);
        List<Part> kills = new ArrayList<>();
        for (Part part : Part.values()) {
            kills.addAll(Collections.nCopies(KILLS, part));
        }
        Collections.shuffle(kills, random);
        // Once per five kills of the broker what it missed is compacted away.
        int brokersUntilCompaction = 1 + random.nextInt(5);
        try (MirrorJvm mirror =
                MirrorJvm.kafka(folder, SOURCE.cluster(), KAFKA.bootstrapServers(), TOPIC, partitions)) {
            writes(50);
            mirror.start();
            for (int i = 0; i < kills.size(); i++) {
                writes(random.nextInt(60));
                switch (kills.get(i)) {
                    case MIRROR -> {
                        mirror.kill();
                        writes(random.nextInt(20));
                        mirror.start();
                    }
                    case BROKER -> killBroker(--brokersUntilCompaction % 5 == 0);
                    case VOTER -> killVoter();
                }
                if (i % 5 == 4) {
                    awaitCaughtUp();
                }
            }
            writes(50);
            awaitCaughtUp();
        }
        assertThatTopicTellsTheSourcesHistory();
    }

    private void killBroker(boolean compact) throws InterruptedException {
        KAFKA.kafka().kill();
        writes(random.nextInt(1, 60));
        if (compact) {
            try (TestClient client = client()) {
                source.record(client);
                var unused = client.kv()
                        .compact(CompactionRequest.newBuilder()
                                .setRevision(client.revision())
                                .build());
            }
        }
        KAFKA.kafka().start();
    }

    private void killVoter() {
        EtcdMember member = SOURCE.cluster().members().get(random.nextInt(3));
        member.kill();
        writes(random.nextInt(60));
        member.launch();
    }

    /** Some outcomes are unknown; the source's own history tells what came of them. */
    private void writes(int count) {
        int done = 0;
        while (done < count) {
            try (TestClient client = client()) {
                Workload workload = new Workload(client, random.nextLong());
                for (; done < count; done++) {
                    workload.step();
                }
            } catch (StatusRuntimeException e) {
                done++;
            }
        }
    }

    private TestClient client() {
        List<EtcdMember> alive =
                SOURCE.cluster().members().stream().filter(EtcdMember::isAlive).toList();
        return TestClient.of(alive.get(random.nextInt(alive.size())));
    }

    private TopicHistory history() {
        return TopicHistory.read(KAFKA.bootstrapServers(), TOPIC, partitions);
    }

    private void awaitCaughtUp() {
        await().atMost(PATIENCE.multipliedBy(2))
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptions()
                .untilAsserted(() -> {
                    try (TestClient client = client()) {
                        assertThat(history().complete()).as("seed %d", seed).isGreaterThanOrEqualTo(client.revision());
                    }
                });
    }

    private void assertThatTopicTellsTheSourcesHistory() throws Exception {
        TopicHistory topic = history();
        try (TestClient client = client()) {
            source.record(client);
            assertThat(topic.state()).as("seed %d", seed).isEqualTo(client.contents());
            assertThat(Topic.state(Topic.records(KAFKA.bootstrapServers(), TOPIC + ".state")))
                    .as("the state topic, seed %d", seed)
                    .isEqualTo(client.contents());
        }
        SortedMap<Long, List<Change>> expected = new TreeMap<>();
        for (Event event : source.events()) {
            expected.computeIfAbsent(event.getKv().getModRevision(), revision -> new ArrayList<>())
                    .add(change(event));
        }
        for (TopicHistory.Tail tail : topic.tails()) {
            List<Commit> commits = expected.subMap(tail.from() + 1, tail.to() + 1).entrySet().stream()
                    .map(commit -> new Commit(new Revision(commit.getKey()), commit.getValue()))
                    .toList();
            assertThat(tail.commits())
                    .as("seed %d: commits after %d, up to %d", seed, tail.from(), tail.to())
                    .isEqualTo(commits);
        }
        LOG.info(
                "seed={} snapshots={} commits={} marks={}",
                seed,
                topic.tails().size(),
                topic.commits().size(),
                topic.marks().size());
        assertThat(topic.commits()).as("seed %d", seed).isNotEmpty();
    }

    private static Change change(Event event) {
        io.etcd.jetcd.api.KeyValue kv = event.getKv();
        return event.getType() == Event.EventType.DELETE
                ? new Change.Delete(kv.getKey())
                : new Change.Put(new KeyValue(
                        kv.getKey(),
                        kv.getValue(),
                        new Revision(kv.getCreateRevision()),
                        new Revision(kv.getModRevision()),
                        kv.getVersion(),
                        kv.getLease()));
    }
}
