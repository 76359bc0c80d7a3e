package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;

/**
 * A mirror's checkpoint as found in its target.
 *
 * @param value as stored
 * @param modRevision of its key
 * @param revision of the target at that moment
 * @param cluster the target
 */
record TargetCheckpoint(Checkpoint checkpoint, ByteString value, long modRevision, long revision, ClusterId cluster) {

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
