package io.understudy.gateway.api;

import io.etcd.jetcd.api.ResponseHeader;
import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.api.ResponseHeaders.HeaderForm;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.Entry.EntryFields;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Results as etcd's protobuf messages: fields in the order of their numbers, without defaults.
 *
 * <p>Invariant A1: responses are byte-identical to those of an etcd member at the replica's revision, except for member
 * id and Raft term; errors have etcd's code and text.
 */
public final class WireForm {

    private WireForm() {}

    /** Returns the answer to a range request, with a known length. */
    public static AnswerBody of(RangeResult result) {
        return new RangeBody(result);
    }

    /** Returns the response to a range request as a stream of messages of unknown length. */
    public static AnswerBody stream(RangeResult result) {
        return new RangeStreamBody(result);
    }

    /** Returns the answer to a transaction, with a known length. */
    public static AnswerBody of(TxnResult result) {
        return new TxnBody(result);
    }

    /**
     * The messages of a {@code RangeStream}, each with gRPC's prefix. As in etcd 3.7, only the last has header, more
     * and count; together they are the {@code RangeResponse}.
     */
    private static final class RangeStreamBody implements AnswerBody {

        private static final int RANGE_RESPONSE = 0x0a;

        private final RangeResult result;
        private final Iterator<Entry> rest;

        RangeStreamBody(RangeResult result) {
            this.result = result;
            this.rest = result.entries().iterator();
        }

        @Override
        public Runnable keep(Runnable end) {
            return result.keep(end);
        }

        @Override
        public boolean appendTo(ByteBuf out, int wanted) {
            List<Entry> entries = new ArrayList<>();
            long size = 0;
            while (rest.hasNext() && size < wanted) {
                Entry next = rest.next();
                entries.add(next);
                size += RangeBody.size(result, next);
            }
            boolean more = rest.hasNext();
            size += more ? 0 : RangeBody.sizeWithoutEntries(result);
            out.writeByte(0).writeInt((int) ProtoFields.lengthDelimitedSize(size));
            ProtoFields.writeLengthDelimited(out, RANGE_RESPONSE, size);
            if (!more) {
                HeaderForm.write(out, result.header());
            }
            entries.forEach(entry -> RangeBody.write(out, result, entry));
            if (!more) {
                RangeBody.writeCounts(out, result);
            }
            return more;
        }
    }

    /** A {@code TxnResponse}, composed of the bodies of its operations. */
    private static final class TxnBody implements AnswerBody {

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

    /** A {@code RangeResponse}, with entries copied in their stored form. */
    private static final class RangeBody implements AnswerBody {

        private static final int KVS = 0x12;
        private static final int MORE = 0x18;
        private static final int COUNT = 0x20;
        private static final int TRUE = 1;

        private final RangeResult result;
        private final long length;
        private @Nullable Iterator<Entry> rest;

        RangeBody(RangeResult result) {
            this.result = result;
            this.length = sizeWithoutEntries(result) + result.entries().answerBytes(result.fields());
        }

        static long sizeWithoutEntries(RangeResult result) {
            return HeaderForm.size(result.header())
                    + ProtoFields.numberSize(more(result))
                    + ProtoFields.numberSize(result.count());
        }

        static long size(RangeResult result, Entry entry) {
            return ProtoFields.lengthDelimitedSize(entry.wireSize(result.fields()));
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
            if (rest == null) {
                HeaderForm.write(out, result.header());
                rest = result.entries().iterator();
            }
            while (rest.hasNext()) {
                if (out.writerIndex() >= enough) {
                    return true;
                }
                write(out, result, rest.next());
            }
            writeCounts(out, result);
            return false;
        }

        static void writeCounts(ByteBuf out, RangeResult result) {
            ProtoFields.writeNumber(out, MORE, more(result));
            ProtoFields.writeNumber(out, COUNT, result.count());
        }

        static void write(ByteBuf out, RangeResult result, Entry entry) {
            byte[] wire = entry.wire();
            if (result.fields() == EntryFields.ALL) {
                ProtoFields.writeLengthDelimited(out, KVS, wire.length);
                out.writeBytes(wire);
                return;
            }
            int start = entry.valueFieldStart();
            int end = result.fields() == EntryFields.WITHOUT_VALUE ? entry.valueFieldEnd() : wire.length;
            ProtoFields.writeLengthDelimited(out, KVS, wire.length - (end - start));
            out.writeBytes(wire, 0, start).writeBytes(wire, end, wire.length - end);
        }

        private static int more(RangeResult result) {
            return result.more() ? TRUE : 0;
        }
    }
}
