package io.understudy.feed.etcd;

import static io.understudy.feed.SourceClient.bytes;
import static io.understudy.feed.etcd.FeedFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.feed.FeedEndedException.AnotherCluster;
import io.understudy.feed.FeedEndedException.AnotherHistory;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The feed when its source is not what it was: invariant F4.
 *
 * <p>Tests invariants F4, F12.
 */
@Timeout(180)
class EtcdFeedHistoryIT {

    @RegisterExtension
    final EtcdExtension source = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    static final EtcdExtension other = EtcdExtension.voters(1).named("other");

    private final KeyRange range = KeyRange.prefix(bytes("key"));

    @TempDir
    Path folder;

    private FeedFixture fixture;

    @BeforeEach
    void open() {
        fixture = new FeedFixture(source.cluster());
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void aSourceRestoredFromABackupThatHasPassedOurRevisionIsAnotherHistory() {
        fixture.client().put("key", "in the backup");
        source.cluster().snapshot(folder.resolve("backup"));
        Revision consumed = fixture.client().put("key", "after the backup");
        FeedRunner runner = fixture.run(range);
        runner.awaitRevision(consumed, PATIENCE);
        Position position = runner.read(ModelConsumer::position);
        runner.close();

        source.cluster().restore(folder.resolve("backup"));
        while (fixture.client().put("key", "another history").isBefore(consumed.next())) {
            assertThat(fixture.client().revision()).isLessThan(consumed.next().next());
        }
        FeedRunner resumed = fixture.run(
                fixture.feed(range, FeedKind.HISTORY, position, EtcdFeedOptions.DEFAULTS), new ModelConsumer(range));

        assertThat(resumed.awaitEnd(PATIENCE))
                .isInstanceOf(AnotherHistory.class)
                .hasMessageContaining("revision " + consumed)
                .hasMessageContaining("restored from a backup");
        assertThat(resumed.read(ModelConsumer::commits)).isZero();
    }

    @Test
    void aRunningFeedNoticesTheRestoreToo() {
        fixture.client().put("key", "in the backup");
        source.cluster().snapshot(folder.resolve("backup"));
        Revision consumed = fixture.client().put("key", "after the backup");
        FeedRunner runner = fixture.run(range);
        runner.awaitRevision(consumed, PATIENCE);

        source.cluster().restore(folder.resolve("backup"));

        // Its revision is lower for good, which a quorum confirms; or the writes below have passed ours.
        await().atMost(PATIENCE)
                .until(() -> fixture.client().put("key", "other").isAfter(consumed));
        assertThat(runner.awaitEnd(PATIENCE)).isInstanceOf(AnotherHistory.class);
    }

    @Test
    void aRevisionThatWentBackIsAnotherHistory() {
        source.cluster().snapshot(folder.resolve("backup"));
        FeedRunner runner = fixture.run(range);
        runner.awaitRevision(fixture.client().put("key", "after the backup"), PATIENCE);

        source.cluster().restore(folder.resolve("backup"));

        assertThat(runner.awaitEnd(PATIENCE))
                .isInstanceOf(AnotherHistory.class)
                .hasMessageContaining("source history changed: quorum of cluster ");
    }

    /** Found out by the source's revision: there is no commit by which to recognise it. */
    @Test
    void aRevisionThatWentBackIsAnotherHistoryWithoutAnAnchor() {
        await().atMost(PATIENCE).until(() -> fixture.source().view().clusterId() != null);
        Revision beyond = new Revision(fixture.client().put("key", "value").value() + 1_000);
        Position position = new Position(fixture.source().view().clusterId(), beyond, null);

        FeedRunner resumed = fixture.run(
                fixture.feed(range, FeedKind.TRANSIENT, position, EtcdFeedOptions.DEFAULTS), new ModelConsumer(range));

        assertThat(resumed.awaitEnd(PATIENCE)).isInstanceOf(AnotherHistory.class);
    }

    @Test
    void aPositionOfAnotherClusterIsRefused() {
        try (FeedFixture elsewhere = new FeedFixture(other.cluster())) {
            FeedRunner runner = elsewhere.run(range);
            runner.awaitRevision(elsewhere.client().put("key", "value"), PATIENCE);
            Position position = runner.read(ModelConsumer::position);

            FeedRunner resumed = fixture.run(
                    fixture.feed(range, FeedKind.HISTORY, position, EtcdFeedOptions.DEFAULTS),
                    new ModelConsumer(range));

            assertThat(resumed.awaitEnd(PATIENCE))
                    .isInstanceOf(AnotherCluster.class)
                    .hasMessageContaining(position.cluster().toString());
        }
    }

    @Test
    void aRestartedSourceIsTheSameHistory() {
        FeedRunner runner = fixture.run(range);
        runner.awaitRevision(fixture.client().put("key", "before"), PATIENCE);

        source.cluster().members().forEach(EtcdMember::restart);
        runner.awaitRevision(fixture.client().put("key", "after"), PATIENCE);

        fixture.assertEqual(runner, range);
        assertThat(runner.read(ModelConsumer::snapshots)).isEqualTo(1);
    }
}
