package io.understudy.gateway.rest;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.hub.Watcher.WatchEvent;
import io.understudy.gateway.json.JsonBytes;
import io.understudy.gateway.json.JsonForm;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The text of a stream in one form. An event's ID is the revision up to which all commits were delivered. */
final class CommitText {

    private static final byte[] REVISION = JsonBytes.name("revision");
    private static final byte[] COMPACT_REVISION = JsonBytes.name("compact_revision");
    private static final byte[] REASON = JsonBytes.name("reason");
    private static final byte[] CHANGES = JsonBytes.name("changes");

    private final StreamForm form;
    private final JsonBytes json = new JsonBytes(JsonForm.GRPC_GATEWAY_2);

    CommitText(StreamForm form) {
        this.form = form;
    }

    /** Writes each commit separately. */
    ByteBuf commits(EventBatch batch) {
        ByteBuf out = Unpooled.buffer();
        boolean unused = new Commits(form, batch).appendTo(out, Integer.MAX_VALUE);
        return out;
    }

    /** As {@link #commits}, written as the client reads. */
    AnswerBody streamed(EventBatch batch) {
        return new Commits(form, batch);
    }

    private static final class Commits implements AnswerBody {
        private final StreamForm form;
        private final EventBatch batch;
        private final List<WatchEvent> events;
        private final JsonBytes json = new JsonBytes(JsonForm.GRPC_GATEWAY_2);
        private int next;
        /** The revision of the commit that is being written; 0 between two. */
        private long revision;

        Commits(StreamForm form, EventBatch batch) {
            this.form = form;
            this.batch = batch;
            this.events = batch.events();
        }

        @Override
        public Runnable keep(Runnable end) {
            return batch.keep(end);
        }

        @Override
        public boolean appendTo(ByteBuf out, int wanted) {
            int begin = out.writerIndex();
            while (next < events.size() && out.writerIndex() - begin + json.size() < wanted) {
                WatchEvent event = events.get(next);
                if (revision == 0) {
                    revision = event.entry().modRevision();
                    ByteBufUtil.writeAscii(out, form == StreamForm.EVENTS ? "id: " + revision + "\ndata: " : "");
                    json.open('{').member(REVISION).decimal(revision);
                    json.member(CHANGES).open('[');
                }
                KeyJson.write(json.separate(), event);
                next++;
                if (next == events.size() || events.get(next).entry().modRevision() != revision) {
                    revision = 0;
                    json.close(']').close('}').moveTo(out);
                    ByteBufUtil.writeAscii(out, ending(form));
                }
            }
            json.moveTo(out);
            return next < events.size();
        }
    }

    /**
     * Reports that no commit follows up to that revision. The event has an ID but no data: browsers store the ID and
     * dispatch nothing.
     */
    ByteBuf progress(long revision) {
        ByteBuf out = Unpooled.buffer();
        if (form == StreamForm.EVENTS) {
            ByteBufUtil.writeAscii(out, ": up to\nid: " + revision + "\n\n");
        } else {
            json.open('{').member(REVISION).decimal(revision).member(CHANGES).open('[');
            json.close(']').close('}');
            write(out, "");
        }
        return out;
    }

    /**
     * Reports that the next commits cannot be delivered. Keeps the last ID for clients that reconnect.
     *
     * @param reason null if they are compacted
     */
    ByteBuf gap(long compactRevision, long revision, @Nullable String reason) {
        ByteBuf out = Unpooled.buffer();
        json.open('{').member(COMPACT_REVISION).decimal(compactRevision);
        json.member(REVISION).decimal(revision);
        if (reason != null) {
            json.member(REASON).string(reason);
        }
        json.close('}');
        write(out, form == StreamForm.EVENTS ? "event: gap\ndata: " : "");
        return out;
    }

    private void write(ByteBuf out, String before) {
        ByteBufUtil.writeAscii(out, before);
        json.moveTo(out);
        ByteBufUtil.writeAscii(out, ending(form));
    }

    private static String ending(StreamForm form) {
        return form == StreamForm.EVENTS ? "\n\n" : "\n";
    }
}
