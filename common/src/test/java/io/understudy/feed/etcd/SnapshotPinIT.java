package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.config.Binder;
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
 * Use of a read index that was prefetched.
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
    void aPrefetchIsUsedAtThePositionOfTheConsumer() throws Exception {
        Revision before = fixture.client().put("key", "before");
        SnapshotPin pin = pin(EtcdFeedOptions.DEFAULTS);
        pin.prefetch(() -> true);
        awaitPrefetch();
        fixture.client().put("key", "after");

        ReadIndex pinned = found(pin, before);

        assertThat(pinned.revision()).isEqualTo(before);
    }

    @Test
    void itProvesNoOtherHistory_whereTheConsumerHasComeFurtherSince() throws Exception {
        fixture.client().put("key", "before");
        SnapshotPin pin = pin(EtcdFeedOptions.DEFAULTS);
        pin.prefetch(() -> true);
        awaitPrefetch();
        Revision after = fixture.client().put("key", "after");

        ReadIndex pinned = found(pin, after);

        assertThat(pinned.revision()).isEqualTo(after);
    }

    @Test
    void anOldPrefetchIsRequestedAgain() throws Exception {
        Revision before = fixture.client().put("key", "before");
        EtcdFeedOptions hasty = Binder.with(EtcdFeedOptions.DEFAULTS, "requestTimeout", Duration.ofSeconds(1));
        SnapshotPin pin = pin(hasty);
        pin.prefetch(() -> true);
        awaitPrefetch();
        long sent = System.nanoTime();
        Revision after = fixture.client().put("key", "after");
        await().atMost(FeedFixture.PATIENCE)
                .until(() -> System.nanoTime() - sent > hasty.requestTimeout().toNanos());

        ReadIndex pinned = found(pin, before);

        assertThat(pinned.revision()).isEqualTo(after);
    }

    @Test
    void pagesOfAPrefetchAreReadAhead() throws Exception {
        Revision before = fixture.client().put("key", "before");
        SnapshotPin pin = pin(EtcdFeedOptions.DEFAULTS);
        long rangesBefore = ranges();
        pin.prefetch(() -> true);
        // The present, and the one page.
        await().atMost(FeedFixture.PATIENCE).until(() -> ranges() - rangesBefore >= 2);

        SnapshotReader reader = pin.read(found(pin, before));

        await().atMost(FeedFixture.PATIENCE).until(reader::isRead);
        assertThat(reader.next(FeedFixture.PATIENCE).entries()).isNotEmpty();
        assertThat(ranges() - rangesBefore).isEqualTo(2);
    }

    @Test
    void itIsNotRead_whereThatIsNotWantedOrItIsForgotten() throws Exception {
        Revision before = fixture.client().put("key", "before");
        long rangesBefore = ranges();
        SnapshotPin unread = pin(EtcdFeedOptions.DEFAULTS);
        unread.prefetch(() -> false);
        SnapshotPin forgotten = pin(EtcdFeedOptions.DEFAULTS);
        forgotten.prefetch(() -> true);
        forgotten.forget();

        await().atMost(FeedFixture.PATIENCE).until(() -> ranges() - rangesBefore == 2);
        await().during(Duration.ofMillis(300)).atMost(FeedFixture.PATIENCE).until(() -> ranges() - rangesBefore == 2);
        assertThat(found(forgotten, before).revision()).isEqualTo(before);
    }

    private static long ranges() throws IOException, InterruptedException {
        return MemberMetrics.ranges(source.cluster().voters());
    }

    private SnapshotPin pin(EtcdFeedOptions options) {
        return new SnapshotPin(fixture.source(), KeyRange.all(), options, new Backoff());
    }

    private void awaitPrefetch() {
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
