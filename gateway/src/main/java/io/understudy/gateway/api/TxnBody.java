package io.understudy.gateway.api;

import io.etcd.jetcd.api.ResponseHeader;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;

/** A {@code TxnResponse}, composed of the bodies of its operations. */
final class TxnBody implements AnswerBody {

    private static final int SUCCEEDED = 0x10;
    private static final int RESPONSES = 0x1a;
    private static final int RESPONSE_RANGE = 0x0a;
    private static final int RESPONSE_TXN = 0x22;
    private static final int TRUE = 1;

    private final TxnResult result;
    private final ResponseHeader header;
    private final boolean succeeded;
    private final List<Operation> operations = new ArrayList<>();
    private final long length;
    /** Index of the operation being written. It is -1 before the header, and one past the last at the end. */
    private int current = -1;

    /** An element of {@code responses}: a message around the operation's own. */
    private record Operation(int tag, AnswerBody body) {

        static Operation of(OpResult result) {
            return result instanceof RangeResult range
                    ? new Operation(RESPONSE_RANGE, new RangeBody(range))
                    : new Operation(RESPONSE_TXN, new TxnBody((TxnResult) result));
        }

        long content() {
            return ProtoFields.lengthDelimitedSize(body.length());
        }

        void begin(ByteBuf out) {
            ProtoFields.writeLengthDelimited(out, RESPONSES, content());
            ProtoFields.writeLengthDelimited(out, tag, body.length());
        }
    }

    TxnBody(TxnResult result) {
        this.result = result;
        this.header = result.header();
        this.succeeded = result.succeeded();
        long size = HeaderForm.size(header) + ProtoFields.numberSize(succeeded ? TRUE : 0);
        for (OpResult each : result.results()) {
            Operation operation = Operation.of(each);
            operations.add(operation);
            size += ProtoFields.lengthDelimitedSize(operation.content());
        }
        this.length = size;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public Runnable keep(Runnable end) {
        return result.keep(end);
    }

    @Override
    public boolean appendTo(ByteBuf out, int wanted) {
        int enough = out.writerIndex() + wanted;
        if (current < 0) {
            HeaderForm.write(out, header);
            ProtoFields.writeNumber(out, SUCCEEDED, succeeded ? TRUE : 0);
            next(out);
        }
        while (current < operations.size()) {
            if (out.writerIndex() >= enough) {
                return true;
            }
            if (!operations.get(current).body().appendTo(out, enough - out.writerIndex())) {
                next(out);
            }
        }
        return false;
    }

    private void next(ByteBuf out) {
        current++;
        if (current < operations.size()) {
            operations.get(current).begin(out);
        }
    }
}
