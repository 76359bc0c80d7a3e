package io.understudy.gateway.caller;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Encoded requests of a client that streams them, in their order. On the session's event loop. */
public final class StreamedRequests {

    /** Approximate overhead of a queued request, which may be empty. */
    public static final int OVERHEAD_BYTES = 64;

    private final Queue<byte[]> arrived = new ArrayDeque<>();
    private final Runnable taken;
    private Runnable changed = () -> {};
    private boolean complete;
    private int bytes;

    /** @param taken run when all requests that had arrived were taken */
    public StreamedRequests(Runnable taken) {
        this.taken = taken;
    }

    /** Adds requests; {@code last} if none follow. */
    public void add(List<byte[]> requests, boolean last) {
        arrived.addAll(requests);
        requests.forEach(request -> bytes += request.length + OVERHEAD_BYTES);
        complete |= last;
        changed.run();
    }

    /** Runs {@code task} on each change. */
    public void onChange(Runnable task) {
        changed = task;
    }

    /** Takes the next request; null if none has arrived. */
    public byte @Nullable [] poll() {
        byte[] next = arrived.poll();
        if (next != null) {
            bytes -= next.length + OVERHEAD_BYTES;
            if (arrived.isEmpty()) {
                taken.run();
            }
        }
        return next;
    }

    /** Returns the approximate memory of those waiting. */
    public int bytes() {
        return bytes;
    }

    /** Whether none is waiting. */
    public boolean isEmpty() {
        return arrived.isEmpty();
    }

    /** Whether all requests were taken and none follow. */
    public boolean isOver() {
        return complete && arrived.isEmpty();
    }
}
