package io.understudy.gateway.rest;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.hub.WatchEvent;
import io.understudy.gateway.json.JsonBytes;
import io.understudy.gateway.json.JsonForm;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.util.List;

/** The text of a stream in one form. An event's ID is the revision up to which all commits were delivered. */
final class CommitText {

    private static final byte[] REVISION = JsonBytes.name("revision");
    private static final byte[] COMPACT_REVISION = JsonBytes.name("compact_revision");
    private static final byte[] CHANGES = JsonBytes.name("changes");

    private final StreamForm form;
    private final JsonBytes json = new JsonBytes(JsonForm.GRPC_GATEWAY_2);

    CommitText(StreamForm form) {
        this.form = form;
    }

    /** Writes each commit separately. */
    Buffer commits(EventBatch batch) {
        ByteBuf out = Unpooled.buffer();
        List<WatchEvent> events = batch.events();
        int next = 0;
        while (next < events.size()) {
            long revision = events.get(next).entry().modRevision();
            json.open('{').member(REVISION).decimal(revision).member(CHANGES).open('[');
            while (next < events.size() && events.get(next).entry().modRevision() == revision) {
                KeyJson.write(json.separate(), events.get(next));
                next++;
            }
            json.close(']').close('}');
            write(out, form == StreamForm.EVENTS ? "id: " + revision + "\ndata: " : "");
        }
        return BufferInternal.buffer(out);
    }

    /**
     * Reports that no commit follows up to that revision. The event has an ID but no data: browsers store the ID and
     * dispatch nothing.
     */
    Buffer progress(long revision) {
        ByteBuf out = Unpooled.buffer();
        if (form == StreamForm.EVENTS) {
            ByteBufUtil.writeAscii(out, ": up to\nid: " + revision + "\n\n");
        } else {
            json.open('{').member(REVISION).decimal(revision).member(CHANGES).open('[');
            json.close(']').close('}');
            write(out, "");
        }
        return BufferInternal.buffer(out);
    }

    /** Reports that the next commits are compacted. Keeps the last ID for clients that reconnect. */
    Buffer gap(long compactRevision, long revision) {
        ByteBuf out = Unpooled.buffer();
        json.open('{').member(COMPACT_REVISION).decimal(compactRevision);
        json.member(REVISION).decimal(revision).close('}');
        write(out, form == StreamForm.EVENTS ? "event: gap\ndata: " : "");
        return BufferInternal.buffer(out);
    }

    private void write(ByteBuf out, String before) {
        ByteBufUtil.writeAscii(out, before);
        json.moveTo(out);
        ByteBufUtil.writeAscii(out, form == StreamForm.EVENTS ? "\n\n" : "\n");
    }
}
