package io.understudy.gateway.hub;

import io.understudy.gateway.replica.LoggedCommit;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The source's history, for commits that the log has dropped; slow and expensive to read. */
@FunctionalInterface
public interface CommitHistory {

    /**
     * Starts a reading. Connects lazily, in the first {@link Reading#next}.
     *
     * @param from revision of the first requested commit
     * @param previous whether the commits include previous entries
     */
    Reading open(long from, boolean previous);

    /** Commits in order, each whole, none missing. Single-threaded except for {@link #close}. */
    interface Reading extends AutoCloseable {

        /**
         * Returns the next step; null after the timeout. Lost members and connections are replaced, without limit. Only
         * a CompactedException is final; after other failures a new reading is opened.
         *
         * @throws CompactedException if the next commits are no longer available
         */
        @Nullable Step next(Duration timeout) throws CompactedException, InterruptedException;

        @Override
        void close();
    }

    /** A step of a reading. */
    sealed interface Step {
        /** The next commit. */
        record Committed(LoggedCommit commit) implements Step {}

        /** No further commit up to that revision. */
        record Complete(long revision) implements Step {}
    }

    /** The source has compacted the next commits, or does not serve them. */
    final class CompactedException extends Exception {
        private final long compactRevision;
        private final boolean previousOnly;
        private final boolean earlierReadable;

        private CompactedException(
                String message, long compactRevision, boolean previousOnly, boolean earlierReadable) {
            super(message);
            this.compactRevision = compactRevision;
            this.previousOnly = previousOnly;
            this.earlierReadable = earlierReadable;
        }

        /** The source has compacted all revisions before {@code compactRevision}. */
        public static CompactedException before(long compactRevision) {
            return new CompactedException("compacted up to revision " + compactRevision, compactRevision, false, false);
        }

        /**
         * The commit before {@code next} cannot be read, but earlier ones can.
         *
         * @param previousOnly whether a reading without previous entries may still have it
         */
        public static CompactedException hole(String message, long next, boolean previousOnly) {
            return new CompactedException(message, next, previousOnly, true);
        }

        /** No more can be read: another history, or a rejection such as a revoked permission. */
        public static CompactedException unreadable(String message) {
            return new CompactedException(message, 0, false, true);
        }

        /** Whether watchers that are behind may be served up to there. */
        boolean isEarlierReadable() {
            return earlierReadable;
        }

        /** Whether a reading without previous entries may still have it. */
        public boolean isPreviousOnly() {
            return previousOnly;
        }

        /** The oldest available revision; 0 if it is unknown. */
        public long compactRevision() {
            return compactRevision;
        }
    }

    /**
     * Reads the previous entries of a commit from the source, when the replica has none.
     *
     * <p>Invariant V7: watches continue while the replica is dropped, except during the snapshot of a rebuild, with
     * previous values read from the source.
     */
    @FunctionalInterface
    interface PreviousEntries {

        /**
         * Reads the previous entries of a commit and {@linkplain LoggedCommit#learnPrevious adds} them. Retries temporary
         * failures; concurrent calls for a commit share the work. Thread-safe.
         *
         * @return completes on any thread once the commit has them; fails if the source does not serve them, with a
         *     {@link CompactedException} if they are too large; cancelled if the source is closed
         */
        CompletableFuture<Void> learn(LoggedCommit commit);
    }
}
