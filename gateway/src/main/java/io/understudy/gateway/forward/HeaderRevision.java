package io.understudy.gateway.forward;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.etcd.jetcd.api.ResponseHeader;
import java.io.IOException;

/** Reads the revision of an answer's header without decoding the rest. Every etcd answer has the header in field 1. */
final class HeaderRevision {

    private static final int HEADER = tag(1, WireFormat.WIRETYPE_LENGTH_DELIMITED);
    private static final int REVISION = tag(ResponseHeader.REVISION_FIELD_NUMBER, WireFormat.WIRETYPE_VARINT);

    private HeaderRevision() {}

    /** Returns the revision; 0 if there is none. */
    static long of(byte[] answer) {
        try {
            CodedInputStream in = CodedInputStream.newInstance(answer);
            // Go encodes fields in order of their numbers, so the header is first.
            return in.readTag() == HEADER ? revision(in) : 0;
        } catch (IOException e) {
            // Invalid messages are left to the client.
            return 0;
        }
    }

    private static long revision(CodedInputStream in) throws IOException {
        int length = in.readRawVarint32();
        int outer = in.pushLimit(length);
        long revision = 0;
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            if (tag == REVISION) {
                revision = in.readInt64();
            } else if (!in.skipField(tag)) {
                break;
            }
        }
        in.popLimit(outer);
        return revision;
    }

    private static int tag(int field, int wireType) {
        return field << 3 | wireType;
    }
}
