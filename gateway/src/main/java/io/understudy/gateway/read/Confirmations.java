package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Who tells how current the replica is, and has the {@link AsOfClock} know. For any thread. */
interface Confirmations {

    /** A read, or several, that wait for the next confirmation. Told on any thread, and must not hold it up. */
    interface Rider {

        /** What comes next is not for anybody who comes after this. */
        void sent();

        /**
         * A state that includes the revision was current at that moment.
         *
         * @param asOfNanos by {@link System#nanoTime}
         */
        void confirmed(long revision, long asOfNanos);

        /**
         * No state was confirmed.
         *
         * @param fatal what to answer; null to wait for the next confirmation
         */
        void failed(@Nullable ApiException fatal);
    }

    /** Begins to keep the clock going. */
    void start();

    /** Ends it; riders that wait are left to their own deadlines. */
    void close();

    /** Takes the next confirmation, with one read. */
    void join(Rider rider);

    /** A rider that joined, and was not told {@link Rider#sent}, has one more read. */
    void joined();

    /**
     * For linearizable reads: whether what is confirmed after a read came may have been so by a quorum after it came.
     *
     * @throws ApiException that it can't
     */
    default void requireLinearizable() throws ApiException {}

    /**
     * The feed tells by itself that the source had nothing beyond the revision, when it was {@code time} somewhere. Of no
     * interest to whoever asks the source. For the thread that polls the feed.
     */
    default void asOf(long revision, Instant time) {}

    /** How long nothing was confirmed that should have been; zero if all is well. */
    Duration unconfirmed();

    /** What is wrong: bounded reads, and linearizable ones, fail before long while something is. */
    Optional<String> problem();
}
