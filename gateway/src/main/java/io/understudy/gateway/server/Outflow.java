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

    Outflow(Http2Exchange exchange, Http2Handler handler) {
        this.exchange = exchange;
        this.handler = handler;
    }

    void push(ByteBuf data) {
        held.add(data);
        drain();
    }

    /** Hands on what the window has room for. */
    void drain() {
        int window = handler.window(exchange.stream()) - handedBytes;
        while (window > 0 && !held.isEmpty()) {
            ByteBuf next = held.element();
            int length = next.readableBytes();
            ByteBuf part = length <= window ? held.remove() : next.readRetainedSlice(window);
            length = part.readableBytes();
            window -= length;
            handedBytes += length;
            handler.push(exchange, part);
        }
    }

    /** As many of those handed on went to the socket, or nowhere. */
    void went(int bytes) {
        handedBytes -= bytes;
    }

    /** Whether the client takes more of this stream. */
    boolean flows() {
        return held.isEmpty();
    }

    /** What has yet to go to the socket. */
    int handedBytes() {
        return handedBytes;
    }

    /** Takes what is held, for another way. */
    ArrayDeque<ByteBuf> takeHeld() {
        ArrayDeque<ByteBuf> taken = held.clone();
        held.clear();
        return taken;
    }

    void drop() {
        held.forEach(ByteBuf::release);
        held.clear();
    }
}
