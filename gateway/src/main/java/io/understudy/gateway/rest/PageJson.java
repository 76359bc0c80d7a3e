package io.understudy.gateway.rest;

import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.json.JsonBytes;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** A page of a listing, encoded at the client's pace. */
final class PageJson implements AnswerBody {

    private static final byte[] REVISION = JsonBytes.name("revision");
    private static final byte[] COUNT = JsonBytes.name("count");
    private static final byte[] KVS = JsonBytes.name("kvs");
    private static final byte[] CURSOR = JsonBytes.name("cursor");

    private final JsonBytes out = new JsonBytes(JsonForm.GRPC_GATEWAY_2);
    private final RangeResult result;
    private final Cursor page;
    private final Iterator<Entry> entries;
    private boolean begun;
    private @Nullable Entry last;

    /** @param page the cursor at its start */
    PageJson(RangeResult result, Cursor page) {
        this.result = result;
        this.page = page;
        this.entries = result.entries().iterator();
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
    public boolean appendTo(ByteBuf piece, int wanted) {
        if (!begun) {
            begun = true;
            out.open('{').member(REVISION).decimal(page.revision());
            out.member(COUNT).decimal(page.count());
            out.member(KVS).open('[');
        }
        while (entries.hasNext() && out.size() < wanted) {
            last = entries.next();
            KeyJson.write(out.separate(), last);
        }
        boolean more = entries.hasNext();
        if (!more) {
            out.close(']');
            if (result.more() && last != null) {
                out.member(CURSOR)
                        .string(new Cursor(page.revision(), page.count(), page.prefix(), KeyRange.successor(last.key()))
                                .encode());
            }
            out.close('}');
        }
        out.moveTo(piece);
        return more;
    }
}
