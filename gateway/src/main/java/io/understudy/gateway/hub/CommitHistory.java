package io.understudy.gateway.hub;

import io.understudy.gateway.replica.LoggedCommit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Where commits come from that the log has forgotten: the source's history, which it reads slowly and at a cost. */
@FunctionalInterface
public interface CommitHistory {

    /**
     * Begins to read. Connects lazily, in the first {@link Reading#next}.
     *
     * @param from revision of the first commit wanted
     * @param previous whether the commits include previous entries
     */
    Reading open(long from, boolean previous);

    /** Commits in order, each whole, none missing. For one thread, but for {@link #close}. */
    interface Reading extends AutoCloseable {

        /**
         * The next step; null if there was none in time. What is lost on the way (a member, a connection) is had again
         * elsewhere, without end. Only a CompactedException is for good; after others a new reading is opened.
         *
         * @throws CompactedException if the next commits are gone for good
         */
        @Nullable Step next(Duration timeout) throws CompactedException, InterruptedException;

        @Override
        void close();
    }

    /** What a reading comes to. */
    sealed interface Step {
        /** The next commit. */
        record Committed(LoggedCommit commit) implements Step {}

        /** Nothing more happened up to that revision. */
        record Complete(long revision) implements Step {}
    }

    /** The source has compacted what would have come next, or it cannot be read. */
    final class CompactedException extends Exception {
        private static final long serialVersionUID = 1L;

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

        /** Nothing more can be read: another history, or a rejection such as a revoked permission. */
        public static CompactedException unreadable(String message) {
            return new CompactedException(message, 0, false, true);
        }

        /** Whether watchers that have yet to come as far may be served up to there. */
        boolean isEarlierReadable() {
            return earlierReadable;
        }

        /** Whether a reading without previous entries may still have it. */
        public boolean isPreviousOnly() {
            return previousOnly;
        }

        /** The oldest revision that can still be had; 0 if it is unknown. */
        public long compactRevision() {
            return compactRevision;
        }
    }
}
