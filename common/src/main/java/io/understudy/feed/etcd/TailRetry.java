package io.understudy.feed.etcd;

import java.time.Duration;

/**
 * How a tail is opened after the ones before it failed.
 *
 * <p>Fragments are requested only after a response was too large: etcd cuts a response in time quadratic in the events
 * of a fragment ({@code sendFragments} in {@code v3rpc/watch.go}), so that one commit of 200,000 deletions takes it a
 * minute or more, and milliseconds unfragmented. A live response is one commit anyway, it is a thousand commits of
 * history that can be too large.
 *
 * <p>The timeout grows with each tail in a row that stalled: etcd starts over with each watch, so a commit that takes
 * it longer than the timeout would never arrive.
 *
 * @param stallTimeout silence that is tolerated
 * @param fragments whether etcd may split responses
 */
record TailRetry(Duration stallTimeout, boolean fragments, int stallsInARow) {

    private static final int MAX_DOUBLINGS = 4;

    static TailRetry initial(Duration stallTimeout) {
        return new TailRetry(stallTimeout, false, 0);
    }

    /** The retry after a tail lost for {@code reason}. */
    TailRetry after(TailLostException.Reason reason) {
        return switch (reason) {
            case TOO_LARGE -> new TailRetry(stallTimeout, true, stallsInARow);
            case STALLED ->
                new TailRetry(
                        stallsInARow < MAX_DOUBLINGS ? stallTimeout.multipliedBy(2) : stallTimeout,
                        false,
                        stallsInARow + 1);
            case STREAM_ENDED, BEHIND, CANCELED -> this;
        };
    }
}
