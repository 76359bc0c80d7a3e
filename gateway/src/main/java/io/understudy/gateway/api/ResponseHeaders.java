package io.understudy.gateway.api;

import io.etcd.jetcd.api.ResponseHeader;
import io.netty.buffer.ByteBuf;
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

    /** The header of an answer: its first field, set even if empty. */
    static final class HeaderForm {

        private static final int HEADER = 0x0a;
        private static final int CLUSTER_ID = 0x08;
        private static final int MEMBER_ID = 0x10;
        private static final int REVISION = 0x18;
        private static final int RAFT_TERM = 0x20;

        private HeaderForm() {}

        static long size(ResponseHeader header) {
            return ProtoFields.lengthDelimitedSize(content(header));
        }

        static void write(ByteBuf out, ResponseHeader header) {
            ProtoFields.writeLengthDelimited(out, HEADER, content(header));
            ProtoFields.writeNumber(out, CLUSTER_ID, header.getClusterId());
            ProtoFields.writeNumber(out, MEMBER_ID, header.getMemberId());
            ProtoFields.writeNumber(out, REVISION, header.getRevision());
            ProtoFields.writeNumber(out, RAFT_TERM, header.getRaftTerm());
        }

        private static int content(ResponseHeader header) {
            return ProtoFields.numberSize(header.getClusterId())
                    + ProtoFields.numberSize(header.getMemberId())
                    + ProtoFields.numberSize(header.getRevision())
                    + ProtoFields.numberSize(header.getRaftTerm());
        }
    }
}
