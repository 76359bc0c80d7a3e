package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.WireFormat;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdVersion;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes requests as etcd does: an empty range end differs from an absent one. Before etcd 3.7 the former means all
 * keys from the given one on, like an end of one zero byte. Most clients never send it.
 */
public final class SentRequests {

    private static final int RANGE_END = RangeRequest.RANGE_END_FIELD_NUMBER;

    /** etcd's largest request, 1.5 MiB of operations, has fewer. */
    private static final int MAX_FIELDS = 100_000;
    /** A shorter message cannot have that many. */
    private static final int MIN_COUNTED_BYTES = MAX_FIELDS * 2;
    /** As in {@link CodedInputStream}. */
    private static final int MAX_DEPTH = 100;

    private SentRequests() {}

    /**
     * Rejects a message with very many fields: decoded, each takes up to 100 times its bytes.
     *
     * @param type of the message
     * @throws InvalidProtocolBufferException it has too many fields, or cannot be decoded
     */
    public static void requireFewFields(Descriptor type, byte[] message) throws InvalidProtocolBufferException {
        if (message.length > MIN_COUNTED_BYTES) {
            try {
                int unused = fields(type, CodedInputStream.newInstance(message), 0, 0);
            } catch (InvalidProtocolBufferException e) {
                throw e;
            } catch (IOException e) {
                throw new InvalidProtocolBufferException(e);
            }
        }
    }

    /**
     * Counts up to the end of the input or group.
     *
     * @param type null for that of an unknown group
     */
    private static int fields(@Nullable Descriptor type, CodedInputStream in, int before, int depth)
            throws IOException {
        int count = before;
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            if (++count > MAX_FIELDS || depth > MAX_DEPTH) {
                throw new InvalidProtocolBufferException(
                        "understudy: request exceeds " + MAX_FIELDS + " fields or " + MAX_DEPTH + " levels");
            }
            int wireType = WireFormat.getTagWireType(tag);
            FieldDescriptor field = type == null ? null : type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
            if (wireType == WireFormat.WIRETYPE_END_GROUP) {
                return count;
            } else if (wireType == WireFormat.WIRETYPE_START_GROUP) {
                count = fields(null, in, count, depth + 1);
            } else if (wireType == WireFormat.WIRETYPE_LENGTH_DELIMITED
                    && field != null
                    && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                int outer = in.pushLimit(in.readRawVarint32());
                count = fields(field.getMessageType(), in, count, depth + 1);
                in.popLimit(outer);
            } else {
                boolean unused = in.skipField(tag);
            }
        }
        return count;
    }

    /** Returns a range request; an empty end that was sent becomes the equivalent zero byte. */
    public static RangeRequest range(byte[] message, EtcdVersion version) throws InvalidProtocolBufferException {
        RangeRequest request = RangeRequest.parseFrom(message);
        requireWireTypes(request, version);
        return !version.decodesByGoogle()
                        && request.getSerializedSize() != message.length
                        && isEmptyEndSent(request.getRangeEnd(), UnknownFieldSet.parseFrom(message), RANGE_END)
                ? request.toBuilder().setRangeEnd(RangeRequests.FROM_KEY).build()
                : request;
    }

    /** Returns a transaction with the same replacement in comparisons and ranges, where etcd applies it. */
    public static TxnRequest txn(byte[] message, EtcdVersion version) throws InvalidProtocolBufferException {
        TxnRequest request = TxnRequest.parseFrom(message);
        // Writes and nested transactions go through the log, for which etcd encodes them again without empty fields.
        requireWireTypes(request, version);
        if (version.decodesByGoogle()
                || request.getSerializedSize() == message.length
                || !TxnRequests.isOfRanges(request)) {
            return request;
        }
        UnknownFieldSet sent = UnknownFieldSet.parseFrom(message);
        TxnRequest.Builder read = request.toBuilder();
        List<ByteString> compares =
                sent.getField(TxnRequest.COMPARE_FIELD_NUMBER).getLengthDelimitedList();
        for (int i = 0; i < compares.size(); i++) {
            Compare compare = request.getCompare(i);
            UnknownFieldSet fields = UnknownFieldSet.parseFrom(compares.get(i));
            if (isEmptyEndSent(compare.getRangeEnd(), fields, Compare.RANGE_END_FIELD_NUMBER)) {
                read.setCompare(i, compare.toBuilder().setRangeEnd(RangeRequests.FROM_KEY));
            }
        }
        List<ByteString> success =
                sent.getField(TxnRequest.SUCCESS_FIELD_NUMBER).getLengthDelimitedList();
        for (int i = 0; i < success.size(); i++) {
            read.setSuccess(i, range(request.getSuccess(i), success.get(i)));
        }
        List<ByteString> failure =
                sent.getField(TxnRequest.FAILURE_FIELD_NUMBER).getLengthDelimitedList();
        for (int i = 0; i < failure.size(); i++) {
            read.setFailure(i, range(request.getFailure(i), failure.get(i)));
        }
        return read.build();
    }

    private static RequestOp range(RequestOp op, ByteString message) throws InvalidProtocolBufferException {
        List<ByteString> ranges = UnknownFieldSet.parseFrom(message)
                .getField(RequestOp.REQUEST_RANGE_FIELD_NUMBER)
                .getLengthDelimitedList();
        UnknownFieldSet fields = UnknownFieldSet.parseFrom(ranges.get(ranges.size() - 1));
        RangeRequest range = op.getRequestRange();
        return isEmptyEndSent(range.getRangeEnd(), fields, RANGE_END)
                ? op.toBuilder()
                        .setRequestRange(range.toBuilder().setRangeEnd(RangeRequests.FROM_KEY))
                        .build()
                : op;
    }

    private static void requireWireTypes(Message request, EtcdVersion version) throws InvalidProtocolBufferException {
        for (Integer number : request.getUnknownFields().asMap().keySet()) {
            FieldDescriptor field = request.getDescriptorForType().findFieldByNumber(number);
            if (field != null && !version.decodesByGoogle()) {
                throw new InvalidProtocolBufferException("proto: wrong wireType for field " + field.getName());
            }
        }
    }

    private static boolean isEmptyEndSent(ByteString end, UnknownFieldSet fields, int field) {
        return end.isEmpty() && fields.hasField(field);
    }
}
