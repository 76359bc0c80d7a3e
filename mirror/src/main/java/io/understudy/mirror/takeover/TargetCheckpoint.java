package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.util.List;

/**
 * A mirror's checkpoint as found in its target.
 *
 * @param value as stored
 * @param modRevision of its key
 * @param revision of the target at that moment
 * @param cluster the target
 */
record TargetCheckpoint(Checkpoint checkpoint, ByteString value, long modRevision, long revision, ClusterId cluster) {

    /**
     * Puts another one in its place, which no writer of the mirror gets past unnoticed. A snapshot that the mirror has not
     * finished is begun again.
     *
     * @param further what is to be done with that
     * @return false if it was written since it was found, perhaps by an attempt of this that got no answer
     */
    boolean replace(PatientCalls target, String mirror, Checkpoint after, RequestOp... further) {
        ByteString key = ReservedKeys.checkpoint(mirror);
        KeyRange lanes = ReservedKeys.lanes(mirror);
        return target.txn(
                        "the checkpoint",
                        TxnRequest.newBuilder()
                                .addCompare(Compare.newBuilder()
                                        .setKey(key)
                                        .setTarget(Compare.CompareTarget.MOD)
                                        .setModRevision(modRevision))
                                .addSuccess(RequestOp.newBuilder()
                                        .setRequestPut(PutRequest.newBuilder()
                                                .setKey(key)
                                                .setValue(CheckpointCodec.encode(after))))
                                .addSuccess(RequestOp.newBuilder()
                                        .setRequestDeleteRange(DeleteRangeRequest.newBuilder()
                                                .setKey(lanes.etcdKey())
                                                .setRangeEnd(lanes.etcdRangeEnd())))
                                .addAllSuccess(List.of(further))
                                .build())
                .getSucceeded();
    }

    /** @throws TakeOverException there is none */
    static TargetCheckpoint read(PatientCalls target, String mirror) {
        ByteString key = ReservedKeys.checkpoint(mirror);
        RangeResponse answer =
                target.range(RangeRequest.newBuilder().setKey(key).build());
        if (answer.getKvsCount() == 0) {
            throw new TakeOverException(target.shown() + " holds no checkpoint of mirror " + mirror
                    + ": it has never been mirrored into. Give the name and the target that the mirror runs with");
        }
        try {
            return new TargetCheckpoint(
                    CheckpointCodec.decode(target.shown(), answer.getKvs(0).getValue()),
                    answer.getKvs(0).getValue(),
                    answer.getKvs(0).getModRevision(),
                    answer.getHeader().getRevision(),
                    new ClusterId(answer.getHeader().getClusterId()));
        } catch (CorruptCheckpointException e) {
            throw new TakeOverException(String.valueOf(e.getMessage()), e);
        }
    }
}
