package io.understudy.gateway.watch;

import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedCall.StreamTaker;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
import java.util.concurrent.Executor;

/**
 * A {@code WatchResponse} without events.
 *
 * @param revision of the header
 * @param watchId -1 for none in particular
 * @param created whether it answers a create request; with {@code canceled}, a rejected one
 * @param canceled whether nothing follows
 * @param compactRevision the oldest available revision, if the watch was compacted; else 0
 * @param cancelReason why a request was rejected; else empty
 */
public record WatchControl(
        long revision, long watchId, boolean created, boolean canceled, long compactRevision, String cancelReason) {

    /** The id of no watcher (clientv3's InvalidWatchID). */
    static final long NO_WATCHER = -1;

    static WatchControl created(long revision, long watchId) {
        return new WatchControl(revision, watchId, true, false, 0, "");
    }

    static WatchControl refused(long revision, String reason) {
        return new WatchControl(revision, NO_WATCHER, true, true, 0, reason);
    }

    /** Cancels a watch of a range that may no longer be read; etcd never does. */
    static WatchControl revoked(long revision, long watchId, String reason) {
        return new WatchControl(revision, watchId, false, true, 0, reason);
    }

    static WatchControl canceled(long revision, long watchId) {
        return new WatchControl(revision, watchId, false, true, 0, "");
    }

    /** The header has no revision, as in etcd. */
    static WatchControl compacted(long watchId, long compactRevision) {
        return new WatchControl(0, watchId, false, true, compactRevision, "");
    }

    static WatchControl progress(long revision, long watchId) {
        return new WatchControl(revision, watchId, false, false, 0, "");
    }

    /** Opens watches at the source, under the identity of the caller. */
    @FunctionalInterface
    public interface WatchForwarding {

        /**
         * Opens a watch.
         *
         * @param loop the session's event loop, on which this is called
         */
        StreamedCall watch(Caller caller, Executor loop, StreamedRequests requests, StreamTaker taker);
    }
}
