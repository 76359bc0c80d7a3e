package io.understudy.gateway.api;

import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.ResponseHeaders.HeaderForm;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.Entry.EntryFields;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** A {@code RangeResponse}, with entries copied in their stored form. */
final class RangeBody implements AnswerBody {

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
