package io.understudy.gateway.api;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;

/** Results as parsed from what {@link WireForm} writes. */
public final class WireMessages {

    private WireMessages() {}

    public static RangeResponse message(RangeResult result) {
        try {
            return RangeResponse.parseFrom(whole(WireForm.of(result)));
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    static TxnResponse message(TxnResult result) {
        try {
            return TxnResponse.parseFrom(whole(WireForm.of(result)));
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] whole(AnswerBody body) {
        ByteBuf out = Unpooled.buffer((int) body.length());
        while (body.appendTo(out, Integer.MAX_VALUE / 2)) {
            // All of it is wanted.
        }
        return ByteBufUtil.getBytes(out);
    }
}
