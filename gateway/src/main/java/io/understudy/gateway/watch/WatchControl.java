package io.understudy.gateway.watch;

/**
 * What a client is told of its watchers beside events: a {@code WatchResponse} without any.
 *
 * @param revision of the header
 * @param watchId -1 for none in particular
 * @param created whether it answers a request to create one; with {@code canceled}, one that was refused
 * @param canceled whether nothing follows
 * @param compactRevision the oldest that can still be had, if that is why nothing follows; else 0
 * @param cancelReason why a request was refused; else empty
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

    /** One that was there is ended, since what it tells may not be read any more; etcd never does that. */
    static WatchControl revoked(long revision, long watchId, String reason) {
        return new WatchControl(revision, watchId, false, true, 0, reason);
    }

    static WatchControl canceled(long revision, long watchId) {
        return new WatchControl(revision, watchId, false, true, 0, "");
    }

    /** etcd tells no revision of its own here. */
    static WatchControl compacted(long watchId, long compactRevision) {
        return new WatchControl(0, watchId, false, true, compactRevision, "");
    }

    static WatchControl progress(long revision, long watchId) {
        return new WatchControl(revision, watchId, false, false, 0, "");
    }
}
