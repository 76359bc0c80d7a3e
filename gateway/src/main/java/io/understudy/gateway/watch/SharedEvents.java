package io.understudy.gateway.watch;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.server.MessageCall;
import org.jspecify.annotations.Nullable;

/** The bytes of the batch that a loop delivers, encoded once. Confined to that loop. */
final class SharedEvents {

    private @Nullable EventBatch batch;
    private @Nullable ByteBuf events;
    private @Nullable ByteBuf message;

    ByteBuf eventsOf(EventBatch wanted, ByteBufAllocator allocator) {
        turnTo(wanted);
        if (events == null) {
            byte[] bytes = wanted.encoded();
            events = allocator.directBuffer(bytes.length).writeBytes(bytes);
        }
        return events;
    }

    ByteBuf messageOf(EventBatch wanted, WatchHeaders headers, ByteBufAllocator allocator) {
        turnTo(wanted);
        if (message == null) {
            byte[] header = headers.of(wanted.revision());
            byte[] bytes = wanted.encoded();
            int size = WatchMessage.size(header, 0, false) + bytes.length;
            ByteBuf made = allocator.directBuffer(MessageCall.PREFIX_BYTES + size);
            MessageCall.prefix(made, size);
            WatchMessage.write(made, header, 0, false);
            message = made.writeBytes(bytes);
        }
        return message;
    }

    void forget() {
        batch = null;
        if (events != null) {
            events.release();
            events = null;
        }
        if (message != null) {
            message.release();
            message = null;
        }
    }

    @SuppressWarnings("ReferenceEquality") // It has no other identity.
    private void turnTo(EventBatch wanted) {
        if (batch != wanted) {
            forget();
            batch = wanted;
        }
    }
}
