package io.understudy.gateway.api;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnResponse;
import io.understudy.gateway.replica.Entry;

/** Results as etcd's protobuf messages. */
public final class WireForm {

    private WireForm() {}

    /** The answer to a range request. */
    public static AnswerBody of(RangeResult result) {
        return AnswerBody.of(message(result));
    }

    /** The answer to a transaction. */
    public static AnswerBody of(TxnResult result) {
        return AnswerBody.of(message(result));
    }

    public static RangeResponse message(RangeResult result) {
        RangeResponse.Builder response = RangeResponse.newBuilder()
                .setHeader(result.header())
                .setMore(result.more())
                .setCount(result.count());
        for (Entry entry : result.entries()) {
            response.addKvs(message(entry, result.keysOnly()));
        }
        return response.build();
    }

    private static TxnResponse message(TxnResult result) {
        TxnResponse.Builder response =
                TxnResponse.newBuilder().setHeader(result.header()).setSucceeded(result.succeeded());
        for (OpResult each : result.results()) {
            ResponseOp.Builder op = response.addResponsesBuilder();
            if (each instanceof RangeResult range) {
                op.setResponseRange(message(range));
            } else if (each instanceof TxnResult txn) {
                op.setResponseTxn(message(txn));
            }
        }
        return response.build();
    }

    private static KeyValue message(Entry entry, boolean keysOnly) {
        try {
            KeyValue whole = KeyValue.parseFrom(entry.wire());
            return keysOnly ? whole.toBuilder().clearValue().build() : whole;
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("an entry that was encoded here", e);
        }
    }
}
