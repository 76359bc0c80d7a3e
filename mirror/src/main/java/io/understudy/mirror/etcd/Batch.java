package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.RequestOp;
import java.util.ArrayList;
import java.util.List;

/** Gathers operations of different keys and has a lane write them, many at a time. */
final class Batch {

    /**
     * Measured: etcd takes the least time for each put in transactions of about this size, and others that use the target
     * wait no longer than for a large value.
     */
    private static final long MOST_BYTES = 512 << 10;

    private final Lane lane;
    private final long most;
    private List<RequestOp> operations = new ArrayList<>();
    private long bytes;

    Batch(Lane lane) {
        this.lane = lane;
        this.most = Math.min(MOST_BYTES, lane.room());
    }

    void add(RequestOp operation) {
        long more = Operations.bytes(operation);
        if (bytes + more > most) {
            flush();
        }
        operations.add(operation);
        bytes += more;
    }

    /** Writes what waits. */
    void flush() {
        if (!operations.isEmpty()) {
            lane.write(operations);
            operations = new ArrayList<>();
            bytes = 0;
        }
    }
}
