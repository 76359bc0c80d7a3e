package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;

/**
 * What was pushed to a stream. As much as the stream's window allows is handed on to the connection; the rest is held
 * here, where it takes nothing from the connection's other streams, however long the client leaves it.
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

    /** Hands on what the window has room for. */
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

    /** What the window has room for beside all that was handed on. */
    private long room() {
        return (long) handler.window(exchange.stream()) - handedBytes;
    }

    /** As many of those handed on went to the socket, or nowhere. */
    void went(int bytes) {
        handedBytes -= bytes;
    }

    /** What the client takes at once of this stream; nothing while anything is held. */
    long freeBytes() {
        return held.isEmpty() ? room() : 0;
    }

    /** What has yet to go to the socket. */
    int handedBytes() {
        return handedBytes;
    }

    /** Takes what is held, for another way. */
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
