package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Source of confirmed revisions for the {@link AsOfClock}. Thread-safe. */
interface Confirmations {

    /** One or more reads that wait for the next confirmation. Called on any thread; must not block. */
    interface Rider {

        /** The confirmation was requested; reads that arrive later need another one. */
        void sent();

        /**
         * A state that includes the revision was current at that time.
         *
         * @param asOfNanos by {@link System#nanoTime}
         */
        void confirmed(long revision, long asOfNanos);

        /**
         * No state was confirmed.
         *
         * @param fatal the error for the reads; null to wait for the next confirmation
         */
        void failed(@Nullable ApiException fatal);
    }

    /** Starts periodic confirmations. */
    void start();

    /** Stops; waiting riders run into their deadlines. */
    void close();

    /** Registers a rider with one read for the next confirmation. */
    void join(Rider rider);

    /** Adds one read to a rider that has joined and not been {@linkplain Rider#sent sent}. */
    void joined();

    /**
     * Checks that confirmations are linearizable: by a quorum, after the read arrived.
     *
     * @throws ApiException if they are not
     */
    default void requireLinearizable() throws ApiException {}

    /**
     * Records that the source had nothing beyond the revision at {@code time} of another host. Ignored if the source is
     * queried. For the polling thread of the feed.
     */
    default void asOf(long revision, Instant time) {}

    /** How long confirmations are overdue; zero if none is. */
    Duration unconfirmed();

    /** Why confirmations fail; bounded and linearizable reads then fail soon. */
    Optional<String> problem();

    /**
     * Confirms revisions by heartbeats: times of the mirror at which the source had nothing newer. The allowed clock skew
     * is added to every staleness, so it is never understated.
     *
     * <p>A time further in the future reveals a larger skew, so the heartbeat is ignored. Staleness grows from the last
     * accepted one.
     *
     * <p>Invariant K1: staleness from heartbeats is never understated while clock skew is within the configured limit; a
     * larger skew is reported and its heartbeats are ignored.
     */
    final class Heartbeats implements Confirmations {

        private static final Logger LOG = LoggerFactory.getLogger(Heartbeats.class);

        private final Duration maxClockSkew;
        private final InstantSource wall;
        private final AsOfClock clock;
        private final ReadMetrics metrics;
        private volatile long confirmedNanos = System.nanoTime();
        /** Excess of the last ignored heartbeat over this clock. Null if the last one was accepted. */
        private volatile @Nullable Duration ahead;
        /** Guarded by this object's lock. */
        private List<Rider> riders = new ArrayList<>();

        Heartbeats(Duration maxClockSkew, InstantSource wall, AsOfClock clock, ReadMetrics metrics) {
            this.maxClockSkew = maxClockSkew;
            this.wall = wall;
            this.clock = clock;
            this.metrics = metrics;
        }

        @Override
        public void asOf(long revision, Instant time) {
            long now = System.nanoTime();
            Duration age = Duration.between(time, wall.instant());
            Duration atMost = age.plus(maxClockSkew);
            boolean isTrusted = !atMost.isNegative();
            metrics.heartbeat(isTrusted);
            if (!isTrusted) {
                rejected(age.negated());
                return;
            }
            if (ahead != null) {
                ahead = null;
                LOG.atInfo()
                        .addKeyValue("staleness_ms", atMost.toMillis())
                        .log("clock skew within limit; heartbeats trusted");
            }
            long asOfNanos = now - atMost.toNanos();
            clock.confirmed(revision, asOfNanos);
            confirmedNanos = now;
            for (Rider rider : departing()) {
                rider.sent();
                rider.confirmed(revision, asOfNanos);
            }
        }

        /** Heartbeats arrive with the feed. */
        @Override
        public void start() {}

        @Override
        public void close() {}

        @Override
        public synchronized void join(Rider rider) {
            riders.add(rider);
        }

        @Override
        public void joined() {}

        @Override
        public void requireLinearizable() throws ApiException {
            throw ApiException.noVoters();
        }

        @Override
        public Duration unconfirmed() {
            return Duration.ofNanos(System.nanoTime() - confirmedNanos);
        }

        @Override
        public Optional<String> problem() {
            Duration last = ahead;
            return last == null
                    ? Optional.empty()
                    : Optional.of("timestamps are " + last.toMillis() + " ms in the future; allowed: "
                            + maxClockSkew.toMillis()
                            + " ms. Synchronize the clocks of this host and of the mirror's host, or"
                            + " increase source.kafka.maxClockSkew");
        }

        private void rejected(Duration by) {
            if (ahead == null) {
                LOG.atWarn()
                        .addKeyValue("ahead_ms", by.toMillis())
                        .addKeyValue("max_clock_skew_ms", maxClockSkew.toMillis())
                        .log("clock skew above limit; heartbeats ignored, staleness grows");
            }
            ahead = by;
        }

        private synchronized List<Rider> departing() {
            List<Rider> all = riders;
            if (!all.isEmpty()) {
                riders = new ArrayList<>();
            }
            return all;
        }
    }
}
