package io.understudy.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.hub.Watcher.WatchEvent;
import io.understudy.gateway.hub.Watcher.WatchSpec;
import io.understudy.gateway.hub.Watcher.WatcherListener;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.KeptVersions;
import io.understudy.gateway.replica.LoggedCommit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How batches are encoded: as a whole, or event by event if they are large. */
final class EventBatchTest {

    private static final int FILTERS = 50;

    /** What one pass may encode at once, and one small batch for each filter. */
    private static final long MOST_BYTES = (4 << 20) + FILTERS * (64L << 10);

    @Test
    void theEncodingOfEachEventIsItsPartOfTheWhole() {
        Entry small = entry("a", 0, 1);
        Entry large = entry("b", 100_000, 2);
        Entry deleted = entry("c", 0, 0);
        List<WatchEvent> events = List.of(
                new WatchEvent(small, null),
                new WatchEvent(large, small),
                new WatchEvent(large, large),
                new WatchEvent(deleted, null),
                new WatchEvent(deleted, large));
        EventBatch whole = new EventBatch(9, events, false, end -> () -> {});
        EventBatch streamed = new EventBatch(9, events, true, end -> () -> {});

        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (int i = 0; i < events.size(); i++) {
            streamed.encoded(i).forEach(joined::writeBytes);
            assertThat(joined.size()).isEqualTo(streamed.ends()[i]);
        }

        assertThat(joined.toByteArray()).isEqualTo(whole.encoded());
        assertThatThrownBy(streamed::encoded).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aLargeCommitIsNotEncodedAsAWholeForEachFilter() {
        List<EventBatch> whole = new ArrayList<>();
        List<EventBatch> streamed = new ArrayList<>();
        CommitLog log = new CommitLog();
        log.begin(1);
        HubSource source = new HubSource();
        Queue<Runnable> tasks = new ArrayDeque<>();
        try (WatchHub hub = new WatchHub(
                HubSettings.DEFAULTS,
                log,
                new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
                source,
                source,
                new SimpleMeterRegistry())) {
            LoopHub loop = hub.on(tasks::add);
            loop.turn();
            for (int i = 0; i < FILTERS; i++) {
                KeyRange range = KeyRange.ofEtcd(ByteString.copyFromUtf8("a"), ByteString.copyFromUtf8("z" + i));
                for (int twice = 0; twice < 2; twice++) {
                    Watcher unused = loop.add(
                            new WatchSpec(range, 0, false, false, false),
                            new Receiver(batch -> (batch.isStreamed() ? streamed : whole).add(batch)));
                }
            }

            log.add(new LoggedCommit(
                    new Revision(2),
                    IntStream.range(0, 20)
                            .mapToObj(i -> entry("key-" + i, 100_000, 1))
                            .toList(),
                    key -> null));
            hub.wake();
            while (!tasks.isEmpty()) {
                tasks.remove().run();
            }

            assertThat(whole.size() + streamed.size()).isEqualTo(2 * FILTERS);
            // The first are shared by their watchers.
            assertThat(whole).isNotEmpty();
            assertThat(whole.stream()
                            .distinct()
                            .mapToLong(batch -> batch.encoded().length)
                            .sum())
                    .isLessThan(MOST_BYTES);
        }
    }

    private record Receiver(Consumer<EventBatch> taker) implements WatcherListener {
        @Override
        public boolean ready() {
            return true;
        }

        @Override
        public void events(EventBatch batch) {
            taker.accept(batch);
        }

        @Override
        public void failed(Throwable why) {
            throw new AssertionError(why);
        }

        @Override
        public void compacted(long compactRevision) {
            throw new AssertionError("compacted at " + compactRevision);
        }
    }

    private static Entry entry(String key, int bytes, long version) {
        return Entry.of(new KeyValue(
                ByteString.copyFromUtf8(key),
                ByteString.copyFrom(new byte[bytes]),
                new Revision(version == 0 ? 0 : 1),
                new Revision(2),
                version,
                0));
    }
}
