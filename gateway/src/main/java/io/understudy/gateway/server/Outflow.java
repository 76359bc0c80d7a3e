package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;

/**
 * Data pushed to a stream. The part within the stream's window is written to the connection; the rest is held here,
 * where it does not delay other streams, until the client reads.
 */
final class Outflow {

    private final Http2Exchange exchange;
    private final Http2Handler handler;
    private final ArrayDeque<ByteBuf> held = new ArrayDeque<>(1);
    private int handedBytes;
    private long heldBytes;

    Outflow(Http2Exchange exchange, Http2Handler handler) {
        this.exchange = exchange;
        this.handler = handler;
    }

    void push(ByteBuf data) {
        hold(data);
        drain();
    }

    /** Writes held data within the window. */
    void drain() {
        long room = room();
        while (room > 0 && !held.isEmpty()) {
            ByteBuf next = held.element();
            ByteBuf part = next.readableBytes() <= room ? held.remove() : next.readRetainedSlice((int) room);
            int length = part.readableBytes();
            room -= length;
            handedBytes += length;
            heldBytes -= length;
            handler.held(-length);
            handler.push(exchange, part);
        }
    }

    /** Returns the room of the window beyond the written data. */
    private long room() {
        return (long) handler.window(exchange.stream()) - handedBytes;
    }

    /** Written bytes were sent or dropped. */
    void went(int bytes) {
        handedBytes -= bytes;
    }

    /** Returns the free bytes of the window; 0 while data is held. */
    long freeBytes() {
        return held.isEmpty() ? room() : 0;
    }

    /** Returns the written bytes that are not sent yet. */
    int handedBytes() {
        return handedBytes;
    }

    /** Removes and returns the held data. */
    ArrayDeque<ByteBuf> takeHeld() {
        ArrayDeque<ByteBuf> taken = held.clone();
        forgetHeld();
        return taken;
    }

    void drop() {
        held.forEach(ByteBuf::release);
        forgetHeld();
    }

    private void hold(ByteBuf data) {
        held.add(data);
        heldBytes += data.readableBytes();
        handler.held(data.readableBytes());
    }

    private void forgetHeld() {
        held.clear();
        handler.held(-heldBytes);
        heldBytes = 0;
    }
}
