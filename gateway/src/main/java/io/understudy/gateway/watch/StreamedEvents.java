package io.understudy.gateway.watch;

import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.hub.EventBatch;
import java.util.Iterator;
import java.util.List;

/** A {@code WatchResponse} in gRPC's framing, with events that are encoded as the client reads. */
final class StreamedEvents implements AnswerBody {

    private final EventBatch batch;
    private final long length;
    private final int end;
    private int next;
    private Iterator<byte[]> parts;
    private byte[] part;
    private int at;

    /**
     * @param begin the message's prefix and all before its events
     * @param first index of the first event
     * @param end of them, exclusive
     */
    StreamedEvents(byte[] begin, EventBatch batch, int first, int end) {
        this.batch = batch;
        this.length = begin.length + (long) batch.ends()[end - 1] - (first == 0 ? 0 : batch.ends()[first - 1]);
        this.next = first;
        this.end = end;
        this.part = begin;
        this.parts = List.<byte[]>of().iterator();
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public Runnable keep(Runnable end) {
        return batch.keep(end);
    }

    @Override
    public boolean appendTo(ByteBuf out, int wanted) {
        int left = wanted;
        while (left > 0) {
            if (at == part.length) {
                if (!parts.hasNext()) {
                    if (next == end) {
                        return false;
                    }
                    parts = batch.encoded(next++).iterator();
                }
                part = parts.next();
                at = 0;
            }
            int bytes = Math.min(left, part.length - at);
            out.writeBytes(part, at, bytes);
            at += bytes;
            left -= bytes;
        }
        return at < part.length || parts.hasNext() || next < end;
    }
}
