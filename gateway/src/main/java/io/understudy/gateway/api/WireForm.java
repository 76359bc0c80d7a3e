package io.understudy.gateway.api;

import io.netty.buffer.ByteBuf;
import io.understudy.gateway.replica.Entry;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

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
        public long length() {
            return UNKNOWN;
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
}
