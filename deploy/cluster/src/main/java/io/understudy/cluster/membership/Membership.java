package io.understudy.cluster.membership;

import io.understudy.etcd.Alarm;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.util.List;

/**
 * The requests that change a cluster, each sent once, with a deadline, and never repeated.
 *
 * <p>They go to the leader where that matters. After any failure observe the cluster before anything else.
 *
 * <p>Every method throws {@link RefusedException} if etcd rejected the request without any effect, and {@link
 * OutcomeUnknownException} if it may have had one.
 */
public interface Membership {

    /** Adds a learner, which etcd expects at those URLs. */
    MemberId addLearner(List<URI> peerUrls) throws RefusedException, OutcomeUnknownException;

    /** Makes a learner that is in sync a voter. Sent to the leader: followers hide its reasons behind time-outs. */
    void promote(MemberId learner) throws RefusedException, OutcomeUnknownException;

    void remove(MemberId member) throws RefusedException, OutcomeUnknownException;

    void updatePeerUrls(MemberId member, List<URI> peerUrls) throws RefusedException, OutcomeUnknownException;

    /** Sent to the leader {@code from}, which rejects it if it does not lead any more. */
    void moveLeader(MemberId from, MemberId to) throws RefusedException, OutcomeUnknownException;

    /** Deletes revisions before this one. Returns when they are deleted at the member that received the request. */
    default void compact(Revision revision) throws RefusedException, OutcomeUnknownException {
        throw new UnsupportedOperationException();
    }

    /** Defragments a member's database file; returns when it is done. */
    default void defragment(MemberId member) throws RefusedException, OutcomeUnknownException {
        throw new UnsupportedOperationException();
    }

    default void disarm(Alarm alarm) throws RefusedException, OutcomeUnknownException {
        throw new UnsupportedOperationException();
    }

    /**
     * Enables a downgrade.
     *
     * @param version such as {@code 3.6.0}; empty to cancel the present one
     */
    default void downgrade(String version) throws RefusedException, OutcomeUnknownException {
        throw new UnsupportedOperationException();
    }

    /**
     * Appends an entry without effect to the Raft log. A member of etcd 3.6 or later that received a snapshot beyond
     * index 5000 serves no client before it has applied an entry, which does not come in an idle cluster.
     */
    default void appendEntry() throws RefusedException, OutcomeUnknownException {}

    /** etcd rejected a change, without any effect. */
    final class RefusedException extends Exception {
        private final String etcdMessage;

        /**
         * @param etcdMessage the unchanged message
         * @param explanation what it means and what to do
         */
        public RefusedException(String etcdMessage, String explanation) {
            super(etcdMessage + ": " + explanation);
            this.etcdMessage = etcdMessage;
        }

        /** Word for word, such as {@code etcdserver: unhealthy cluster}. */
        public String etcdMessage() {
            return etcdMessage;
        }
    }

    /** A change may or may not have happened; another observation of the cluster is needed. */
    final class OutcomeUnknownException extends Exception {
        public OutcomeUnknownException(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
