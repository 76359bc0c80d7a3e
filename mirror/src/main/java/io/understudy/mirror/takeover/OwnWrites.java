package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The last that a source's owners have made of each mirrored key; of so many keys, and no more. One thread. */
final class OwnWrites {

    private static final int MOST_KEYS = 10_000;
    private static final long MOST_BYTES = 64L << 20;

    private static final int MOST_IN_BATCH = 32;
    /** So much of values fits into one answer. */
    private static final int BATCH_BYTES = 48 << 20;

    private final MirrorScope scope;
    private final int batch;
    /** Nothing for a key that was deleted. */
    private final Map<ByteString, Optional<ByteString>> last = new LinkedHashMap<>();

    private long bytes;
    private boolean complete = true;

    /** @param maxRequestBytes no value of the target is larger */
    OwnWrites(MirrorScope scope, int maxRequestBytes) {
        this.scope = scope;
        this.batch = Math.max(1, Math.min(MOST_IN_BATCH, BATCH_BYTES / maxRequestBytes));
    }

    void add(Commit commit) {
        for (Change change : commit.changes()) {
            if (scope.contains(change.key())) {
                add(
                        change.key(),
                        change instanceof Change.Put put
                                ? Optional.of(put.keyValue().value())
                                : Optional.empty());
            }
        }
    }

    private void add(ByteString key, Optional<ByteString> value) {
        if (last.containsKey(key)) {
            bytes -= size(key, last.remove(key));
        }
        if (last.size() < MOST_KEYS && bytes + size(key, value) <= MOST_BYTES) {
            bytes += size(key, value);
            last.put(key, value);
        } else {
            complete = false;
        }
    }

    private static long size(ByteString key, Optional<ByteString> value) {
        return (long) key.size() + value.map(ByteString::size).orElse(0);
    }

    /** Whether every key is among them. */
    boolean isComplete() {
        return complete;
    }

    /** Those keys, as the source calls them, that are otherwise in the target. */
    List<ByteString> differingIn(PatientCalls target) {
        List<ByteString> keys = List.copyOf(last.keySet());
        List<ByteString> differing = new ArrayList<>();
        for (int from = 0; from < keys.size(); from += batch) {
            List<ByteString> some = keys.subList(from, Math.min(keys.size(), from + batch));
            List<Optional<ByteString>> there = values(target, some);
            for (int i = 0; i < some.size(); i++) {
                if (!there.get(i).equals(last.get(some.get(i)))) {
                    differing.add(some.get(i));
                }
            }
        }
        return differing;
    }

    private List<Optional<ByteString>> values(PatientCalls target, List<ByteString> keys) {
        TxnRequest.Builder reads = TxnRequest.newBuilder();
        keys.forEach(key -> reads.addSuccess(
                RequestOp.newBuilder().setRequestRange(RangeRequest.newBuilder().setKey(scope.inTarget(key)))));
        return target.txn("the keys that the source has written", reads.build()).getResponsesList().stream()
                .map(ResponseOp::getResponseRange)
                .map(found -> found.getKvsList().stream().findFirst().map(io.etcd.jetcd.api.KeyValue::getValue))
                .toList();
    }
}
