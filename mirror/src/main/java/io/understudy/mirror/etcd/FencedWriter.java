package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes operations and the checkpoint in one transaction, exactly once.
 *
 * <p>Invariant W: every transaction compares the checkpoint key's mod revision with the one last written or read here,
 * and puts the checkpoint. So of all attempts at a transaction, and of all writers, at most one succeeds per mod
 * revision; an attempt that is still on its way after its outcome was given up fails when it arrives. What happened to
 * one of unknown outcome is read from the checkpoint.
 *
 * <p>One thread.
 */
final class FencedWriter {

    /** What etcd wraps around a transaction before it measures it: header, user name. */
    private static final int ENVELOPE_BYTES = 512;

    private final TargetCalls calls;
    private final ByteString key;
    private final String shownKey;
    private final EtcdSinkOptions options;

    /** Of the checkpoint key as last written or read; 0 when there is none. */
    private long modRevision;

    private long createRevision;
    private volatile @Nullable Checkpoint current;
    private long targetClusterId;

    FencedWriter(TargetCalls calls, String mirror, EtcdSinkOptions options) {
        this.calls = calls;
        this.key = ReservedKeys.checkpoint(mirror);
        this.shownKey = "key \"" + TextFormat.escapeBytes(key) + "\" of the target";
        this.options = options;
    }

    /** As last read or written; null if there was none. Any thread. */
    @Nullable Checkpoint current() {
        return current;
    }

    /** Target revision at which the first checkpoint was written: keys not written since then were there before. */
    long createRevision() {
        return createRevision;
    }

    /** The cluster that answered last. */
    long targetClusterId() {
        return targetClusterId;
    }

    String shownKey() {
        return shownKey;
    }

    /** Reads the checkpoint, linearizably. Writes from now on build on what was found. */
    @Nullable Checkpoint read() {
        KeyValue found = readKey();
        modRevision = found == null ? 0 : found.getModRevision();
        createRevision = found == null ? 0 : found.getCreateRevision();
        current = found == null ? null : decoded(found);
        return current;
    }

    /** How many bytes of operations one transaction takes beside a checkpoint like {@code checkpoint}. */
    long room(Checkpoint checkpoint) {
        return (long) options.maxRequestBytes()
                - ENVELOPE_BYTES
                - transaction(List.of(), CheckpointCodec.encode(checkpoint)).getSerializedSize();
    }

    /**
     * Does {@code operations} and stores {@code next}, or neither. Returns when it is known to be done.
     *
     * @throws SinkException.Fenced somebody else has written the checkpoint; nothing was written here
     */
    void write(List<RequestOp> operations, Checkpoint next) {
        ByteString value = CheckpointCodec.encode(next);
        TxnRequest request = transaction(operations, value);
        String what = operations.size() + " operations of " + request.getSerializedSize() + " bytes"
                + (operations.isEmpty() ? "" : " beginning with " + shown(operations.get(0)));
        while (true) {
            Optional<TxnResponse> answer = calls.txn(what, request);
            if (answer.isPresent() && answer.get().getSucceeded()) {
                landed(answer.get().getHeader().getRevision(), next);
                return;
            }
            KeyValue found = answer.isPresent() ? inFailure(answer.get()) : readKey();
            long foundRevision = found == null ? 0 : found.getModRevision();
            if (foundRevision == modRevision) {
                continue;
            }
            if (found == null
                    || foundRevision < modRevision
                    || !found.getValue().equals(value)) {
                throw notOurs(found, next);
            }
            landed(foundRevision, next);
            return;
        }
    }

    private void landed(long revision, Checkpoint next) {
        if (modRevision == 0) {
            createRevision = revision;
        }
        modRevision = revision;
        current = next;
    }

    private TxnRequest transaction(List<RequestOp> operations, ByteString checkpoint) {
        return TxnRequest.newBuilder()
                .addCompare(Compare.newBuilder()
                        .setKey(key)
                        .setTarget(Compare.CompareTarget.MOD)
                        .setResult(Compare.CompareResult.EQUAL)
                        .setModRevision(modRevision))
                .addSuccess(Operations.put(key, checkpoint))
                .addAllSuccess(OperationTree.of(operations, options.maxTxnOps() - 1))
                .addFailure(RequestOp.newBuilder()
                        .setRequestRange(RangeRequest.newBuilder().setKey(key)))
                .build();
    }

    private @Nullable KeyValue readKey() {
        RangeResponse answer = calls.range(RangeRequest.newBuilder().setKey(key).build());
        targetClusterId = answer.getHeader().getClusterId();
        return answer.getKvsCount() == 0 ? null : answer.getKvs(0);
    }

    private static @Nullable KeyValue inFailure(TxnResponse answer) {
        RangeResponse range = answer.getResponses(0).getResponseRange();
        return range.getKvsCount() == 0 ? null : range.getKvs(0);
    }

    private SinkException notOurs(@Nullable KeyValue found, Checkpoint intended) {
        String ours = "this mirror is " + intended.writer() + " at epoch " + intended.epoch();
        if (found == null) {
            return new SinkException.Refused("the checkpoint at " + shownKey + " is gone, though " + ours
                    + " had written it at target revision " + modRevision
                    + ": it was deleted, or the target was wiped or restored");
        }
        Checkpoint theirs = decoded(found);
        if (theirs.writer().equals(intended.writer())) {
            return new SinkException.Refused("the target went back: the checkpoint at " + shownKey
                    + " is of target revision " + found.getModRevision() + ", " + ours + " had written revision "
                    + modRevision + ". It was restored from a backup or changed by hand");
        }
        return new SinkException.Fenced("fenced: " + theirs.writer() + " took the mirror over at epoch "
                + theirs.epoch() + " (checkpoint at " + shownKey + ", target revision " + found.getModRevision()
                + "); " + ours + " and writes no more. Two mirrors of one name run: stop one of them");
    }

    private Checkpoint decoded(KeyValue found) {
        try {
            return CheckpointCodec.decode(shownKey, found.getValue());
        } catch (CorruptCheckpointException e) {
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
        }
    }

    private static String shown(RequestOp operation) {
        ByteString first = operation.hasRequestPut()
                ? operation.getRequestPut().getKey()
                : operation.getRequestDeleteRange().getKey();
        return "key \"" + TextFormat.escapeBytes(first) + "\"";
    }
}
