package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.scope.ReservedKeys;
import java.time.Duration;

/** The key of the target that names the active process of a mirror. Who is named there holds all the others off. */
record ActiveKey(PatientCalls target, ByteString key, Duration ttl) {

    ActiveKey(Parties parties) {
        this(parties.target(), ReservedKeys.of(parties.mirror(), "active"), parties.activeTtl());
    }

    /** Whether that name stands there for good: one that is released does so for a while, on a lease. */
    boolean isHeldBy(String name) {
        return target.get(key)
                .filter(found -> found.getLease() == 0 && found.getValue().equals(ByteString.copyFromUtf8(name)))
                .isPresent();
    }

    /**
     * For good, until released.
     *
     * @param provided what must hold meanwhile
     * @return whether it did
     */
    boolean take(String name, Compare provided) {
        return target.txn(
                        "the active process' name",
                        TxnRequest.newBuilder()
                                .addCompare(provided)
                                .addSuccess(RequestOp.newBuilder()
                                        .setRequestPut(PutRequest.newBuilder()
                                                .setKey(key)
                                                .setValue(ByteString.copyFromUtf8(name))))
                                .build())
                .getSucceeded();
    }

    /**
     * Lets another process be active once a time to live is over: until then the one that was has noticed that it isn't any
     * more, so that it begins anew instead of going on.
     */
    void release(String name) {
        LeaseGrantRequest request = LeaseGrantRequest.newBuilder()
                .setTTL(ttl.plusMillis(999).toSeconds())
                .build();
        long lease = target.call("a lease", LeaseGrpc::newBlockingStub, stub -> stub.leaseGrant(request))
                .getID();
        var unused = target.txn(
                "the active process' name",
                TxnRequest.newBuilder()
                        .addCompare(Compare.newBuilder()
                                .setKey(key)
                                .setTarget(Compare.CompareTarget.VALUE)
                                .setValue(ByteString.copyFromUtf8(name)))
                        .addSuccess(RequestOp.newBuilder()
                                .setRequestPut(PutRequest.newBuilder()
                                        .setKey(key)
                                        .setValue(ByteString.copyFromUtf8(name))
                                        .setLease(lease)))
                        .build());
    }
}
