package io.understudy.feed.etcd;

import static io.understudy.feed.SourceClient.bytes;
import static io.understudy.feed.etcd.FeedFixture.PATIENCE;
import static io.understudy.feed.etcd.FeedFixture.pollTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.config.Binder;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.feed.RandomWriter;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The feed while members and links fail.
 *
 * <p>Tests invariants F1, F3, F8, F9.
 */
@Timeout(180)
class EtcdFeedFaultIT {

    @RegisterExtension
    static final EtcdExtension source =
            EtcdExtension.voters(3).learners(1).named("source").behindProxies();

    /** A silent stall is noticed within 5 s; the rest is the machine's, which runs all members. */
    private static final Duration NOTICED_AND_RESUMED = Duration.ofSeconds(15);

    private FeedFixture fixture;

    /** What may happen to the member that serves the watch. */
    enum Fault {
        KILLED {
            @Override
            void strike(LocalEtcd cluster, EtcdMember member) {
                member.kill();
            }
        },
        PAUSED {
            @Override
            void strike(LocalEtcd cluster, EtcdMember member) {
                member.pause();
            }
        },
        CUT_OFF_FROM_CLIENTS {
            @Override
            void strike(LocalEtcd cluster, EtcdMember member) {
                member.clientProxy().cut();
            }
        },
        BLACK_HOLED {
            @Override
            void strike(LocalEtcd cluster, EtcdMember member) {
                member.clientProxy().blackHole();
            }
        },
        HALF_OPEN {
            @Override
            void strike(LocalEtcd cluster, EtcdMember member) {
                member.clientProxy().halfOpen();
            }
        },
        ISOLATED_FROM_ITS_PEERS {
            @Override
            void strike(LocalEtcd cluster, EtcdMember member) {
                cluster.isolate(member);
            }
        },
        LEADERSHIP_MOVED {
            @Override
            void strike(LocalEtcd cluster, EtcdMember member) {
                EtcdMember next = cluster.followers().get(0);
                cluster.moveLeader(next);
            }
        };

        abstract void strike(LocalEtcd cluster, EtcdMember member);
    }

    @BeforeEach
    void open() {
        fixture = new FeedFixture(source.cluster());
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    /** The first pages, and twice the target size, take longer than a request may. */
    @Test
    void aSnapshotOverASlowLinkCompletes() {
        KeyRange range = KeyRange.prefix(bytes("slow/"));
        fixture.client().fill("slow/a", 1_000, ByteString.copyFrom(new byte[1_000]), 0);
        fixture.client().fill("slow/b", 10, ByteString.copyFrom(new byte[100_000]), 0);
        fixture.client().fill("slow/c", 10, ByteString.copyFrom(new byte[100_000]), 0);
        source.cluster().members().forEach(member -> member.clientProxy().throttle(500_000));
        EtcdFeedOptions options = Binder.with(EtcdFeedOptions.DEFAULTS, "requestTimeout", Duration.ofSeconds(1));

        FeedRunner runner = fixture.run(fixture.feed(range, FeedKind.STATE, null, options), new ModelConsumer(range));

        fixture.assertEqual(runner, range);
    }

    @ParameterizedTest
    @EnumSource
    void losingTheMemberThatServesTheWatchMissesAndRepeatsNothing(Fault fault) {
        String prefix = "fault/" + fault + "/";
        KeyRange range = KeyRange.prefix(bytes(prefix));
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        try (RandomWriter writer = new RandomWriter(fixture.client(), prefix, seed)) {
            FeedRunner runner = fixture.run(range);
            // Without a known commit, a feed compares the whole state after a loss of its watch.
            await().atMost(PATIENCE).until(() -> writer.writes() > 0);
            runner.awaitRevision(fixture.client().revision(), PATIENCE);
            EtcdMember serving = await().atMost(PATIENCE).until(this::servingTheWatch, member -> member != null);

            fault.strike(source.cluster(), serving);
            long before = writer.writes();
            await().atMost(PATIENCE).until(() -> writer.writes() > before + 20);
            runner.awaitRevision(fixture.client().revision(), NOTICED_AND_RESUMED);
            source.heal();
            writer.stop();

            fixture.assertEqual(runner, range);
            assertThat(runner.read(ModelConsumer::snapshots)).isEqualTo(1);
        }
    }

    @Test
    void aSnapshotContinuesElsewhereWhenTheLearnerFails() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("snapshot/"));
        fixture.client().fill("snapshot/", 2_000, ByteString.copyFrom(new byte[5_000]), 0);
        await().atMost(PATIENCE).until(() -> !fixture.source().view().members().isEmpty());
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        await().atMost(PATIENCE).until(() -> feed.poll(Duration.ofSeconds(1), model));
        await().atMost(PATIENCE).until(() -> feed.poll(Duration.ofSeconds(1), model));

        source.cluster().learners().get(0).pause();
        pollTo(feed, model, fixture.client().revision());

        assertThat(model.snapshots()).isEqualTo(1);
        assertThat(model.state())
                .isEqualTo(fixture.client().read(range, model.position().revision()));
    }

    @Test
    void aSnapshotWaitsForALearnerThatIsBehind() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("waits/"));
        EtcdMember learner = source.cluster().learners().get(0);
        source.cluster().isolate(learner);
        fixture.client().fill("waits/", 1_000, bytes("value"), 0);
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        await().atMost(PATIENCE).until(() -> feed.poll(Duration.ofSeconds(1), model));

        source.cluster().heal();
        pollTo(feed, model, fixture.client().revision());

        assertThat(model.state())
                .isEqualTo(fixture.client().read(range, model.position().revision()));
    }

    @Test
    void compactionWhileCutOffIsAGap() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("gap/"));
        FeedRunner runner = fixture.run(range);
        runner.awaitRevision(fixture.client().put("gap/key", "seen"), PATIENCE);
        source.cluster().members().forEach(member -> member.clientProxy().cut());

        fixture.client().put("gap/key", "missed");
        Revision compacted = fixture.client().put("gap/key", "kept");
        fixture.compact(compacted);
        source.cluster().members().forEach(member -> member.clientProxy().heal());

        assertThat(runner.awaitEnd(PATIENCE)).isInstanceOf(FeedEndedException.Gap.class);
    }

    @Test
    void aConsumerThatStopsStopsTheStream() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("pressure/"));
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(feed, model, new Revision(1));
        EtcdMember serving = servingTheWatch();
        long before = serving.clientProxy().bytesFromTarget();

        for (int i = 0; i < 100; i++) {
            fixture.client().put(bytes("pressure/" + i), ByteString.copyFrom(new byte[500_000]), 0);
        }
        long whileStopped = serving.clientProxy().bytesFromTarget() - before;
        pollTo(feed, model, fixture.client().revision());

        assertThat(whileStopped)
                .as("bytes sent to a consumer that does not poll")
                .isLessThan(40_000_000);
        assertThat(model.commits()).isEqualTo(100);
        fixture.client().delete(range);
    }

    private EtcdMember servingTheWatch() throws IOException, InterruptedException {
        for (EtcdMember voter : source.cluster().voters()) {
            if (MemberMetrics.watchers(voter) > 0) {
                return voter;
            }
        }
        return null;
    }
}
