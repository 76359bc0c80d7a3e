package io.understudy.feed.etcd;

import static io.understudy.feed.SourceClient.bytes;
import static io.understudy.feed.etcd.FeedFixture.PATIENCE;
import static io.understudy.feed.etcd.FeedFixture.pollTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.config.Binder;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many keys, large values, large commits. One voter: what counts here is what the feed makes of them.
 *
 * <p>Tests invariant F2.
 */
@Timeout(180)
class EtcdFeedSizeIT {

    /** A cluster each: etcd stays slow for long after one commit of so many changes. */
    @RegisterExtension
    final EtcdExtension source = EtcdExtension.voters(1)
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
    void historyOfLargeValuesIsReplayedInFragments() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("history/"));
        Feed feed = fixture.feed(range, FeedKind.HISTORY, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(feed, model, fixture.client().put("history/0", "before"));
        feed.close();
        for (int i = 0; i < 50; i++) {
            fixture.client().put(bytes("history/" + i), ByteString.copyFrom(new byte[1_400_000]), 0);
        }

        ModelConsumer replayed = model.restarted();
        pollTo(
                fixture.feed(range, FeedKind.HISTORY, model.position(), EtcdFeedOptions.DEFAULTS),
                replayed,
                fixture.client().revision());

        assertThat(replayed.commits()).isEqualTo(50);
        assertThat(fixture.reopens("too_large")).isEqualTo(1);
    }

    @Test
    @Tag("volume")
    void aSnapshotOfLargeValuesFitsItsPages() {
        KeyRange range = KeyRange.prefix(bytes("pages-of-large/"));
        fixture.client().fill("pages-of-large/a", 500, bytes("small"), 0);
        for (int i = 0; i < 50; i++) {
            fixture.client().put(bytes("pages-of-large/b" + i), ByteString.copyFrom(new byte[1_400_000]), 0);
        }

        FeedRunner runner = fixture.run(range);

        fixture.assertEqual(runner, range);
    }

    @Test
    @Tag("volume")
    void twoHundredThousandKeysAndOneDeletionOfThemAll() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("many/"));
        fixture.client().fill("many/", 200_000, bytes("value"), 0);
        FeedRunner runner = fixture.run(range);
        runner.awaitRevision(fixture.client().revision(), PATIENCE);
        assertThat(runner.state()).hasSize(200_000);

        Revision deleted = fixture.client().delete(range);
        runner.awaitRevision(deleted, PATIENCE);

        assertThat(runner.state()).isEmpty();
        assertThat(runner.read(ModelConsumer::commits)).isEqualTo(1);
    }

    @Test
    @Tag("volume")
    void theEndOfALeaseOfTwoHundredThousandKeysIsOneCommit() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("leased/"));
        long lease = fixture.client().grantLease(600);
        fixture.client().fill("leased/", 200_000, bytes("v"), lease);
        FeedRunner runner = fixture.run(range);
        runner.awaitRevision(fixture.client().revision(), PATIENCE);
        assertThat(runner.state()).hasSize(200_000).allSatisfy(entry -> assertThat(entry.lease())
                .isEqualTo(lease));

        fixture.client().revokeLease(lease);
        runner.awaitRevision(fixture.client().revision(), PATIENCE);

        assertThat(runner.state()).isEmpty();
        assertThat(runner.read(ModelConsumer::commits)).isEqualTo(1);
    }

    @Test
    void valuesThatTotalAlmostTheRequestLimitArriveWhole() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("large/"));
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(feed, model, new Revision(1));

        Revision written = fixture.client().fill("large/", 14, ByteString.copyFrom(new byte[100_000]), 0);
        pollTo(feed, model, written);

        assertThat(model.commits()).isEqualTo(1);
        assertThat(model.state()).isEqualTo(fixture.client().read(range, written));
    }

    @Test
    void aTransactionOf128OperationsIsOneCommit() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("txn/"));
        Feed feed = fixture.feed(range, FeedKind.STATE, null, EtcdFeedOptions.DEFAULTS);
        ModelConsumer model = new ModelConsumer(range);
        pollTo(feed, model, new Revision(1));

        Revision written = fixture.client().fill("txn/", 128, bytes("value"), 0);
        pollTo(feed, model, written);

        assertThat(model.commits()).isEqualTo(1);
        assertThat(model.state()).hasSize(128);
    }

    @ParameterizedTest
    @EnumSource
    void aSnapshotReplacesACommitAboveTheLimit(FeedKind kind) throws Exception {
        KeyRange range = KeyRange.prefix(bytes("limit/"));
        EtcdFeedOptions options = Binder.with(EtcdFeedOptions.DEFAULTS, "maxCommitBytes", 10_000L);
        fixture.client().put("limit/first", "value");
        ModelConsumer model = new ModelConsumer(range);
        FeedRunner runner = fixture.run(fixture.feed(range, kind, null, options), model);
        runner.awaitRevision(fixture.client().put("limit/0", "before"), PATIENCE);
        assertThat(model.snapshots()).isEqualTo(1);

        Revision large = fixture.client().fill("limit/", 20, ByteString.copyFrom(new byte[1_000]), 0);
        runner.awaitRevision(large, PATIENCE);

        assertThat(model.replaced()).isEqualTo(large);
        assertThat(model.snapshots()).isEqualTo(2);
        assertThat(runner.state()).isEqualTo(fixture.client().read(range, large));

        long commits = model.commits();
        runner.awaitRevision(fixture.client().put("limit/0", "after"), PATIENCE);
        assertThat(model.commits()).isEqualTo(commits + 1);
        assertThat(model.snapshots()).isEqualTo(2);
        fixture.assertEqual(runner, range);
    }

    /** Only a watch with fragments takes it for large. */
    @Test
    void aCommitThatTheSecondVerificationDeliversIsReplacedByNoSnapshot() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("again/"));
        KeyRange names = KeyRange.prefix(bytes("again/n"));
        EtcdFeedOptions options = Binder.with(EtcdFeedOptions.DEFAULTS, "catchUpRevisions", 100L);
        fixture.client().fill("again/n" + "n".repeat(1_000), 9_000, ByteString.EMPTY, 0);
        ModelConsumer first = new ModelConsumer(range);
        try (Feed feed = fixture.feed(range, FeedKind.STATE, null, options)) {
            pollTo(feed, first, fixture.client().put("again/0", "before"));
        }
        Revision before = Revision.ZERO;
        for (int i = 0; i < 50; i++) {
            before = fixture.client().put(bytes("again/" + i), ByteString.copyFrom(new byte[1_400_000]), 0);
        }
        Revision large = fixture.client().delete(names);

        AtomicLong now = new AtomicLong();
        ModelConsumer model = first.restarted();
        Feed feed = fixture.feed(range, FeedKind.STATE, first.position(), options, now::get);
        pollTo(feed, model, before);
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
            // One step of the feed; the source takes longer than a verified history stays valid.
            now.addAndGet(Duration.ofSeconds(6).toNanos());
            boolean unused = feed.poll(Duration.ZERO, model);
            return !model.position().revision().isBefore(large);
        });
        assertThat(model.commits()).isEqualTo(51);
        assertThat(model.snapshots()).isZero();

        source.cluster().leader().restart();
        Revision last = Revision.ZERO;
        for (int i = 0; i < 150; i++) {
            last = fixture.client().put("again/0", "after " + i);
        }
        pollTo(feed, model, last);
        assertThat(model.snapshots()).isEqualTo(1);
        assertThat(model.isRecognised()).isTrue();
        assertThat(model.replaced()).isNull();
    }

    @Test
    void aResumedHistoryIsReportedBeforeACommitAboveTheLimit() throws Exception {
        KeyRange range = KeyRange.prefix(bytes("resumed/"));
        EtcdFeedOptions options = Binder.with(EtcdFeedOptions.DEFAULTS, "maxCommitBytes", 10_000L);
        ModelConsumer model = new ModelConsumer(range);
        try (Feed feed = fixture.feed(range, FeedKind.HISTORY, null, options)) {
            pollTo(feed, model, fixture.client().put("resumed/0", "before"));
        }
        Revision large = fixture.client().fill("resumed/", 20, ByteString.copyFrom(new byte[1_000]), 0);

        ModelConsumer resumed = model.restarted();
        Feed feed = fixture.feed(range, FeedKind.HISTORY, model.position(), options);
        assertThat(feed.poll(PATIENCE, resumed)).isTrue();
        assertThat(resumed.position()).isEqualTo(model.position());
        assertThat(resumed.snapshots()).isZero();
        pollTo(feed, resumed, large);
        assertThat(resumed.replaced()).isEqualTo(large);
    }

    /** The large commit is the last one, where a feed looks for an anchor or begins its history. */
    @ParameterizedTest
    @EnumSource
    void aFeedStartsBehindACommitAboveTheLimit(FeedKind kind) throws Exception {
        KeyRange range = KeyRange.prefix(bytes("start/"));
        EtcdFeedOptions options = Binder.with(EtcdFeedOptions.DEFAULTS, "maxCommitBytes", 10_000L);
        fixture.client().put("start/0", "before");
        Revision large = fixture.client().fill("start/", 20, ByteString.copyFrom(new byte[1_000]), 0);

        FeedRunner runner = fixture.run(fixture.feed(range, kind, null, options), new ModelConsumer(range));
        runner.awaitRevision(large, PATIENCE);
        assertThat(runner.state()).isEqualTo(fixture.client().read(range, large));

        runner.awaitRevision(fixture.client().delete(range), PATIENCE);
        assertThat(runner.state()).isEmpty();
    }
}
