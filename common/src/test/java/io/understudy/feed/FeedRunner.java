package io.understudy.feed;

import static org.awaitility.Awaitility.await;

import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Drives a model from a feed on a thread of its own, until closed or the feed ends. */
public final class FeedRunner implements AutoCloseable {

    private final Feed feed;
    private final ModelConsumer model;
    private final Thread thread;
    private volatile boolean stopping;
    private volatile @Nullable Throwable failure;

    public FeedRunner(Feed feed, ModelConsumer model) {
        this.feed = feed;
        this.model = model;
        this.thread = new Thread(this::run, "feed-runner");
        this.thread.setDaemon(true);
        this.thread.start();
    }

    private void run() {
        try {
            while (!stopping) {
                feed.poll(Duration.ofMillis(100), model);
            }
        } catch (Throwable e) {
            if (!stopping) {
                failure = e;
            }
        }
    }

    /** Waits until the model is at {@code revision} or later. */
    public void awaitRevision(Revision revision, Duration timeout) {
        await().atMost(timeout).pollInterval(Duration.ofMillis(20)).until(() -> {
            requireRunning();
            Position position = read(ModelConsumer::position);
            return position != null && !position.revision().isBefore(revision);
        });
    }

    /** Waits for the feed's end and gives its reason. */
    public Throwable awaitEnd(Duration timeout) {
        return await().atMost(timeout).until(() -> failure, ended -> ended != null);
    }

    public <T> T read(Function<ModelConsumer, T> query) {
        return query.apply(model);
    }

    public List<KeyValue> state() {
        return read(ModelConsumer::state);
    }

    private void requireRunning() {
        Throwable failed = failure;
        if (failed != null) {
            throw new AssertionError("the feed failed", failed);
        }
    }

    /** Stops the thread and closes the feed. */
    @Override
    public void close() {
        stopping = true;
        feed.close();
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
