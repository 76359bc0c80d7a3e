package io.understudy.gateway.watch;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.hub.Watcher;
import io.understudy.gateway.hub.Watcher.WatchSpec;
import io.understudy.gateway.hub.Watcher.WatcherListener;
import io.understudy.gateway.permission.Rechecks;
import io.understudy.vocabulary.KeyRange;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One watcher of a {@link WatchStream}. On the event loop of the client's connection. */
abstract class StreamWatcher implements Rechecks.Listener {

    private final WatchStream stream;
    private final long id;
    private final KeyRange range;
    private Rechecks.@Nullable Permit permit;

    StreamWatcher(WatchStream stream, long id, KeyRange range) {
        this.stream = stream;
        this.id = id;
        this.range = range;
    }

    WatchStream stream() {
        return stream;
    }

    long id() {
        return id;
    }

    /** Continues after {@link #ready} was false. */
    abstract void resume();

    /** Ends the source of its events. */
    abstract void endSource();

    /** Sends a progress notification if one is due. */
    abstract void tick();

    /** Answers a client's progress request for this watcher alone. */
    abstract void progress();

    public boolean ready() {
        if (permit != null && permit.isInDoubt()) {
            return false;
        }
        boolean ready = !stream.isHeldFor(this) && stream.output().ready();
        if (!ready) {
            stream.park();
        }
        return ready;
    }

    void recheck() {
        if (permit == null) {
            permit = stream.recheck(range, this);
        }
    }

    @Override
    public void settled() {
        if (!stream.isOver()) {
            resume();
        }
    }

    @Override
    public void revoked(ApiException why) {
        if (stream.isOver()) {
            return;
        }
        if (why.code() == Status.Code.PERMISSION_DENIED
                || why.text().equals(ApiException.userNameEmpty().text())) {
            cancel(WatchStream.longForm(why));
        } else {
            // The permission is unknown, or the token is invalid: the client resumes, and authenticates if it has to.
            stream.end(new ApiException(Status.Code.UNAVAILABLE, why.text()));
        }
    }

    void cancel(String reason) {
        stream.remove(id);
        stop();
        stream.cancelled(this, reason);
    }

    void stop() {
        endSource();
        if (permit != null) {
            permit.end();
        }
    }

    /** A watcher of keys that the replica holds. */
    static final class ServedWatch extends StreamWatcher implements WatcherListener {
        private final WatchStream stream;
        private final WatchLoop loop;
        private final WatchOutput output;
        private final Caller caller;
        private final long id;
        private final WatchSpec spec;
        private final boolean fragments;
        private final boolean notifies;
        private @Nullable Watcher watcher;
        /** Whether its first events have no previous entries, which the source has compacted. */
        private boolean lacksPrevious;
        /** Whether nothing was sent since the last tick. */
        private boolean quiet = true;

        ServedWatch(
                WatchStream stream,
                WatchLoop loop,
                WatchOutput output,
                Caller caller,
                long id,
                WatchSpec spec,
                boolean fragments,
                boolean notifies) {
            super(stream, id, spec.range());
            this.stream = stream;
            this.loop = loop;
            this.output = output;
            this.caller = caller;
            this.id = id;
            this.spec = spec;
            this.fragments = fragments;
            this.notifies = notifies;
        }

        void begin() {
            lacksPrevious = loop.hub().lacksPrevious(spec);
            watcher = loop.hub().add(spec, this);
        }

        @Override
        public void events(EventBatch shared) {
            EventBatch batch = lacksPrevious ? shared.withoutPrevious(spec.startRevision()) : shared;
            lacksPrevious = false;
            quiet = false;
            caller.session().answered(batch.revision());
            try {
                if (fragments) {
                    sendFragments(batch);
                } else {
                    output.events(id, batch, 0, batch.events().size(), false);
                }
            } catch (ArithmeticException e) {
                // The message is larger than 2 GiB.
                stream.end(new ApiException(
                        Status.Code.RESOURCE_EXHAUSTED, "grpc: trying to send message larger than max"));
            } finally {
                stream.flushLater();
            }
        }

        @Override
        public void failed(Throwable why) {
            stream.end(new ApiException(Status.Code.INTERNAL, "understudy: " + why));
        }

        @Override
        public void unreadable(String why) {
            if (!stream.isOver()) {
                cancel("understudy: " + why);
            }
        }

        @Override
        public void compacted(long compactRevision) {
            // As in etcd: it keeps its ID, without progress, until the client cancels it.
            stream.send(WatchControl.compacted(id, compactRevision));
        }

        private void sendFragments(EventBatch batch) {
            int[] ends = batch.ends();
            long most = loop.watches().maxMessageBytes();
            int besides = WatchMessage.size(loop.headers().of(batch.revision()), id, false);
            int count = ends.length;
            int first = 0;
            if (Fragments.needed(ends, besides, most)) {
                int end = Fragments.end(ends, first, besides, most);
                while (end < count && !stream.isOver()) {
                    output.events(id, batch, first, end, true);
                    first = end;
                    end = Fragments.end(ends, first, besides, most);
                }
            }
            if (!stream.isOver()) {
                output.events(id, batch, first, count, false);
            }
        }

        boolean isSynced() {
            return watcher().isSynced();
        }

        /** The revision up to which all events were delivered, if it is synced. */
        long revision() {
            return watcher().revision();
        }

        @Override
        void resume() {
            watcher().resume();
        }

        @Override
        void endSource() {
            watcher().cancel();
        }

        @Override
        void progress() {
            if (isSynced()) {
                stream.send(WatchControl.progress(revision(), id));
            }
        }

        private Watcher watcher() {
            return Objects.requireNonNull(watcher);
        }

        @Override
        void tick() {
            if (notifies && !stream.isOver()) {
                if (quiet && isSynced() && output.ready() && !stream.isHeldFor(this)) {
                    stream.send(WatchControl.progress(revision(), id));
                }
                quiet = true;
            }
        }

        /** Splits responses that are too large, as etcd does ({@code sendFragments} in {@code v3rpc/watch.go}). */
        private static final class Fragments {

            /** {@code WatchResponse.fragment}, set. */
            private static final int MARK_BYTES = 2;

            private Fragments() {}

            /** Whether to split. {@code besides} is the size of a response without events, {@code ends} where each ends. */
            static boolean needed(int[] ends, long besides, long maxBytes) {
                return ends.length >= 2 && besides + ends[ends.length - 1] >= maxBytes;
            }

            /** The end, exclusive, of the fragment that begins with event {@code first}: one event at least. */
            static int end(int[] ends, int first, long besides, long maxBytes) {
                long start = first == 0 ? 0 : ends[first - 1];
                int end = first + 1;
                while (end < ends.length && besides + MARK_BYTES + ends[end] - start < maxBytes) {
                    end++;
                }
                return end;
            }
        }
    }
}
