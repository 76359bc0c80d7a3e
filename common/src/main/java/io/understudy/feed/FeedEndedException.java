package io.understudy.feed;

import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;

/** A feed ended. The type defines what the consumer may do; the message states the cause and the place. */
public abstract sealed class FeedEndedException extends Exception {

    FeedEndedException(String message) {
        super(message);
    }

    /**
     * The next commits were compacted at the source. The consumer must open a new feed from a snapshot and merge it.
     */
    public static final class Gap extends FeedEndedException {
        private final transient Position position;
        private final transient Revision compacted;

        /**
         * @param position of the feed
         * @param compacted revision up to which the source has compacted its history, {@link Revision#ZERO} if it
         *     reported none
         */
        public Gap(Position position, Revision compacted, String why) {
            super("gap after revision " + position.revision() + ": " + why);
            this.position = position;
            this.compacted = compacted;
        }

        public Position position() {
            return position;
        }

        public Revision compacted() {
            return compacted;
        }
    }

    /** The endpoints now lead to a cluster with another id. Fatal: an operator must decide which one is meant. */
    public static final class AnotherCluster extends FeedEndedException {
        public AnotherCluster(String where, ClusterId expected, ClusterId found) {
            super("cluster ID mismatch at " + where + ": found " + found + ", expected " + expected);
        }
    }

    /**
     * The cluster has another history than the one consumed: it was restored or wiped. Fatal: an operator must decide
     * what happens with the copy.
     */
    public static final class AnotherHistory extends FeedEndedException {
        public AnotherHistory(String message) {
            super(message);
        }
    }

    /** One commit exceeds the limit. Only readers of history end so; feeds replace it by a snapshot. */
    public static final class CommitTooLarge extends FeedEndedException {
        private final transient Revision revision;

        /**
         * @param key at which it passed the limit; empty if that is not known
         * @param setting that has the limit
         */
        public CommitTooLarge(Revision revision, String key, long bytes, long limit, String setting) {
            super("commit at revision " + revision + " has at least " + bytes + " bytes"
                    + (key.isEmpty() ? "" : " up to key " + key) + "; allowed: " + limit + " bytes (" + setting
                    + ")");
            this.revision = revision;
        }

        /** Revision of the commit. */
        public Revision revision() {
            return revision;
        }
    }

    /** The source answered in a way that this build cannot explain, or will never serve. Fatal. */
    public static final class Unexplained extends FeedEndedException {
        public Unexplained(String message, Throwable cause) {
            super(message);
            initCause(cause);
        }

        public Unexplained(String message) {
            super(message);
        }
    }
}
