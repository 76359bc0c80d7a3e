package io.understudy.gateway.watch;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.hub.EventBatch.EncodedEvents;
import io.understudy.gateway.hub.WatchSpec;
import io.understudy.gateway.hub.Watcher;
import io.understudy.gateway.hub.WatcherListener;
import io.understudy.gateway.permission.Rechecks;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One watcher of a {@link WatchStream}. On the event loop of the client's connection. */
final class ServedWatch implements WatcherListener, Rechecks.Told {
    private final WatchStream stream;
    private final WatchLoop loop;
    private final WatchOutput output;
    private final Caller caller;
    private final long id;
    private final boolean fragments;
    private final boolean notifies;
    private @Nullable Watcher watcher;
    private Rechecks.@Nullable Permit permit;
    /** Whether nothing was told since the last tick. */
    private boolean quiet = true;

    ServedWatch(
            WatchStream stream,
            WatchLoop loop,
            WatchOutput output,
            Caller caller,
            long id,
            boolean fragments,
            boolean notifies) {
        this.stream = stream;
        this.loop = loop;
        this.output = output;
        this.caller = caller;
        this.id = id;
        this.fragments = fragments;
        this.notifies = notifies;
    }

    void begin(WatchSpec spec) {
        watcher = loop.hub().add(spec, this);
    }

    @Override
    public boolean ready() {
        if (permit != null && permit.isInDoubt()) {
            return false;
        }
        boolean ready = output.ready();
        if (!ready) {
            stream.park();
        }
        return ready;
    }

    void recheck() {
        if (permit == null) {
            permit = loop.recheck(caller, watcher().spec().range(), this);
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
            // Nobody could tell, or not by this token: the client resumes, and authenticates again if it has to.
            stream.end(new ApiException(Status.Code.UNAVAILABLE, why.text()));
        }
    }

    @Override
    public void events(EventBatch batch) {
        quiet = false;
        caller.session().answered(batch.revision());
        try {
            if (fragments) {
                tellInFragments(batch);
            } else {
                output.events(id, batch, 0, batch.events().size(), false);
            }
        } catch (ArithmeticException e) {
            // Events are encoded together.
            stream.end(
                    new ApiException(Status.Code.RESOURCE_EXHAUSTED, "grpc: trying to send message larger than max"));
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

    private void cancel(String reason) {
        stream.remove(id);
        stop();
        stream.tell(WatchControl.revoked(stream.newestKnown(), id, reason));
    }

    @Override
    public void compacted(long compactRevision) {
        // It goes on to exist, and so to keep its id and to have no progress, until the client cancels it.
        stream.tell(WatchControl.compacted(id, compactRevision));
    }

    private void tellInFragments(EventBatch batch) {
        EncodedEvents events = batch.encoded();
        long most = loop.watches().maxMessageBytes();
        int besides = WatchMessage.size(loop.headers().of(batch.revision()), id, false);
        int count = events.ends().length;
        int first = 0;
        if (Fragments.needed(events, besides, most)) {
            int end = Fragments.end(events, first, besides, most);
            while (end < count && !stream.isOver()) {
                output.events(id, batch, first, end, true);
                first = end;
                end = Fragments.end(events, first, besides, most);
            }
        }
        if (!stream.isOver()) {
            output.events(id, batch, first, count, false);
        }
    }

    boolean isSynced() {
        return watcher().isSynced();
    }

    /** Up to which it was told of all, if it is synced. */
    long revision() {
        return watcher().revision();
    }

    void resume() {
        watcher().resume();
    }

    void stop() {
        watcher().cancel();
        if (permit != null) {
            permit.end();
        }
    }

    private Watcher watcher() {
        return Objects.requireNonNull(watcher);
    }

    void tick() {
        if (notifies && !stream.isOver()) {
            if (quiet && isSynced() && output.ready()) {
                stream.tell(WatchControl.progress(revision(), id));
            }
            quiet = true;
        }
    }
}
