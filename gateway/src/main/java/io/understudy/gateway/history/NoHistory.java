package io.understudy.gateway.history;

import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.replica.CommitLog;
import java.time.Duration;

/** A history without a source: commits that the replica's log has dropped are gone. Thread-safe. */
public final class NoHistory implements CommitHistory {

    private final CommitLog log;

    /** @param log of the replica */
    public NoHistory(CommitLog log) {
        this.log = log;
    }

    @Override
    public Reading open(long from, boolean previous) {
        return new Forgotten(log);
    }

    private record Forgotten(CommitLog log) implements Reading {

        @Override
        public Step next(Duration timeout) throws CompactedException {
            throw CompactedException.before(log.from() + 1);
        }

        @Override
        public void close() {
            // There is nothing to close.
        }
    }
}
