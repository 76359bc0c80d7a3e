package io.understudy.feed.etcd;

import static io.understudy.feed.SourceClient.bytes;
import static io.understudy.feed.etcd.FeedFixture.PATIENCE;
import static io.understudy.feed.etcd.FeedFixture.pollTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.config.Binder;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.feed.RandomWriter;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The feed of a healthy cluster.
 *
 * <p>Tests invariants F1, F3, F8, F10, F13.
 */
@Timeout(180)
class EtcdFeedIT {

    @RegisterExtension
    static final EtcdExtension source = EtcdExtension.voters(3)
            .learners(1)
            .named("source")
            .with(builder -> builder.extraArguments("--quota-backend-bytes=2000000000"));

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
    void aSnapshotTakenWhileWritingAndTheCommitsAfterItEqualTheSource() {
        KeyRange range = KeyRange.prefix(bytes("mixed/"));
        fixture.client().fill("mixed/", 2_000, bytes("value"), 0);
        long seed = Long.getLong("understudy.seed", System.nanoTime());

        try (RandomWriter writer = new RandomWriter(fixture.client(), "mixed/", seed)) {
            FeedRunner runner = fixture.run(range);
            runner.awaitRevision(new Revision(1), PATIENCE);
            long before = writer.writes();
            await().atMost(PATIENCE).until(() -> writer.writes() > before + 500);
            writer.stop();

            fixture.assertEqual(runner, range);
        }
    }

    @Test
    void anEmptyRangeIsASnapshotWithoutEntries() {
        KeyRange range = KeyRange.prefix(bytes("nothing/"));

        FeedRunner runner = fixture.run(range);

        fixture.assertEqual(runner, range);
        assertThat(runner.read(ModelConsumer::snapshots)).isEqualTo(1);
    }

    @Test
    void snapshotPagesAreReadFromTheLearner() throws Exception {
        fixture.client().fill("pages/", 3_000, bytes("value"), 0);
        long learnerBefore = MemberMetrics.ranges(source.cluster().learners());
        long votersBefore = MemberMetrics.ranges(source.cluster().voters());

        KeyRange range = KeyRange.prefix(bytes("pages/"));
        FeedRunner runner = fixture.run(range);
        runner.awaitRevision(new Revision(1), PATIENCE);

        assertThat(MemberMetrics.ranges(source.cluster().learners()) - learnerBefore)
                .isGreaterThan(2);
        assertThat(MemberMetrics.ranges(source.cluster().voters()) - votersBefore)
                .isLessThanOrEqualTo(1);
    }

    @Test
    void aSourceOfLearnersOnlyEndsTheFeedAndNamesWhatToAdd() {
        URI learner = source.cluster().learners().get(0).clientUrl();
        for (MemberDiscovery discovery : MemberDiscovery.values()) {
            FeedRunner runner = fixture.run(
                    fixture.feedOf(fixture.connect(List.of(learner), discovery)), new ModelConsumer(KeyRange.all()));

            assertThat(runner.awaitEnd(PATIENCE))
                    .isInstanceOf(FeedEndedException.Unexplained.class)
                    .hasMessageContaining("[" + learner + "]; add the client URL of a voting member");
        }
    }

    @Test
    void membersWithoutAnEndpointDoNotDelayTheSnapshot() {
        List<URI> one = List.of(source.cluster().voters().get(0).clientUrl());
        EtcdCluster configured = fixture.connect(one, MemberDiscovery.CONFIGURED);
        await().atMost(PATIENCE).until(() -> configured.view().members().size() > 1);
        Feed feed = fixture.feedOf(
                configured, Binder.with(EtcdFeedOptions.DEFAULTS, "requestTimeout", PATIENCE.multipliedBy(10)));
        FeedRunner runner = fixture.run(feed, new ModelConsumer(KeyRange.all()));

        runner.awaitRevision(fixture.client().revision(), PATIENCE);
    }

    @Test
    void resumingAtAPositionRepeatsAndMissesNothing() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("resume/"));
        fixture.client().fill("resume/", 100, bytes("value"), 0);
        Feed first = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(first, model, fixture.client().put("resume/0000001", "seen"));
        first.close();
        fixture.client().put("resume/0000001", "missed");
        fixture.client().delete(KeyRange.single(bytes("resume/0000002")));

        ModelConsumer restarted = model.restarted();
        FeedRunner runner =
                fixture.run(fixture.feed(range, FeedKind.STATE, model.position(), EtcdFeedOptions.DEFAULTS), restarted);

        fixture.assertEqual(runner, range);
        assertThat(restarted.snapshots()).isZero();
        assertThat(restarted.commits()).isEqualTo(2);
    }

    @Test
    void aQuietRangeMovesOnByProgressMarks() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("quiet/"));
        fixture.client().put("quiet/key", "value");
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(feed, model, new Revision(1));

        pollTo(feed, model, fixture.client().put("elsewhere", "value"));

        assertThat(model.commits()).isZero();
        assertThat(model.marks()).isPositive();
    }

    @Test
    void aPositionReachedByProgressAloneResumesAtItsAnchor() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("anchored/"));
        Revision written = fixture.client().put("anchored/key", "value");
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(feed, model, fixture.client().put("elsewhere", "value"));
        feed.close();
        Position position = model.position();
        assertThat(position.anchor().revision()).isEqualTo(written);
        fixture.client().put("anchored/key", "after");

        FeedRunner runner =
                fixture.run(fixture.feed(range, FeedKind.STATE, position, EtcdFeedOptions.DEFAULTS), model.restarted());

        fixture.assertEqual(runner, range);
    }

    @Test
    void farBehindAStateFeedComparesPagesAndAHistoryFeedReplays() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("behind/"));
        fixture.client().put("behind/deleted", "value");
        fixture.client().put("behind/changed", "before");
        EtcdFeedOptions options = Binder.with(EtcdFeedOptions.DEFAULTS, "catchUpRevisions", 100L);
        Feed feed = fixture.feed(range, FeedKind.STATE, null, options);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(feed, model, fixture.client().revision());
        feed.close();
        fixture.client().delete(KeyRange.single(bytes("behind/deleted")));
        fixture.client().put("behind/changed", "after");
        for (int i = 0; i < 300; i++) {
            fixture.client().put("behind/many", "value " + i);
        }

        ModelConsumer compared = model.restarted();
        fixture.assertEqual(
                fixture.run(fixture.feed(range, FeedKind.STATE, model.position(), options), compared), range);
        ModelConsumer replayed = model.restarted();
        fixture.assertEqual(
                fixture.run(fixture.feed(range, FeedKind.HISTORY, model.position(), options), replayed), range);

        assertThat(compared.snapshots()).isEqualTo(1);
        assertThat(compared.isRecognised()).isTrue();
        assertThat(compared.commits()).isZero();
        assertThat(replayed.snapshots()).isZero();
        assertThat(replayed.commits()).isEqualTo(302);
    }

    /** A commit between the last one known and the mark would be of another history, and was not looked for. */
    @Test
    void aHistoryFarBehindAMarkIsNotRecognised() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("marked/"));
        fixture.client().put("marked/key", "before");
        fixture.client().put("elsewhere", "beyond it");
        EtcdFeedOptions options = Binder.with(EtcdFeedOptions.DEFAULTS, "catchUpRevisions", 100L);
        Feed feed = fixture.feed(range, FeedKind.STATE, null, options);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(feed, model, fixture.client().revision());
        feed.close();
        for (int i = 0; i < 300; i++) {
            fixture.client().put("marked/many", "value " + i);
        }

        ModelConsumer compared = model.restarted();
        fixture.assertEqual(
                fixture.run(fixture.feed(range, FeedKind.STATE, model.position(), options), compared), range);

        assertThat(compared.snapshots()).isEqualTo(1);
        assertThat(compared.isRecognised()).isFalse();
    }

    @Test
    void compactionDuringASnapshotRestartsIt() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("compacted/"));
        fixture.client().fill("compacted/", 2_000, ByteString.copyFrom(new byte[5_000]), 0);
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        while (!feed.poll(Duration.ofSeconds(1), model)) {
            assertThat(model.position()).isNull();
        }
        assertThat(feed.poll(Duration.ofSeconds(10), model)).as("a first page").isTrue();

        fixture.compact(fixture.client().put("compacted/more", "value"));
        pollTo(feed, model, fixture.client().revision());

        assertThat(model.snapshots()).isEqualTo(1);
        assertThat(fixture.count("understudy.feed.snapshots")).isEqualTo(2);
        assertThat(model.state())
                .isEqualTo(fixture.client().read(range, model.position().revision()));
    }

    @Test
    void anUnfinishedSnapshotIsContinued() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("continued/"));
        ModelConsumer begun = beginSnapshot("continued/", range);
        double read = fixture.count("understudy.feed.snapshot.keys");
        fixture.client().put("continued/0000001", "changed in the part that is held");
        fixture.client().delete(KeyRange.single(bytes("continued/0001999")));

        ModelConsumer model = resume(begun, range, begun.unfinished());

        assertThat(model.snapshots()).isEqualTo(1);
        assertThat(model.commits()).isEqualTo(2);
        assertThat(fixture.count("understudy.feed.snapshot.keys"))
                .as("keys read")
                .isEqualTo(2_000);
        assertThat(read).isPositive();
        assertThat(fixture.count("understudy.feed.snapshots")).isEqualTo(1);
    }

    @Test
    void anUnfinishedSnapshotThatIsCompactedIsReplaced() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("gone/"));
        ModelConsumer begun = beginSnapshot("gone/", range);
        fixture.client().put("gone/0000001", "changed in the part that is held");
        fixture.compact(fixture.client().delete(KeyRange.single(bytes("gone/0000002"))));

        resume(begun, range, begun.unfinished());

        assertThat(fixture.count("understudy.feed.snapshots")).isEqualTo(2);
    }

    @Test
    void anUnfinishedSnapshotOfAnotherHistoryIsReplaced() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("other/"));
        ModelConsumer begun = beginSnapshot("other/", range);
        Position pin = begun.unfinished().pin();
        Position other = new Position(
                pin.cluster(),
                pin.revision(),
                new Position.Anchor(pin.anchor().revision(), CommitDigest.parse("00".repeat(CommitDigest.SIZE_BYTES))));

        resume(begun, range, new UnfinishedSnapshot(other, begun.unfinished().rest()));

        assertThat(fixture.count("understudy.feed.snapshots")).isEqualTo(2);
    }

    /** Ends a feed of 2,000 keys after its first page. */
    private ModelConsumer beginSnapshot(String prefix, KeyRange range) throws Exception {
        fixture.client().fill(prefix, 2_000, ByteString.copyFrom(new byte[5_000]), 0);
        ModelConsumer model = new ModelConsumer(range);
        try (Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS)) {
            while (fixture.count("understudy.feed.snapshot.keys") == 0) {
                feed.poll(Duration.ofMillis(100), model);
            }
        }
        return model;
    }

    private ModelConsumer resume(ModelConsumer begun, KeyRange range, UnfinishedSnapshot at) {
        ModelConsumer model = begun.restartedWithin(at);
        fixture.assertEqual(
                fixture.run(fixture.feed(range, FeedKind.STATE, at, EtcdFeedOptions.DEFAULTS), model), range);
        return model;
    }

    @Test
    void compactionWhileAwayIsAGap() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("gap/"));
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(feed, model, fixture.client().put("gap/key", "seen"));
        feed.close();
        fixture.client().put("gap/key", "missed");
        Revision compacted = fixture.client().put("gap/key", "kept");
        fixture.compact(compacted);

        FeedRunner runner = fixture.run(
                fixture.feed(range, FeedKind.STATE, model.position(), EtcdFeedOptions.DEFAULTS), model.restarted());

        assertThat(runner.awaitEnd(PATIENCE)).isInstanceOfSatisfying(FeedEndedException.Gap.class, gap -> {
            assertThat(gap.compacted()).isEqualTo(compacted);
            assertThat(gap.position()).isEqualTo(model.position());
        });
    }

    @Test
    void aClosedFeedWakesItsPollerAndRefusesMore() {
        KeyRange range = KeyRange.prefix(bytes("closed/"));
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        FeedRunner runner = fixture.run(feed, new ModelConsumer(range));
        runner.awaitRevision(new Revision(1), PATIENCE);

        feed.close();

        assertThat(runner.awaitEnd(Duration.ofSeconds(5))).isInstanceOf(IllegalStateException.class);
    }
}
