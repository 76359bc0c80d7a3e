package io.understudy.gateway.watch;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.permission.Rechecks;
import io.understudy.vocabulary.KeyRange;
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
}
