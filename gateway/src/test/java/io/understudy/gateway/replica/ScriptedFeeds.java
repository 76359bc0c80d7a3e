package io.understudy.gateway.replica;

import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedSource;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A source with scripted feeds: those that resume a history, and the others. */
public final class ScriptedFeeds implements FeedSource {

    /** One event, or the end. */
    @FunctionalInterface
    public interface Event {
        void give(FeedConsumer consumer) throws FeedEndedException;
    }

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final BlockingQueue<Event> resumedEvents = new LinkedBlockingQueue<>();
    final List<Position> resumedAt = new CopyOnWriteArrayList<>();
    final List<KeyRange> opened = new CopyOnWriteArrayList<>();
    final AtomicInteger progressRequests = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();

    public void next(Event event) {
        events.add(event);
    }

    /** Adds an event of a feed that is opened at a position. */
    void nextResumed(Event event) {
        resumedEvents.add(event);
    }

    @Override
    public Feed open(KeyRange range, FeedKind kind, @Nullable FeedStart start) {
        Position resumeAt = start instanceof Position position ? position : null;
        opened.add(range);
        BlockingQueue<Event> script = resumeAt == null ? events : resumedEvents;
        if (resumeAt != null) {
            resumedAt.add(resumeAt);
        }
        return new Feed() {
            @Override
            public boolean poll(Duration timeout, FeedConsumer consumer)
                    throws FeedEndedException, InterruptedException {
                Event event = script.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
                if (event == null) {
                    return false;
                }
                event.give(consumer);
                return true;
            }

            @Override
            public void requestProgress() {
                progressRequests.incrementAndGet();
            }

            @Override
            public void close() {
                closed.incrementAndGet();
            }
        };
    }
}
