package io.understudy.gateway.api;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/**
 * Results as etcd's protobuf messages, byte for byte as etcd encodes them: fields in the order of their numbers, defaults
 * left out.
 *
 * <p>Invariant A1: responses are byte-identical to those of an etcd member at the replica's revision, except for member
 * id and Raft term; errors have etcd's code and text.
 */
public final class WireForm {

    private WireForm() {}

    /** The answer to a range request. Its length is known beforehand. */
    public static AnswerBody of(RangeResult result) {
        return new RangeBody(result);
    }

    /** The answer to a range request as the messages of a stream. Its length is not known beforehand. */
    public static AnswerBody stream(RangeResult result) {
        return new RangeStreamBody(result);
    }

    /** The answer to a transaction. Its length is known beforehand. */
    public static AnswerBody of(TxnResult result) {
        return new TxnBody(result);
    }

    public static RangeResponse message(RangeResult result) {
        try {
            return RangeResponse.parseFrom(whole(of(result)));
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("cannot parse a response encoded by this process", e);
        }
    }

    public static TxnResponse message(TxnResult result) {
        try {
            return TxnResponse.parseFrom(whole(of(result)));
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("cannot parse a response encoded by this process", e);
        }
    }

    /** All of an answer at once. */
    private static byte[] whole(AnswerBody body) {
        ByteBuf out = Unpooled.buffer((int) body.length());
        while (body.appendTo(out, Integer.MAX_VALUE / 2)) {
            // All of it is wanted.
        }
        return ByteBufUtil.getBytes(out);
    }
}
