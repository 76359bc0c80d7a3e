package io.understudy.mirror.verify;

import io.etcd.jetcd.api.RequestOp;
import java.util.List;

/** Who writes to the target for the mirror, fenced as all its writes are. */
public interface Repair {

    /** There is nobody now. */
    Repair NOBODY = operations -> false;

    /**
     * Has operations done, in one transaction with the checkpoint. From any thread, which waits for it.
     *
     * @param operations nested transactions, each of which compares what it is about to put right
     * @return false if that is not the time for it
     */
    boolean repair(List<RequestOp> operations);
}
