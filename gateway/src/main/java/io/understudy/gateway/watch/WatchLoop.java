package io.understudy.gateway.watch;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.hub.LoopHub;
import io.understudy.gateway.permission.Rechecks;
import io.understudy.gateway.server.MessageCall;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The streams of one event loop. Confined to that loop. */
final class WatchLoop {

    private static final long CHECK_MILLIS = 500;
    /** Interval of progress requests while streams wait: the answer to one may be from before the revision. */
    private static final long PROGRESS_MILLIS = 20;

    private final EventExecutor loop;
    private final Watches watches;
    private final LoopHub hub;
    private final WatchHeaders headers;
    private final Set<WatchStream> streams = new HashSet<>();
    private final Set<WatchStream> requiringLeader = new HashSet<>();
    private final List<WatchStream> unflushed = new ArrayList<>();
    private final Set<WatchStream> waiting = new HashSet<>();
    private final SharedEvents shared = new SharedEvents();
    private @Nullable ScheduledFuture<?> checks;
    private @Nullable ScheduledFuture<?> progress;
    private final Rechecks rechecks;

    WatchLoop(EventExecutor loop, Watches watches, LoopHub hub, WatchHeaders headers) {
        this.loop = loop;
        this.watches = watches;
        this.hub = hub;
        this.headers = headers;
        // Not when first needed: timers and tasks of the hub run outside a context.
        this.rechecks = new Rechecks(watches.permissions(), watches.revocations());
    }

    Watches watches() {
        return watches;
    }

    LoopHub hub() {
        return hub;
    }

    WatchHeaders headers() {
        return headers;
    }

    ScheduledFuture<?> after(long nanos, Runnable task) {
        return loop.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    void opened(WatchStream stream, boolean requiresLeader) {
        streams.add(stream);
        if (checks == null) {
            checks = loop.scheduleAtFixedRate(this::check, CHECK_MILLIS, CHECK_MILLIS, TimeUnit.MILLISECONDS);
        }
        if (requiresLeader) {
            requiringLeader.add(stream);
        }
    }

    void closed(WatchStream stream) {
        streams.remove(stream);
        requiringLeader.remove(stream);
        if (streams.isEmpty() && checks != null) {
            checks.cancel(false);
            checks = null;
        }
    }

    /** Requests progress as long as the stream is {@linkplain WatchStream#isWaiting waiting}. */
    void awaitsRevision(WatchStream stream) {
        waiting.add(stream);
        watches.requestProgress();
        if (progress == null) {
            progress = loop.scheduleAtFixedRate(
                    this::requestProgress, PROGRESS_MILLIS, PROGRESS_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void requestProgress() {
        waiting.removeIf(stream -> !stream.isWaiting());
        if (!waiting.isEmpty()) {
            watches.requestProgress();
        } else if (progress != null) {
            progress.cancel(false);
            progress = null;
        }
    }

    /** Flushes the stream at the end of the hub's turn. */
    void flushLater(WatchStream stream) {
        unflushed.add(stream);
        if (unflushed.size() == 1) {
            hub.afterwards(this::flush);
        }
    }

    private void flush() {
        List<WatchStream> all = List.copyOf(unflushed);
        unflushed.clear();
        // Each stream holds its own reference.
        shared.forget();
        all.forEach(WatchStream::flush);
    }

    /** Returns the events as bytes, shared by all streams of the loop. Read-only, valid until the end of the turn. */
    ByteBuf eventsOf(EventBatch batch, ByteBufAllocator allocator) {
        return shared.eventsOf(batch, allocator);
    }

    /** As {@link #eventsOf}: the framed message for a watcher of id 0. */
    ByteBuf messageOf(EventBatch batch, ByteBufAllocator allocator) {
        return shared.messageOf(batch, headers, allocator);
    }

    /** Ends all streams. */
    void end(ApiException why) {
        List.copyOf(streams).forEach(stream -> stream.end(why));
    }

    /** Rechecks periodically whether the range may still be read; null if not required. */
    Rechecks.@Nullable Permit recheck(Caller caller, KeyRange range, Rechecks.Listener listener) {
        if (!watches.permissions().areRechecked()) {
            return null;
        }
        return rechecks.begin(caller.principal(), new Permission.Read(range.etcdKey(), range.etcdRangeEnd()), listener);
    }

    private void check() {
        if (watches.permissions().areRechecked()) {
            // Some were opened before permissions were enforced.
            streams.forEach(WatchStream::recheck);
        }
        ApiException problem = watches.problem();
        if (problem != null) {
            List.copyOf(requiringLeader).forEach(stream -> stream.end(problem));
            // Another gateway may have the revision.
            List.copyOf(streams).stream()
                    .filter(WatchStream::isWaiting)
                    .forEach(stream -> stream.end(ApiException.timedOut()));
        }
    }

    /** The bytes of the batch that a loop delivers, encoded once. Confined to that loop. */
    private static final class SharedEvents {

        private @Nullable EventBatch batch;
        private @Nullable ByteBuf events;
        private @Nullable ByteBuf message;

        ByteBuf eventsOf(EventBatch wanted, ByteBufAllocator allocator) {
            turnTo(wanted);
            if (events == null) {
                byte[] bytes = wanted.encoded();
                events = allocator.directBuffer(bytes.length).writeBytes(bytes);
            }
            return events;
        }

        ByteBuf messageOf(EventBatch wanted, WatchHeaders headers, ByteBufAllocator allocator) {
            turnTo(wanted);
            if (message == null) {
                byte[] header = headers.of(wanted.revision());
                byte[] bytes = wanted.encoded();
                int size = WatchMessage.size(header, 0, false) + bytes.length;
                ByteBuf made = allocator.directBuffer(MessageCall.PREFIX_BYTES + size);
                MessageCall.prefix(made, size);
                WatchMessage.write(made, header, 0, false);
                message = made.writeBytes(bytes);
            }
            return message;
        }

        void forget() {
            batch = null;
            if (events != null) {
                events.release();
                events = null;
            }
            if (message != null) {
                message.release();
                message = null;
            }
        }

        @SuppressWarnings("ReferenceEquality") // It has no other identity.
        private void turnTo(EventBatch wanted) {
            if (batch != wanted) {
                forget();
                batch = wanted;
            }
        }
    }
}
