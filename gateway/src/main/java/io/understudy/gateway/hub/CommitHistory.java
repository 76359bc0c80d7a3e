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
     * @param previous whether the commits shall know how their keys stood before
     */
    Reading open(long from, boolean previous);

    /** Commits in order, each whole, none missing. For one thread, but for {@link #close}. */
    interface Reading extends AutoCloseable {

        /**
         * The next step; null if there was none in time. What is lost on the way (a member, a connection) is had again
         * elsewhere, without end: an exception is for good.
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

    /** The source has compacted what would have come next, or it is too large to be read. */
    final class CompactedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final long compactRevision;
        private final boolean previousOnly;

        public CompactedException(long compactRevision) {
            this("compacted up to revision " + compactRevision, compactRevision, false);
        }

        /** @param previousOnly whether a reading without previous entries may still have it */
        public CompactedException(String message, long compactRevision, boolean previousOnly) {
            super(message);
            this.compactRevision = compactRevision;
            this.previousOnly = previousOnly;
        }

        /** Whether a reading without previous entries may still have it. */
        public boolean isPreviousOnly() {
            return previousOnly;
        }

        /** The oldest revision that can still be had. */
        public long compactRevision() {
            return compactRevision;
        }
    }
}
