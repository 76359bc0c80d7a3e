package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.RequestOp;
import java.util.ArrayList;
import java.util.List;

/** Gathers operations of different keys and has a lane write them, as many at a time as one transaction takes. */
final class Batch {

    private final Lane lane;
    private List<RequestOp> operations = new ArrayList<>();
    private long bytes;

    Batch(Lane lane) {
        this.lane = lane;
    }

    void add(RequestOp operation) {
        long more = Operations.bytes(operation);
        if (bytes + more > lane.room()) {
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
