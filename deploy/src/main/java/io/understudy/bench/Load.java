package io.understudy.bench;

import java.time.Duration;

/** What a run brought: all requests were answered, and rightly. */
record Load(long requests, Duration elapsed, Latencies latencies) {

    double perSecond() {
        return requests / (elapsed.toNanos() / 1e9);
    }
}
