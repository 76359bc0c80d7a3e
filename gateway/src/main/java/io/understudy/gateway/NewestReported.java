package io.understudy.gateway;

import io.understudy.etcd.ClusterView;
import io.understudy.etcd.Member;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The greatest raft term and revision that any member of the source has reported, to probes or in an answer to a
 * client. Neither decreases when members fail. Thread-safe.
 */
final class NewestReported {

    private final Supplier<ClusterView> views;
    private volatile Known known = new Known(null, 0, 0);
    /** The greatest revision of an answer. */
    private volatile long answered;
    /** No answer has a greater one. */
    private long last = Long.MAX_VALUE;

    private record Known(@Nullable ClusterView view, long raftTerm, long revision) {

        static Known of(ClusterView view) {
            long raftTerm = 0;
            long revision = 0;
            for (Member member : view.members()) {
                raftTerm = Math.max(raftTerm, member.raftTerm());
                revision = Math.max(revision, member.revision().value());
            }
            return new Known(view, raftTerm, revision);
        }

        Known with(Known other) {
            return new Known(other.view, Math.max(raftTerm, other.raftTerm), Math.max(revision, other.revision));
        }
    }

    NewestReported(Supplier<ClusterView> views) {
        this.views = views;
    }

    /** The last raft term seen, 0 before the first. */
    long raftTerm() {
        return refreshed().raftTerm();
    }

    /** The greatest revision seen, 0 before the first. */
    long revision() {
        return Math.max(answered, refreshed().revision());
    }

    /** Records the revision of an answer before its client gets it. False if it must not get it, after {@link #end}. */
    boolean answered(long revision) {
        return revision <= answered || isRecorded(revision);
    }

    private synchronized boolean isRecorded(long revision) {
        answered = Math.max(answered, Math.min(revision, last));
        return revision <= last;
    }

    /**
     * Allows no further answer with a greater revision.
     *
     * @param least lower bound of the result
     * @return the greatest revision that clients may know from now on
     */
    synchronized long end(long least) {
        last = Math.max(least, revision());
        return last;
    }

    // Views are immutable, so each is evaluated once: this is on the path of every request.
    @SuppressWarnings("ReferenceEquality")
    private Known refreshed() {
        Known before = known;
        ClusterView view = views.get();
        return view == before.view() ? before : learn(view);
    }

    /** Merges, so that a slower thread with an older view loses nothing. */
    private synchronized Known learn(ClusterView view) {
        Known after = known.with(Known.of(view));
        known = after;
        return after;
    }
}
