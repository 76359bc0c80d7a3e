package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.call.Repeated;
import io.understudy.mirror.lease.LeaseRestore.LeasedKey;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores keys deleted by expired leases, and queue order, as of a source revision. One thread, while no other writes.
 *
 * <p>Invariant M11: keys that expired while no mirror ran are restored.
 *
 * @param source reads of any revision
 * @param target linearizable reads
 * @param atSource repeats calls to the source, for a limited time
 * @param batch maximum operations of a transaction
 */
record LeaseRestore(
        String mirror,
        MirrorScope scope,
        ClusterCalls source,
        ClusterCalls target,
        int batch,
        Repeated atSource,
        Repeated atTarget,
        KeptLeases leases) {

    private static final Logger LOG = LoggerFactory.getLogger(LeaseRestore.class);

    /** Small enough for the largest values: etcd 3.7 omits leases from reads without values. */
    private static final int FIRST_PAGE_KEYS = 16;

    private static final int MAX_PAGE_KEYS = 4_096;
    private static final long PAGE_BYTES = 2L << 20;
    /** Number of values read at a time, and held in memory: each may be as large as a request. */
    private static final int VALUES_AT_A_TIME = 16;

    /**
     * Restores keys, see {@link TargetLeases#restore}.
     *
     * @throws SinkException.Unavailable the source is now another cluster
     * @return number of keys put; empty if the source has compacted that revision, without a write
     */
    OptionalInt run(
            Position at, @Nullable List<io.understudy.vocabulary.KeyValue> given, Consumer<List<RequestOp>> writer) {
        try {
            List<LeasedKey> keys =
                    given == null ? read(at) : given.stream().map(this::leased).toList();
            Set<Long> stale =
                    leases.hold(keys.stream().map(LeasedKey::lease).distinct().toList());
            RestorePlan plan = RestorePlan.of(compared(keys), stale);
            write(plan, stale, at, writer);
            keys.forEach(key -> leases.attach(key.key(), key.lease()));
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("revision", at.revision())
                    .addKeyValue("keys", keys.size())
                    .addKeyValue("put", plan.puts().size())
                    .addKeyValue("recreated", plan.deletes().size())
                    .log("keys with leases compared");
            return OptionalInt.of(plan.puts().size());
        } catch (CompactedException e) {
            return OptionalInt.empty();
        }
    }

    private LeasedKey leased(io.understudy.vocabulary.KeyValue entry) {
        return new LeasedKey(
                entry.key(), scope.atSource(entry.key()), entry.createRevision().value(), entry.lease(), 0, false);
    }

    private List<LeasedKey> read(Position at) {
        List<LeasedKey> keys = new ArrayList<>();
        for (KeyRange range : scope.sourceRanges()) {
            ByteString from = range.etcdKey();
            int limit = FIRST_PAGE_KEYS;
            while (true) {
                RangeResponse page = atSource(
                        RangeRequest.newBuilder()
                                .setKey(from)
                                .setRangeEnd(range.etcdRangeEnd())
                                .setLimit(limit),
                        at);
                for (KeyValue entry : page.getKvsList()) {
                    if (entry.getLease() != 0 && scope.contains(entry.getKey())) {
                        keys.add(new LeasedKey(
                                scope.inTarget(entry.getKey()),
                                entry.getKey(),
                                entry.getCreateRevision(),
                                entry.getLease(),
                                0,
                                false));
                    }
                }
                if (!page.getMore()) {
                    break;
                }
                from = KeyRange.single(page.getKvs(page.getKvsCount() - 1).getKey())
                        .etcdRangeEnd();
                long perKey = Math.max(1, page.getSerializedSize() / page.getKvsCount());
                limit = (int) Math.max(1, Math.min(MAX_PAGE_KEYS, Math.min(limit * 4L, PAGE_BYTES / perKey)));
            }
        }
        return keys;
    }

    private List<LeasedKey> compared(List<LeasedKey> keys) {
        List<LeasedKey> compared = new ArrayList<>(keys.size());
        for (List<LeasedKey> some : parts(keys, batch)) {
            TxnRequest.Builder reads = TxnRequest.newBuilder();
            some.forEach(key -> reads.addSuccess(RequestOp.newBuilder().setRequestRange(withoutValue(key.key()))));
            TxnResponse answers = atTarget.until(
                    "read of keys with leases in the target", () -> target.kv(stub -> stub.txn(reads.build())));
            for (int i = 0; i < some.size(); i++) {
                LeasedKey key = some.get(i);
                RangeResponse answer = answers.getResponses(i).getResponseRange();
                KeyValue there = answer.getKvsCount() == 0 ? KeyValue.getDefaultInstance() : answer.getKvs(0);
                compared.add(key.inTarget(there.getCreateRevision(), there.getLease() == key.lease()));
            }
        }
        return compared;
    }

    /** Sorted by value, since etcd 3.7 otherwise omits the lease ({@code etcdserver/txn/range.go}). */
    private static RangeRequest.Builder withoutValue(ByteString key) {
        return RangeRequest.newBuilder().setKey(key).setKeysOnly(true).setSortTarget(RangeRequest.SortTarget.VALUE);
    }

    private List<ByteString> values(List<LeasedKey> keys, Position at) {
        return leases.together(keys.stream()
                .<Callable<ByteString>>map(
                        key -> () -> atSource(RangeRequest.newBuilder().setKey(key.atSource()), at)
                                .getKvs(0)
                                .getValue())
                .toList());
    }

    /**
     * Deletes and puts as planned, a part of the values at a time.
     *
     * @throws CompactedException the source has compacted the revision; nothing was written
     * @throws SinkException.Unavailable it did so after the first write
     */
    private void write(RestorePlan plan, Set<Long> stale, Position at, Consumer<List<RequestOp>> writer) {
        Iterator<List<LeasedKey>> parts = parts(plan.puts(), VALUES_AT_A_TIME).iterator();
        List<LeasedKey> puts = parts.hasNext() ? parts.next() : List.of();
        // Before the first write: the source may have compacted the revision.
        List<ByteString> values = values(puts, at);
        for (List<LeasedKey> some : parts(plan.deletes(), batch)) {
            some.forEach(key -> leases.deleted(key.key()));
            writer.accept(
                    some.stream().map(key -> EtcdMessages.delete(key.key())).toList());
        }
        var unused = leases.hold(List.copyOf(stale));
        put(puts, values, writer);
        while (parts.hasNext()) {
            List<LeasedKey> next = parts.next();
            try {
                values = values(next, at);
            } catch (CompactedException e) {
                throw new SinkException.Unavailable(
                        "source compacted revision " + at.revision()
                                + " while keys with leases were restored; a resync follows",
                        e);
            }
            put(next, values, writer);
        }
    }

    /** Puts one key per transaction: the order of a queue is that of create revisions. */
    private void put(List<LeasedKey> keys, List<ByteString> values, Consumer<List<RequestOp>> writer) {
        for (int i = 0; i < keys.size(); i++) {
            LeasedKey key = keys.get(i);
            leases.attach(key.key(), key.lease());
            writer.accept(List.of(EtcdMessages.put(key.key(), values.get(i), key.lease())));
        }
    }

    private static List<List<LeasedKey>> parts(List<LeasedKey> keys, int most) {
        List<List<LeasedKey>> parts = new ArrayList<>();
        for (int from = 0; from < keys.size(); from += most) {
            parts.add(keys.subList(from, Math.min(keys.size(), from + most)));
        }
        return parts;
    }

    private RangeResponse atSource(RangeRequest.Builder request, Position at) {
        request.setRevision(at.revision().value()).setSerializable(true);
        Optional<RangeResponse> found = Optional.empty();
        while (found.isEmpty()) {
            found = atSource.until("read of keys with leases from the source", () -> answer(request, at));
        }
        RangeResponse answer = found.get();
        ClusterId answering = new ClusterId(answer.getHeader().getClusterId());
        if (!answering.equals(at.cluster())) {
            throw new SinkException.Unavailable(
                    "source cluster ID changed from " + at.cluster() + " to " + answering, null);
        }
        return answer;
    }

    /** Reads in one attempt. Empty if a smaller request, which is prepared, may succeed. */
    private Optional<RangeResponse> answer(RangeRequest.Builder request, Position at)
            throws CallFailedException, InterruptedException {
        try {
            RangeRequest pinned = request.build();
            return Optional.of(source.kv(stub -> stub.range(pinned)));
        } catch (CallFailedException e) {
            if (e.error() == EtcdError.COMPACTED) {
                throw new CompactedException();
            }
            // From a member that lags, or a source that was restored.
            if (e.error() == EtcdError.FUTURE_REVISION && leases.head().isBefore(at.revision())) {
                throw new SinkException.Unavailable(
                        "source revision decreased below the mirrored revision " + at.revision(), e);
            }
            if (request.getLimit() <= 1) {
                throw e;
            }
            // The answer may have been too large, also for the deadline.
            request.setLimit((request.getLimit() + 1) / 2);
            if (!e.isMessageTooLarge()) {
                throw e;
            }
            return Optional.empty();
        }
    }

    private static final class CompactedException extends RuntimeException {}

    /**
     * A key with a lease at a source revision, with its state in the target.
     *
     * @param key name in the target
     * @param atSource name at the source
     * @param created its create revision at the source
     * @param lease its lease at the source
     * @param targetCreated its create revision in the target, 0 if it is missing
     * @param isAttached whether it has that lease in the target
     */
    record LeasedKey(
            ByteString key, ByteString atSource, long created, long lease, long targetCreated, boolean isAttached) {

        boolean isMissing() {
            return targetCreated == 0;
        }

        /** Returns this key with its state in the target. */
        LeasedKey inTarget(long createdThere, boolean attachedThere) {
            return new LeasedKey(key, atSource, created, lease, createdThere, attachedThere);
        }

        /**
         * Whether the key is a queue position of etcd's locks and elections: name, then lease. The owner of the key that
         * was created first holds the lock.
         */
        boolean isPlace() {
            return atSource.endsWith(suffix());
        }

        /** Returns the queue of the position. */
        ByteString queue() {
            return key.substring(0, key.size() - suffix().size());
        }

        private ByteString suffix() {
            return ByteString.copyFromUtf8("/" + Long.toHexString(lease));
        }
    }

    /**
     * The writes after which the target has the source's keys with leases. Keys that are missing, or have another lease,
     * are put. Each place of a queue after a missing or displaced one is deleted and put, so that the order is the
     * source's. So is each key of a lease that is to be granted again.
     *
     * @param deletes first of all: etcd takes each key once per transaction
     * @param puts then these, in the order in which the source created them
     */
    record RestorePlan(List<LeasedKey> deletes, List<LeasedKey> puts) {

        private static final Comparator<LeasedKey> BY_AGE =
                Comparator.comparingLong(LeasedKey::created).thenComparing(LeasedKey::key, KeyRange.KEY_ORDER);

        /** @param stale leases that the target must grant again */
        static RestorePlan of(List<LeasedKey> keys, Set<Long> stale) {
            List<LeasedKey> deletes = new ArrayList<>();
            List<LeasedKey> puts = new ArrayList<>();
            Map<ByteString, Queue> queues = new HashMap<>();
            for (LeasedKey key : keys.stream().sorted(BY_AGE).toList()) {
                boolean ends = stale.contains(key.lease());
                boolean displaced = key.isPlace()
                        && queues.computeIfAbsent(key.queue(), name -> new Queue())
                                .displaces(key, ends);
                boolean recreated = displaced || ends;
                if (recreated && !key.isMissing()) {
                    deletes.add(key);
                }
                if (recreated || key.isMissing() || !key.isAttached()) {
                    puts.add(key);
                }
            }
            return new RestorePlan(List.copyOf(deletes), List.copyOf(puts));
        }

        /** The places of one queue, seen in the source's order. */
        private static final class Queue {
            private long created;
            private long targetCreated;
            private boolean broken;

            boolean displaces(LeasedKey next, boolean ends) {
                boolean together = next.created() == created;
                broken |= ends
                        || next.isMissing()
                        || next.targetCreated() < targetCreated
                        || (next.targetCreated() == targetCreated && !together);
                created = next.created();
                targetCreated = next.targetCreated();
                return broken;
            }
        }
    }
}
