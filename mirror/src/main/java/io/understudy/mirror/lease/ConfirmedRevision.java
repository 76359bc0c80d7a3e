package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.vocabulary.Revision;

/**
 * A cluster's revision, confirmed by a quorum, that covers every change before the read. Thread-safe.
 *
 * @param calls of members that confirm revisions
 * @param key a readable key
 */
record ConfirmedRevision(ClusterCalls calls, ByteString key) {

    /** Reads the revision once. */
    Revision read() throws CallFailedException, InterruptedException {
        RangeRequest request =
                RangeRequest.newBuilder().setKey(key).setCountOnly(true).build();
        return new Revision(calls.kv(stub -> stub.range(request)).getHeader().getRevision());
    }
}
