package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.etcd.ReadIndex;
import io.understudy.feed.FeedEndedException;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What may be made of a present that was asked for before it was needed.
 *
 * <p>Tests invariant F12.
 */
@Timeout(180)
class SnapshotPinIT {

    @RegisterExtension
    static final EtcdExtension source = EtcdExtension.voters(1).named("pin");

    private static final Duration POLL = Duration.ofMillis(200);

    private FeedFixture fixture;
    private ClusterId cluster;

    @BeforeEach
    void open() {
        fixture = new FeedFixture(source.cluster());
        await().atMost(FeedFixture.PATIENCE).until(() -> fixture.source().view().clusterId() != null);
        cluster = fixture.source().view().clusterId();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void itIsPinned_whereTheConsumerStandsNoFurther() throws Exception {
        Revision before = fixture.client().put("key", "before");
        SnapshotPin pin = pin(EtcdFeedOptions.DEFAULTS);
        pin.ask(() -> true);
        awaitAsked();
        fixture.client().put("key", "after");

        ReadIndex pinned = found(pin, before);

        assertThat(pinned.revision()).isEqualTo(before);
    }

    @Test
    void itProvesNoOtherHistory_whereTheConsumerHasComeFurtherSince() throws Exception {
        fixture.client().put("key", "before");
        SnapshotPin pin = pin(EtcdFeedOptions.DEFAULTS);
        pin.ask(() -> true);
        awaitAsked();
        Revision after = fixture.client().put("key", "after");

        ReadIndex pinned = found(pin, after);

        assertThat(pinned.revision()).isEqualTo(after);
    }

    @Test
    void itIsAskedForAnew_whenItHasGrownOld() throws Exception {
        Revision before = fixture.client().put("key", "before");
        EtcdFeedOptions hasty = EtcdFeedOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(1));
        SnapshotPin pin = pin(hasty);
        pin.ask(() -> true);
        awaitAsked();
        long sent = System.nanoTime();
        Revision after = fixture.client().put("key", "after");
        await().atMost(FeedFixture.PATIENCE)
                .until(() -> System.nanoTime() - sent > hasty.requestTimeout().toNanos());

        ReadIndex pinned = found(pin, before);

        assertThat(pinned.revision()).isEqualTo(after);
    }

    @Test
    void itsPagesHaveComeBeforeAnybodyLooks() throws Exception {
        Revision before = fixture.client().put("key", "before");
        SnapshotPin pin = pin(EtcdFeedOptions.DEFAULTS);
        long asked = ranges();
        pin.ask(() -> true);
        // The present, and the one page.
        await().atMost(FeedFixture.PATIENCE).until(() -> ranges() - asked >= 2);

        SnapshotReader reader = pin.read(found(pin, before));

        await().atMost(FeedFixture.PATIENCE).until(reader::isRead);
        assertThat(reader.next(FeedFixture.PATIENCE).entries()).isNotEmpty();
        assertThat(ranges() - asked).isEqualTo(2);
    }

    @Test
    void itIsNotRead_whereThatIsNotWantedOrItIsForgotten() throws Exception {
        Revision before = fixture.client().put("key", "before");
        long asked = ranges();
        SnapshotPin unread = pin(EtcdFeedOptions.DEFAULTS);
        unread.ask(() -> false);
        SnapshotPin forgotten = pin(EtcdFeedOptions.DEFAULTS);
        forgotten.ask(() -> true);
        forgotten.forget();

        await().atMost(FeedFixture.PATIENCE).until(() -> ranges() - asked == 2);
        await().during(Duration.ofMillis(300)).atMost(FeedFixture.PATIENCE).until(() -> ranges() - asked == 2);
        assertThat(found(forgotten, before).revision()).isEqualTo(before);
    }

    private static long ranges() throws IOException, InterruptedException {
        return MemberMetrics.ranges(source.cluster().voters());
    }

    private SnapshotPin pin(EtcdFeedOptions options) {
        return new SnapshotPin(fixture.source(), KeyRange.all(), options, new Backoff());
    }

    private void awaitAsked() {
        await().atMost(FeedFixture.PATIENCE)
                .until(() -> fixture.source().lastReadIndex().isPresent());
    }

    private ReadIndex found(SnapshotPin pin, Revision standing) throws FeedEndedException, InterruptedException {
        Position position = new Position(cluster, standing, null);
        long deadline = System.nanoTime() + FeedFixture.PATIENCE.toNanos();
        ReadIndex pinned = null;
        while (pinned == null && System.nanoTime() < deadline) {
            pinned = pin.look(position, POLL);
        }
        assertThat(pinned).isNotNull();
        return pinned;
    }
}
