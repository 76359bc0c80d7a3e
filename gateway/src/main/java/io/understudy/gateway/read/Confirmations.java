package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
}
