package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.RequestOp;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gathers operations of different keys and has a lane write them, many at a time. */
final class Batch {

    private final SyncWriter lane;
    private List<RequestOp> operations = new ArrayList<>();
    private long bytes;

    Batch(SyncWriter lane) {
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
            write(null);
        }
    }

    /** Writes the rest, after which the target holds that range of the snapshot. */
    void complete(KeyRange copied) {
        write(copied);
    }

    private void write(@Nullable KeyRange copied) {
        lane.write(operations, copied);
        operations = new ArrayList<>();
        bytes = 0;
    }
}
