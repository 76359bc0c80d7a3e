package io.understudy.bench;

/** What a run brought: all requests were answered, and rightly. */
record Load(Tally tally, Latencies latencies) {}
