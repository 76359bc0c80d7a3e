package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.KeyRange;
import java.util.List;

/**
 * Leaves the leases that the mirror has kept alive in the target to their owners, with all of their time to live, and lets
 * the mirror's processes find out that the home has moved.
 */
record ReleaseStep(Parties parties) implements Step {

    private static final int BATCH = 1_000;

    @Override
    public StepPlan plan() {
        return new StepPlan(
                "release",
                "keeps mirrored leases alive a last time and leaves them to their owners; the mirror's processes"
                        + " become standby, reporting that the home has moved",
                "that owners find " + parties.to() + " within their leases' time to live",
                "can't be undone; failback mirrors them back");
    }

    @Override
    public boolean isDone(Journal journal) {
        return journal.has("release");
    }

    @Override
    public Journal perform(Journal journal) {
        KeyRange registers = ReservedKeys.all(parties.mirror(), "lease/");
        while (true) {
            List<ByteString> keys = parties
                    .target()
                    .range(RangeRequest.newBuilder()
                            .setKey(registers.etcdKey())
                            .setRangeEnd(registers.etcdRangeEnd())
                            .setKeysOnly(true)
                            .setLimit(BATCH)
                            .build())
                    .getKvsList()
                    .stream()
                    .map(KeyValue::getKey)
                    .toList();
            if (keys.isEmpty()) {
                new ActiveKey(parties).release(journal.writer());
                return journal;
            }
            parties.target()
                    .keepAlive(keys.stream().map(key -> id(registers, key)).toList());
            ByteString last = keys.get(keys.size() - 1);
            var unused = parties.target()
                    .txn(
                            "the leases' register",
                            TxnRequest.newBuilder()
                                    // Another run of the mirror compares all of them again.
                                    .addSuccess(RequestOp.newBuilder()
                                            .setRequestDeleteRange(DeleteRangeRequest.newBuilder()
                                                    .setKey(ReservedKeys.wholeLeases(parties.mirror()))))
                                    .addSuccess(RequestOp.newBuilder()
                                            .setRequestDeleteRange(DeleteRangeRequest.newBuilder()
                                                    .setKey(registers.etcdKey())
                                                    .setRangeEnd(KeyRange.single(last)
                                                            .etcdRangeEnd())))
                                    .build());
        }
    }

    private static long id(KeyRange registers, ByteString key) {
        String text = key.substring(registers.from().size()).toStringUtf8();
        try {
            return Long.parseUnsignedLong(text, 16);
        } catch (NumberFormatException e) {
            throw new TakeOverException("a lease's register is named \"" + text + "\", which is no lease id", e);
        }
    }
}
