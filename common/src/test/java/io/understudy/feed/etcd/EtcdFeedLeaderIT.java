package io.understudy.feed.etcd;

import static io.understudy.feed.SourceClient.bytes;
import static io.understudy.feed.etcd.FeedFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.config.Binder;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.feed.RandomWriter;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A feed that is to watch the leader. Its model checks that nothing is missed or repeated on the way.
 *
 * <p>Tests invariant F7.
 */
@Timeout(120)
class EtcdFeedLeaderIT {

    @RegisterExtension
    static final EtcdExtension source =
            EtcdExtension.voters(3).learners(1).named("source").behindProxies();

    private static final KeyRange RANGE = KeyRange.prefix(bytes("leader/"));

    private FeedFixture fixture;
    private RandomWriter writer;

    @BeforeEach
    void open() {
        fixture = new FeedFixture(source.cluster());
        writer = new RandomWriter(fixture.client(), "leader/", Long.getLong("understudy.seed", System.nanoTime()));
    }

    @AfterEach
    void close() {
        writer.close();
        fixture.close();
        source.heal();
    }

    @Test
    void theWatchGoesToTheLeader_andAfterTheLeadership() {
        FeedRunner runner = run();
        awaitLeaderWatchedAlone();
        EtcdMember next = source.cluster().followers().get(0);

        source.cluster().moveLeader(next);

        awaitLeaderWatchedAlone();
        assertComplete(runner);
        assertThat(fixture.count("understudy.feed.reopens")).isZero();
    }

    @Test
    void aLeaderThatCannotBeReachedIsNotWaitedFor_andGoneToOnceItCan() {
        EtcdMember leader = source.cluster().leader();
        leader.clientProxy().blackHole();
        FeedRunner runner = run();
        long before = writer.writes();
        await().atMost(PATIENCE).until(() -> writer.writes() > before + 200);
        runner.awaitRevision(fixture.client().revision(), PATIENCE);
        assertThat(watched()).hasSize(1).doesNotContain(leader);
        assertThat(fixture.count("understudy.feed.reopens")).isZero();

        source.heal();

        awaitLeaderWatchedAlone();
        assertComplete(runner);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("schedules")
    void losingTheLeaderMissesAndRepeatsNothing(Loss loss) {
        FeedRunner runner = run();
        awaitLeaderWatchedAlone();
        EtcdMember leader = source.cluster().leader();

        loss.strike(leader);

        await().atMost(PATIENCE).until(() -> source.cluster().voters().stream()
                .filter(voter -> !voter.equals(leader))
                .anyMatch(voter -> watchers(voter) > 0));
        source.heal();
        awaitLeaderWatchedAlone();
        assertComplete(runner);
    }

    /** What may happen to the leader. */
    enum Loss {
        KILLED {
            @Override
            void strike(EtcdMember leader) {
                leader.kill();
            }
        },
        PAUSED {
            @Override
            void strike(EtcdMember leader) {
                leader.pause();
            }
        },
        ISOLATED_FROM_ITS_PEERS {
            @Override
            void strike(EtcdMember leader) {
                source.cluster().isolate(leader);
            }
        };

        abstract void strike(EtcdMember leader);
    }

    private FeedRunner run() {
        EtcdFeedOptions options = Binder.with(EtcdFeedOptions.DEFAULTS, "watch", WatchedVoter.LEADER);
        FeedRunner runner = fixture.run(fixture.feed(RANGE, FeedKind.STATE, null, options), new ModelConsumer(RANGE));
        runner.awaitRevision(new Revision(1), PATIENCE);
        return runner;
    }

    private void assertComplete(FeedRunner runner) {
        long before = writer.writes();
        await().atMost(PATIENCE).until(() -> writer.writes() > before + 50);
        writer.stop();
        fixture.assertEqual(runner, RANGE);
        assertThat(runner.read(ModelConsumer::snapshots)).isEqualTo(1);
    }

    /** The present one: a busy machine may bring an election at any moment. */
    private void awaitLeaderWatchedAlone() {
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(watched())
                .containsExactly(source.cluster().leader()));
    }

    private List<EtcdMember> watched() {
        List<EtcdMember> found = new ArrayList<>();
        for (EtcdMember voter : source.cluster().voters()) {
            if (watchers(voter) > 0) {
                found.add(voter);
            }
        }
        return found;
    }

    /** None at a member that is down. */
    private static long watchers(EtcdMember voter) {
        try {
            return MemberMetrics.watchers(voter);
        } catch (Exception e) {
            return 0;
        }
    }
}
