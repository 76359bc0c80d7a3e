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
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.etcd.Operations.OperationTree;
import io.understudy.vocabulary.Counted;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A target key that one writer puts in each transaction, to apply each exactly once.
 *
 * <p>Every transaction compares the key's mod revision with the one last written or read here, and puts the key. So of
 * all attempts at a transaction, and of all writers, at most one succeeds per mod revision; a delayed attempt fails
 * when it arrives. The outcome of an unanswered one is read from the key: its value must differ between transactions,
 * or at least between writers.
 *
 * <p>One thread at a time.
 *
 * <p>Invariant M7: a transaction of unknown outcome is written once, and of two writers of one mirror only the later
 * one writes.
 */
final class FencedKey {

    /** The outcome of a transaction. */
    sealed interface Outcome {
        /** The transaction was applied once. */
        record Done() implements Outcome {}

        /** The transaction was not and never will be applied: the key changed. */
        record Lost(@Nullable KeyValue found) implements Outcome {}

        /** The transaction was not applied: the key is unchanged, but another compare failed. */
        record Unmet() implements Outcome {}
    }

    /** Size of etcd's envelope of a transaction: header and user name. */
    private static final int ENVELOPE_BYTES = 512;

    private static final Outcome DONE = new Outcome.Done();
    private static final Outcome UNMET = new Outcome.Unmet();

    private final TargetCalls calls;
    private final ByteString key;
    private final EtcdSinkOptions options;

    /** Mod revision as last written or read; 0 if absent. */
    private long modRevision;

    private long clusterId;

    FencedKey(TargetCalls calls, ByteString key, EtcdSinkOptions options) {
        this.calls = calls;
        this.key = key;
        this.options = options;
    }

    /** Returns the key for errors. */
    String shown() {
        return "key \"" + TextFormat.escapeBytes(key) + "\" of the target";
    }

    /** Returns the key's mod revision as last written or read; 0 if absent. */
    long modRevision() {
        return modRevision;
    }

    /** Returns the ID of the cluster that answered the last read. */
    long clusterId() {
        return clusterId;
    }

    /** Reads the key linearizably. Later writes compare with the result. */
    @Nullable KeyValue read() {
        KeyValue found = fetch();
        modRevision = found == null ? 0 : found.getModRevision();
        return found;
    }

    /** Sets the revision that later writes compare with. */
    void writtenAt(long revision) {
        modRevision = revision;
    }

    /** Returns the bytes of operations that fit beside {@code value} and {@code compares}. Any thread. */
    long room(ByteString value, List<Compare> compares) {
        return (long) options.maxRequestBytes()
                - ENVELOPE_BYTES
                - transaction(List.of(), value, compares, Long.MAX_VALUE).getSerializedSize();
    }

    /**
     * Applies {@code operations} and puts {@code value} atomically; returns when the outcome is known.
     *
     * @param compares additional compares
     */
    Outcome write(List<RequestOp> operations, ByteString value, List<Compare> compares) {
        TxnRequest request = transaction(operations, value, compares, modRevision);
        Supplier<String> what = what(operations, request);
        while (true) {
            Optional<TxnResponse> answer = calls.txn(what, request);
            if (answer.isPresent() && answer.get().getSucceeded()) {
                modRevision = answer.get().getHeader().getRevision();
                return DONE;
            }
            KeyValue found = answer.isPresent() ? inFailure(answer.get()) : fetch();
            long foundRevision = found == null ? 0 : found.getModRevision();
            if (foundRevision > modRevision && found != null && found.getValue().equals(value)) {
                modRevision = foundRevision;
                return DONE;
            }
            if (foundRevision != modRevision) {
                return new Outcome.Lost(found);
            }
            if (answer.isPresent()) {
                return UNMET;
            }
        }
    }

    /**
     * Submits a {@link #write} that is never applied, since etcd compares its size with the limits first.
     *
     * @throws io.understudy.mirror.sink.SinkException.Refused the target rejects it
     */
    void requireAccepted(List<RequestOp> operations, ByteString value, List<Compare> compares) {
        TxnRequest request = transaction(operations, value, compares, Long.MAX_VALUE);
        Supplier<String> what = what(operations, request);
        Optional<TxnResponse> answer = calls.txn(what, request);
        while (answer.isEmpty()) {
            answer = calls.txn(what, request);
        }
    }

    private Supplier<String> what(List<RequestOp> operations, TxnRequest request) {
        return () -> "write of " + Counted.of(operations.size(), "operation") + ", "
                + request.getSerializedSize()
                + " bytes (maxRequestBytes " + options.maxRequestBytes() + ")"
                + (operations.isEmpty() ? "" : ", first " + Operations.shown(operations.get(0)));
    }

    /** Reads the key by another thread's calls. */
    @Nullable KeyValue seenBy(TargetCalls reader) {
        RangeResponse answer =
                reader.range(RangeRequest.newBuilder().setKey(key).build());
        return answer.getKvsCount() == 0 ? null : answer.getKvs(0);
    }

    private TxnRequest transaction(List<RequestOp> operations, ByteString value, List<Compare> compares, long before) {
        return TxnRequest.newBuilder()
                .addCompare(EtcdMessages.unmodified(key, before))
                .addAllCompare(compares)
                .addSuccess(EtcdMessages.put(key, value))
                .addAllSuccess(OperationTree.of(operations, options.maxTxnOps() - 1))
                .addFailure(EtcdMessages.get(key))
                .build();
    }

    private @Nullable KeyValue fetch() {
        RangeResponse answer = calls.range(RangeRequest.newBuilder().setKey(key).build());
        clusterId = answer.getHeader().getClusterId();
        return answer.getKvsCount() == 0 ? null : answer.getKvs(0);
    }

    private static @Nullable KeyValue inFailure(TxnResponse answer) {
        RangeResponse range = answer.getResponses(0).getResponseRange();
        return range.getKvsCount() == 0 ? null : range.getKvs(0);
    }
}
