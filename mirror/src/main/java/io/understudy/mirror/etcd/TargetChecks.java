package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.KeyValue;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;

/** Preconditions of a mirror's writes; each failure is explained and needs an operator. */
final class TargetChecks {

    private static final int FOREIGN_KEYS_SHOWN = 10;

    private final String mirror;
    private final MirrorScope scope;
    private final TargetCalls calls;
    private final FencedWriter writer;

    TargetChecks(String mirror, MirrorScope scope, TargetCalls calls, FencedWriter writer) {
        this.mirror = mirror;
        this.scope = scope;
        this.calls = calls;
        this.writer = writer;
    }

    /** A checkpoint is resumed only in its own range. */
    void requireOurs(Checkpoint found) {
        if (!found.scope().equals(scope)) {
            throw new SinkException.Refused("checkpoint at " + writer.shownKey() + " has another scope: "
                    + found.scope().shown() + "; configured: " + scope.shown()
                    + ". Rename the mirror, or delete the checkpoint to start over");
        }
        requireAnotherCluster(found.source());
    }

    /** … and only by the source that it is of. */
    void requireSource(Checkpoint found, ClusterId source) {
        if (!found.source().equals(source)) {
            throw new SinkException.Refused("checkpoint at " + writer.shownKey() + " has source cluster "
                    + found.source() + ", but the source cluster ID is " + source
                    + ". Correct the source, or delete the checkpoint to start over");
        }
    }

    /** A cluster copied onto itself would never come to rest. */
    void requireAnotherCluster(ClusterId source) {
        if (source.equals(writer.target())) {
            throw new SinkException.Refused("source and target are the same cluster, " + source);
        }
    }

    /** Returns the number of the mirror's keys in the target. */
    long count() {
        return count(calls, scope.targetRanges(), Revision.ZERO);
    }

    /** Counts the keys of disjoint ranges at a revision; {@link Revision#ZERO} for the present. */
    static long count(TargetCalls calls, List<KeyRange> ranges, Revision at) {
        return ranges.stream()
                .map(range -> EtcdMessages.range(range).setCountOnly(true).setRevision(at.value()))
                .mapToLong(request -> calls.range(request.build()).getCount())
                .sum();
    }

    /** A range without a checkpoint must hold nothing. */
    void requireNoForeignKeys() {
        List<String> found = new ArrayList<>();
        for (KeyRange part : scope.targetRanges()) {
            calls.range(EtcdMessages.range(part)
                            .setKeysOnly(true)
                            .setLimit(FOREIGN_KEYS_SHOWN)
                            .build())
                    .getKvsList()
                    .forEach(kv -> found.add("\"" + TextFormat.escapeBytes(kv.getKey()) + "\""));
        }
        if (!found.isEmpty()) {
            throw new SinkException.Refused("the target has no checkpoint of mirror " + mirror
                    + ", but its range contains keys, such as " + String.join(", ", found)
                    + ". Set onForeignKeys to delete or keep to allow this");
        }
    }

    /** Two mirrors that write one range would delete each other's keys. */
    void requireNoOtherMirror() {
        TargetKeys stored = new TargetKeys(calls, ReservedKeys.CHECKPOINTS);
        while (stored.hasNext()) {
            KeyValue found = stored.next();
            if (found.getKey().equals(ReservedKeys.checkpoint(mirror)) || !ReservedKeys.isCheckpoint(found.getKey())) {
                continue;
            }
            String where = "\"" + TextFormat.escapeBytes(found.getKey()) + "\"";
            MirrorScope theirs = scopeOf(where, found.getValue());
            if (theirs.meetsInTarget(scope)) {
                throw new SinkException.Refused("another mirror writes to this target: checkpoint at " + where
                        + " has " + theirs.shown() + "; configured: " + scope.shown()
                        + ". Mirror disjoint scopes, or delete that checkpoint if its mirror no longer exists");
            }
        }
    }

    private static MirrorScope scopeOf(String where, ByteString checkpoint) {
        try {
            return CheckpointCodec.decode(where, checkpoint).scope();
        } catch (CorruptCheckpointException e) {
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
        }
    }
}
