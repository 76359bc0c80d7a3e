package io.understudy.gateway;

import io.understudy.gateway.hub.CommitHistory;
import io.understudy.gateway.replica.CommitLog;
import java.time.Duration;

/** Takes what the log has forgotten for compacted. */
final class NoHistory implements CommitHistory.Reading {

    private final CommitLog log;

    NoHistory(CommitLog log) {
        this.log = log;
    }

    @Override
    public CommitHistory.Step next(Duration timeout) throws CommitHistory.CompactedException {
        throw new CommitHistory.CompactedException(log.from() + 1);
    }

    @Override
    public void close() {
        // Nothing is held.
    }
}
