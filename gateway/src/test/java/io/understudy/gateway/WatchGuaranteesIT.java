package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.gateway.WatchRecord.Delivery;
import io.understudy.gateway.WatchRecord.Selection;
import io.understudy.gateway.hub.HubSettings;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * etcd's guarantees to watchers, while members and links fail and the gateway is killed. The short schedule has a fault of
 * each kind, the long one ({@code -Dunderstudy.schedule=long}) many of all.
 *
 * <p>Tests invariant V1.
 */
@Timeout(1_800)
@Tag("schedules")
@Tag("verify")
final class WatchGuaranteesIT {

    private static final Logger LOG = LoggerFactory.getLogger(WatchGuaranteesIT.class);
    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));
    private static final int WRITES_PER_FAULT = LONG ? 150 : 40;
    private static final int REPETITIONS = LONG ? 8 : 1;
    private static final int CONNECTIONS = 3;
    private static final int STREAMS = 9;
    /** Bounded, as each keeps all its deliveries. */
    private static final int MAX_WATCHERS = 60;

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    static final EtcdExtension SOURCE =
            EtcdExtension.voters(3).learners(1).named("source").behindProxies();

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private RestartableGateway gateway;
    private WatchCrowd watchers;
    private RandomWrites writes;

    /** A fault; {@code end} adds to the healing that follows each. */
    private record Fault(String name, Runnable begin, Runnable end) {
        Fault(String name, Runnable begin) {
            this(name, begin, () -> {});
        }
    }

    @BeforeEach
    void start() throws Exception {
        // A small window makes the gateway read older commits from the source.
        int window = random.nextBoolean() ? 50 : 10_000;
        LOG.info("seed={} window={}", seed, window);
        ReplicaSettings replica = ReplicaSettings.DEFAULTS.withWindowRevisions(window);
        HubSettings watches = new HubSettings(
                HubSettings.DEFAULTS.maxWatchers(),
                HubSettings.DEFAULTS.maxWatchersPerStream(),
                HubSettings.DEFAULTS.catchUpStreams(),
                Duration.ofMillis(200),
                HubSettings.DEFAULTS.noLeaderTimeout(),
                HubSettings.DEFAULTS.bufferBytes());
        gateway = new RestartableGateway(
                SOURCE.cluster(), settings -> settings.with(replica).with(watches));
        gateway.current().awaitReady();
        watchers = new WatchCrowd(gateway.port(), CONNECTIONS);
        writes = new RandomWrites(
                SOURCE.cluster().voters().stream()
                        .map(EtcdMember::directClientUrl)
                        .toList(),
                seed);
    }

    @AfterEach
    void stop() {
        writes.close();
        watchers.close();
        gateway.close();
    }

    @Test
    void watchersReceiveEveryEventOnceInOrderDespiteFaults() throws Exception {
        for (int i = 0; i < STREAMS; i++) {
            open(random.nextInt(3) == 0 ? 1 : 0);
        }
        for (Fault fault : schedule()) {
            int before = writes.acknowledged().size();
            fault.begin().run();
            await(fault.name() + ", seed " + seed).atMost(PATIENCE).until(() -> {
                watchers.requestProgress();
                return writes.acknowledged().size() >= before + WRITES_PER_FAULT;
            });
            fault.end().run();
            SOURCE.heal();
            long reached = Collections.max(writes.acknowledged());
            if (watchers.size() < MAX_WATCHERS) {
                open(1 + random.nextInt(Math.toIntExact(reached)));
            }
            watchers.awaitDelivered(fault.name() + " mended, seed " + seed, reached);
            LOG.info(
                    "{}: revision={} acknowledged={}",
                    fault.name(),
                    reached,
                    writes.acknowledged().size());
        }
        writes.stop();
        CommitTruth truth = CommitTruth.of(SOURCE.cluster());
        watchers.awaitDelivered("the end, seed " + seed, truth.head());

        assertThat(writes.acknowledged()).as("seed %d", seed).allMatch(truth::has);
        watchers.assertFaithful(truth, "seed " + seed);
        theCheckFindsWhatIsDroppedFromARecordedHistory(truth);
    }

    /** Of a watcher of everything; the other kinds of violation have their own test. */
    private void theCheckFindsWhatIsDroppedFromARecordedHistory(CommitTruth truth) {
        WatchRecord faithful = watchers.first();
        List<Delivery> deliveries = new ArrayList<>(faithful.deliveries());
        List<Delivery> messages = deliveries.stream()
                .filter(one -> one instanceof Delivery.Events)
                .toList();
        deliveries.remove(messages.get(random.nextInt(messages.size() / 2)));
        assertThat(WatchGuarantees.violations(faithful.withDeliveries(deliveries), truth))
                .anyMatch(violation -> violation.startsWith("reliable"));
    }

    private void open(long start) {
        List<WatchRecord> together = new ArrayList<>();
        together.add(new WatchRecord(new Selection(KeyRange.all(), random.nextBoolean(), false, false), start));
        for (int i = random.nextInt(4); i > 0; i--) {
            Selection selection =
                    new Selection(range(), random.nextBoolean(), random.nextInt(4) == 0, random.nextInt(4) == 0);
            together.add(new WatchRecord(selection, random.nextBoolean() ? start : 0));
        }
        watchers.open(together);
    }

    private KeyRange range() {
        ByteString key = ByteString.copyFromUtf8(RandomWrites.key(random));
        return switch (random.nextInt(4)) {
            case 0 -> KeyRange.all();
            case 1 -> KeyRange.fromKey(key);
            case 2 -> KeyRange.prefix(key.substring(0, 2));
            default -> KeyRange.single(key);
        };
    }

    private List<Fault> schedule() {
        List<Fault> schedule = new ArrayList<>();
        for (int i = 0; i < REPETITIONS; i++) {
            for (List<Fault> kind : kinds()) {
                if (LONG) {
                    schedule.addAll(kind);
                } else {
                    schedule.add(kind.get(random.nextInt(kind.size())));
                }
            }
        }
        Collections.shuffle(schedule, random);
        return schedule;
    }

    private List<List<Fault>> kinds() {
        LocalEtcd cluster = SOURCE.cluster();
        EtcdMember learner = cluster.learners().get(0);
        return List.of(
                List.of(new Fault("gateway killed", gateway::die, this::startGateway)),
                List.of(
                        new Fault("leader killed", () -> cluster.leader().kill()),
                        new Fault("follower killed", () -> follower().kill()),
                        new Fault("learner killed", learner::kill)),
                List.of(
                        new Fault("leader paused", () -> cluster.leader().pause()),
                        new Fault("follower paused", () -> follower().pause()),
                        new Fault("learner paused", learner::pause)),
                List.of(
                        new Fault(
                                "gateway cut off from the leader",
                                () -> cluster.leader().clientProxy().cut()),
                        new Fault(
                                "gateway black-holed from a follower",
                                () -> follower().clientProxy().blackHole()),
                        new Fault("gateway black-holed from the learner", () -> learner.clientProxy()
                                .blackHole()),
                        new Fault("gateway cut off from all", () -> cluster.members()
                                .forEach(member -> member.clientProxy().cut())),
                        new Fault("gateway black-holed from all", () -> cluster.members()
                                .forEach(member -> member.clientProxy().blackHole())),
                        new Fault("follower isolated", () -> cluster.isolate(follower()))),
                List.of(
                        new Fault("clients cut off", gateway::cutClientsOff, gateway::letClientsIn),
                        new Fault(
                                "gateway killed while cut off from the learner",
                                () -> {
                                    learner.clientProxy().cut();
                                    gateway.die();
                                },
                                this::startGateway)));
    }

    private void startGateway() {
        try {
            gateway.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private EtcdMember follower() {
        List<EtcdMember> followers = SOURCE.cluster().followers();
        return followers.get(random.nextInt(followers.size()));
    }
}
