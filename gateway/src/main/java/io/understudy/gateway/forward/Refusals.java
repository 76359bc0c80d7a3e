package io.understudy.gateway.forward;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.etcd.jetcd.api.ResponseHeader;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import java.io.IOException;

/** Statuses of calls that no member has answered, in etcd's words, since clients compare them. */
final class Refusals {

    private static final ServerCall.Listener<byte[]> OVER = new ServerCall.Listener<>() {};

    /**
     * Status of a call that was not sent before another source replaced its source. No other call ends by this object.
     */
    static final Status MOVED = status(ApiException.noLeader());

    private Refusals() {}

    /** Ends a call; returns a listener that ignores the client. */
    static ServerCall.Listener<byte[]> end(ServerCall<byte[], byte[]> client, ApiException why) {
        client.close(status(why), new Metadata());
        return OVER;
    }

    /** The connection broke after the request was sent; whether it was carried out is unknown. */
    static ApiException connectionLost() {
        return new ApiException(
                Status.Code.UNAVAILABLE, "etcdserver: request timed out, possibly due to connection lost");
    }

    /** The client's deadline has passed. */
    static ApiException deadlineExceeded() {
        return new ApiException(Status.Code.DEADLINE_EXCEEDED, "context deadline exceeded");
    }

    static Status status(ApiException refusal) {
        return refusal.code().toStatus().withDescription(refusal.text());
    }

    /** Reads the revision of an answer's header without decoding the rest. Every etcd answer has the header in field 1. */
    static final class HeaderRevision {

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
}
