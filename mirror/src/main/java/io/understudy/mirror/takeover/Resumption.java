package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.Optional;

/**
 * Has the mirror go on after a failback, where both clusters were equal: at the source's revision at which the home came
 * back. And forgets the mirror back: the next one has to compare everything again, since by then the source has been
 * written by others.
 */
record Resumption(Parties forward) {

    void resume() {
        forward.source()
                .get(ReservedKeys.home(forward.mirror()))
                .map(KeyValue::getModRevision)
                .ifPresent(this::moveCheckpoint);
        forget();
    }

    private void moveCheckpoint(long homeMovedAt) {
        TargetCheckpoint found = TargetCheckpoint.read(forward.target(), forward.mirror());
        Checkpoint before = found.checkpoint();
        Revision at = new Revision(homeMovedAt);
        if (!at.isAfter(before.revision())) {
            return;
        }
        ByteString key = ReservedKeys.checkpoint(forward.mirror());
        ByteString after = CheckpointCodec.encode(before.syncedAt(new Position(before.source(), at, null)));
        boolean moved = forward.target()
                .txn(
                        "the checkpoint",
                        TxnRequest.newBuilder()
                                .addCompare(Compare.newBuilder()
                                        .setKey(key)
                                        .setTarget(Compare.CompareTarget.MOD)
                                        .setModRevision(found.modRevision()))
                                .addSuccess(RequestOp.newBuilder()
                                        .setRequestPut(PutRequest.newBuilder()
                                                .setKey(key)
                                                .setValue(after)))
                                .build())
                .getSucceeded();
        Optional<KeyValue> stored = forward.target().get(key);
        if (!moved && stored.filter(kv -> kv.getValue().equals(after)).isEmpty()) {
            throw new TakeOverException(
                    "mirror " + forward.mirror() + " is running already: nothing more is to be done");
        }
    }

    private void forget() {
        KeyRange lanes = ReservedKeys.all(forward.mirror(), "lane/");
        var unused = forward.source()
                .txn(
                        "the end of the mirror back",
                        TxnRequest.newBuilder()
                                .addSuccess(delete(KeyRange.single(ReservedKeys.checkpoint(forward.mirror()))))
                                .addSuccess(delete(KeyRange.single(ReservedKeys.of(forward.mirror(), "epoch"))))
                                .addSuccess(delete(lanes))
                                .build());
    }

    private static RequestOp delete(KeyRange range) {
        return RequestOp.newBuilder()
                .setRequestDeleteRange(
                        DeleteRangeRequest.newBuilder().setKey(range.etcdKey()).setRangeEnd(range.etcdRangeEnd()))
                .build();
    }
}
