package io.understudy.bench;

import java.util.List;

/**
 * The result of a run in which every watcher received every event once.
 *
 * @param puts that were made
 * @param events delivered to all watchers together, in the time from the first put until the last delivery
 * @param sinceAcknowledged from a put's acknowledgement to its delivery, of some watchers; zero if it was there before
 * @param sinceSent from when it was sent
 */
record WatchLoad(long puts, Tally events, Latencies sinceAcknowledged, Latencies sinceSent) {

    static WatchLoad of(List<Putter.Put> puts, Deliveries delivered, Tally events) {
        long[] acknowledged = new long[delivered.samples()];
        long[] sent = new long[delivered.samples()];
        for (int sample = 0; sample < sent.length; sample++) {
            Putter.Put put = puts.get((int) delivered.number(sample));
            acknowledged[sample] =
                    Math.max(0, delivered.nanos(sample) - put.acknowledged().get()) / 1_000;
            sent[sample] = (delivered.nanos(sample) - put.sent()) / 1_000;
        }
        return new WatchLoad(puts.size(), events, Latencies.of(acknowledged), Latencies.of(sent));
    }
}
