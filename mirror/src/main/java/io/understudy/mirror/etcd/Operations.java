package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Operations on the target for changes of the source. */
final class Operations {

    /** Upper bound of an operation's overhead in a request: tag, length, share of nesting. */
    private static final int OVERHEAD_BYTES = 7;

    private Operations() {}

    /**
     * Returns one operation per mirrored key, under its target name. A transaction of etcd accepts each key once: the
     * last change wins.
     *
     * @param leased whether keys are put with their source leases
     */
    static List<RequestOp> of(Commit commit, MirrorScope scope, boolean leased) {
        List<Change> changes = commit.changes();
        if (changes.size() == 1) {
            Change only = changes.get(0);
            return scope.contains(only.key()) ? List.of(of(only, scope, leased)) : List.of();
        }
        Map<ByteString, RequestOp> byKey = new LinkedHashMap<>();
        for (Change change : changes) {
            if (scope.contains(change.key())) {
                byKey.put(change.key(), of(change, scope, leased));
            }
        }
        return List.copyOf(byKey.values());
    }

    static RequestOp put(KeyValue entry) {
        return put(entry.key(), entry.value());
    }

    static RequestOp put(KeyValue entry, long lease) {
        return put(entry.key(), entry.value(), lease);
    }

    static RequestOp put(ByteString key, ByteString value) {
        return put(key, value, 0);
    }

    /** @param lease 0 for none */
    static RequestOp put(ByteString key, ByteString value, long lease) {
        return EtcdMessages.put(key, value, lease);
    }

    static RequestOp delete(ByteString key) {
        return EtcdMessages.delete(key);
    }

    /** Returns the key of a put or delete. */
    static ByteString key(RequestOp operation) {
        return operation.hasRequestPut()
                ? operation.getRequestPut().getKey()
                : operation.getRequestDeleteRange().getKey();
    }

    /** Returns the key for errors. */
    static String shown(RequestOp operation) {
        return "key \"" + TextFormat.escapeBytes(key(operation)) + "\"";
    }

    /** Returns an upper bound of the operation's bytes in a request. */
    static long bytes(RequestOp operation) {
        return operation.getSerializedSize() + (long) OVERHEAD_BYTES;
    }

    /** Splits {@code operations} into parts of at most {@code room} bytes. A larger operation is its own part. */
    static List<List<RequestOp>> parts(List<RequestOp> operations, long room) {
        List<List<RequestOp>> parts = new ArrayList<>();
        int from = 0;
        long bytes = 0;
        for (int i = 0; i < operations.size(); i++) {
            long more = bytes(operations.get(i));
            if (bytes + more > room && i > from) {
                parts.add(operations.subList(from, i));
                from = i;
                bytes = 0;
            }
            bytes += more;
        }
        parts.add(operations.subList(from, operations.size()));
        return parts;
    }

    private static RequestOp of(Change change, MirrorScope scope, boolean leased) {
        ByteString key = scope.inTarget(change.key());
        return change instanceof Change.Put put
                ? put(key, put.keyValue().value(), leased ? put.keyValue().lease() : 0)
                : delete(key);
    }
}
