package io.understudy.mirror.takeover;

import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the mirror go on after a failback, where both clusters were equal: at the source's revision at which the home came
 * back. And forgets the mirror back: the next one has to compare everything again, since by then the source has been
 * written by others.
 */
record Resumption(Parties forward) {

    private static final Logger LOG = LoggerFactory.getLogger(Resumption.class);

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
        boolean moved = found.replace(
                forward.target(), forward.mirror(), before.syncedAt(new Position(before.source(), at, null)));
        if (!moved) {
            // It was moved by an attempt that got no answer, or the mirror goes on already, from where it was: what the
            // mirror back has written carries the target's mark and is passed over.
            LOG.info("mirror={} checkpoint not moved, revision={}", forward.mirror(), at);
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
