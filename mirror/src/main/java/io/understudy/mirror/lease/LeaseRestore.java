package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.call.Repeated;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts back the keys of the target that went with leases which ran out there, as the source has them at the target's
 * checkpoint. One thread, while nobody else writes.
 *
 * <p>Invariant M11: keys that expired while no mirror ran are restored.
 */
final class LeaseRestore {

    private static final Logger LOG = LoggerFactory.getLogger(LeaseRestore.class);

    private static final int PAGE_KEYS = 500;
    private static final int COMPARED_AT_A_TIME = 100;

    private final String mirror;
    private final MirrorScope scope;
    private final ClusterCalls source;
    private final ConfirmedRevision head;
    private final ClusterCalls target;
    private final Repeated repeated;
    private final TargetLeases leases;
    private final Predicate<List<RequestOp>> writer;

    /**
     * @param source reads of any revision
     * @param head what the source is at, by a quorum
     * @param target linearizable reads
     * @param writer does operations in one transaction; false if it may not now
     */
    LeaseRestore(
            String mirror,
            MirrorScope scope,
            ClusterCalls source,
            ConfirmedRevision head,
            ClusterCalls target,
            Repeated repeated,
            TargetLeases leases,
            Predicate<List<RequestOp>> writer) {
        this.mirror = mirror;
        this.scope = scope;
        this.source = source;
        this.head = head;
        this.target = target;
        this.repeated = repeated;
        this.leases = leases;
        this.writer = writer;
    }

    /**
     * Makes the target's keys with leases those of the source at {@code checkpoint}, whose history a feed has recognised.
     *
     * @throws SinkException.Unavailable the source is another one by now: a new feed tells
     * @return how many keys were put; empty if the source has compacted that revision: then a snapshot follows anyhow
     */
    Optional<Integer> run(ClusterId cluster, Revision checkpoint) {
        try {
            List<LeasedKey> keys = new ArrayList<>();
            for (KeyRange range : scope.sourceRanges()) {
                read(range, cluster, checkpoint, keys);
            }
            RestorePlan plan = RestorePlan.of(compared(keys));
            // Also of those that nobody had to put, since they were there before the first synchronisation.
            keys.stream().mapToLong(LeasedKey::lease).distinct().forEach(leases::forPut);
            write(plan, cluster, checkpoint);
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("revision", checkpoint)
                    .addKeyValue("keys", keys.size())
                    .addKeyValue("put", plan.puts().size())
                    .addKeyValue("recreated", plan.deletes().size())
                    .log("keys with leases compared");
            return Optional.of(plan.puts().size());
        } catch (CompactedException e) {
            return Optional.empty();
        }
    }

    private void read(KeyRange range, ClusterId cluster, Revision at, List<LeasedKey> keys) {
        ByteString from = range.etcdKey();
        while (true) {
            RangeResponse page = atSource(
                    RangeRequest.newBuilder()
                            .setKey(from)
                            .setRangeEnd(range.etcdRangeEnd())
                            .setLimit(PAGE_KEYS),
                    cluster,
                    at);
            for (KeyValue entry : page.getKvsList()) {
                if (entry.getLease() != 0 && scope.contains(entry.getKey())) {
                    keys.add(new LeasedKey(
                            scope.inTarget(entry.getKey()),
                            entry.getKey(),
                            entry.getCreateRevision(),
                            entry.getLease(),
                            0,
                            0));
                }
            }
            if (!page.getMore()) {
                return;
            }
            from = KeyRange.single(page.getKvs(page.getKvsCount() - 1).getKey()).etcdRangeEnd();
        }
    }

    private List<LeasedKey> compared(List<LeasedKey> keys) {
        List<LeasedKey> compared = new ArrayList<>(keys.size());
        for (int from = 0; from < keys.size(); from += COMPARED_AT_A_TIME) {
            List<LeasedKey> some = keys.subList(from, Math.min(keys.size(), from + COMPARED_AT_A_TIME));
            TxnRequest.Builder reads = TxnRequest.newBuilder();
            some.forEach(key -> reads.addSuccess(RequestOp.newBuilder()
                    .setRequestRange(RangeRequest.newBuilder().setKey(key.key()))));
            List<ResponseOp> answers = repeated.until(
                    "read of keys with leases in the target",
                    () -> target.kv(stub -> stub.txn(reads.build())).getResponsesList());
            for (int i = 0; i < some.size(); i++) {
                LeasedKey key = some.get(i);
                RangeResponse answer = answers.get(i).getResponseRange();
                KeyValue there = answer.getKvsCount() == 0 ? KeyValue.getDefaultInstance() : answer.getKvs(0);
                compared.add(new LeasedKey(
                        key.key(),
                        key.atSource(),
                        key.created(),
                        key.lease(),
                        there.getCreateRevision(),
                        there.getLease()));
            }
        }
        return compared;
    }

    private void write(RestorePlan plan, ClusterId cluster, Revision at) {
        for (int from = 0; from < plan.deletes().size(); from += COMPARED_AT_A_TIME) {
            write(plan.deletes().subList(from, Math.min(plan.deletes().size(), from + COMPARED_AT_A_TIME)).stream()
                    .map(key -> RequestOp.newBuilder()
                            .setRequestDeleteRange(
                                    DeleteRangeRequest.newBuilder().setKey(key.key()))
                            .build())
                    .toList());
        }
        // One at a time: who waits in line for a lock is told by the order in which keys were created.
        for (LeasedKey key : plan.puts()) {
            KeyValue entry = atSource(RangeRequest.newBuilder().setKey(key.atSource()), cluster, at)
                    .getKvs(0);
            write(List.of(RequestOp.newBuilder()
                    .setRequestPut(PutRequest.newBuilder()
                            .setKey(key.key())
                            .setValue(entry.getValue())
                            .setLease(leases.forPut(key.lease())))
                    .build()));
        }
    }

    private void write(List<RequestOp> operations) {
        if (!writer.test(operations)) {
            throw new SinkException.Unavailable("keys with leases cannot be restored during another write", null);
        }
    }

    private RangeResponse atSource(RangeRequest.Builder request, ClusterId cluster, Revision at) {
        RangeRequest pinned =
                request.setRevision(at.value()).setSerializable(true).build();
        RangeResponse answer = repeated.until("read of keys with leases in the source", () -> {
            try {
                return source.kv(stub -> stub.range(pinned));
            } catch (CallFailedException e) {
                if (e.error() == EtcdError.COMPACTED) {
                    throw new CompactedException();
                }
                // Of a member that lags, or of a source that went back.
                if (e.error() == EtcdError.FUTURE_REVISION && head.ask().isBefore(at)) {
                    throw new SinkException.Unavailable(
                            "source revision decreased below the mirrored revision " + at, e);
                }
                throw e;
            }
        });
        ClusterId answering = new ClusterId(answer.getHeader().getClusterId());
        if (!answering.equals(cluster)) {
            throw new SinkException.Unavailable("source cluster ID changed from " + cluster + " to " + answering, null);
        }
        return answer;
    }

    private static final class CompactedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
