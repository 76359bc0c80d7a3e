package io.understudy.gateway.api;

import io.etcd.jetcd.api.ResponseHeader;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.function.LongSupplier;

/**
 * Creates response headers. They have the source's cluster ID, this gateway's member ID, the replica's revision and the
 * last known Raft term of the source.
 */
public final class ResponseHeaders {

    private final MemberId self;
    private final LongSupplier raftTerm;

    /** @param raftTerm called on any thread */
    public ResponseHeaders(MemberId self, LongSupplier raftTerm) {
        this.self = self;
        this.raftTerm = raftTerm;
    }

    /** The last known term; 0 before the first. */
    public long raftTerm() {
        return raftTerm.getAsLong();
    }

    public ResponseHeader of(ReplicaState state) {
        return of(state.cluster(), state.revision());
    }

    public ResponseHeader of(ClusterId cluster, Revision revision) {
        return ResponseHeader.newBuilder()
                .setClusterId(cluster.value())
                .setMemberId(self.value())
                .setRevision(revision.value())
                .setRaftTerm(raftTerm.getAsLong())
                .build();
    }
}
