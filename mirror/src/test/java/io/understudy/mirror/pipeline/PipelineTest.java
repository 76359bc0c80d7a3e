package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.active.Standing;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A fenced sink is the end of a mirror only if this process was the active one all the time. */
final class PipelineTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final AtomicLong activation = new AtomicLong(1);
    private final AtomicInteger opened = new AtomicInteger();

    @Test
    void goesOnAfterItsSinkWasFencedByOneThatWasActiveInBetween() {
        try (Pipeline pipeline = start(activation::incrementAndGet)) {
            await().atMost(PATIENCE).until(() -> opened.get() >= 2);
            assertThat(pipeline.failure()).isNotDone();
        }
    }

    @Test
    void endsWhenItsSinkIsFencedThoughNobodyElseMayBeActive() {
        try (Pipeline pipeline = start(() -> {})) {
            assertThat(pipeline.failure()).succeedsWithin(PATIENCE);
        }
        assertThat(opened).hasValue(1);
    }

    private Pipeline start(Runnable whileOpening) {
        MirrorPlan plan = new MirrorPlan(
                "dr",
                KeyRange.all(),
                FeedKind.STATE,
                "source",
                (range, kind, from) -> {
                    throw new IllegalStateException("no sink was opened");
                },
                CompletableFuture::new,
                true,
                PATIENCE,
                CompletableFuture::new,
                "target",
                new Role(),
                listener -> new FencedSink(whileOpening));
        return Pipeline.start(plan, new SimpleMeterRegistry());
    }

    private final class Role implements ActiveRole {
        @Override
        public Standing standing() {
            return new Standing.Active();
        }

        @Override
        public void awaitChange(Standing seen, Duration atMost) {}

        @Override
        public long activation() {
            return activation.get();
        }

        @Override
        public boolean isConfirmed(long since) {
            return activation.get() == since;
        }

        @Override
        public void close() {}
    }

    private final class FencedSink implements Sink {
        private final Runnable whileOpening;

        FencedSink(Runnable whileOpening) {
            this.whileOpening = whileOpening;
        }

        @Override
        public @Nullable Position open() {
            opened.incrementAndGet();
            whileOpening.run();
            throw new SinkException.Fenced("fenced");
        }

        @Override
        public void sourceReset(FeedEndedException why) {}

        @Override
        public void snapshotStarted(ClusterId cluster, Revision revision) {}

        @Override
        public void snapshotPage(KeyRange covered, List<KeyValue> entries) {}

        @Override
        public void snapshotCompleted(Position position) {}

        @Override
        public void commit(Commit commit, Position position) {}

        @Override
        public void progress(Position position) {}

        @Override
        public Duration pause() {
            return Duration.ZERO;
        }

        @Override
        public void caughtUp() {}

        @Override
        public void settle() {}

        @Override
        public @Nullable Checkpoint checkpoint() {
            return null;
        }

        @Override
        public Revision complete() {
            return Revision.ZERO;
        }

        @Override
        public void close() {}
    }
}
