package io.understudy.bench;

import java.time.Duration;

/** Requests that were answered, and the time that they took together. */
record Tally(long requests, Duration elapsed) {

    double perSecond() {
        return requests / (elapsed.toNanos() / 1e9);
    }
}
