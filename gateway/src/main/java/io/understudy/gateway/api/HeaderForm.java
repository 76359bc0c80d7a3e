package io.understudy.gateway.api;

import io.etcd.jetcd.api.ResponseHeader;
import io.netty.buffer.ByteBuf;

/** The header of an answer: its first field, set even if empty. */
final class HeaderForm {

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
