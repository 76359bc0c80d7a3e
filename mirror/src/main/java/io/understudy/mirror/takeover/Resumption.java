package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.home.Compared;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the mirror go on after a failback by a synchronisation: what somebody wrote to the source since both were compared is
 * mirrored, and what went or came in the target meanwhile is put right, without the source being taken for one of another
 * history. And forgets the mirror back: the next one has to compare everything again, since by then the source has been
 * written by others.
 *
 * @param back the journal of the hand-over back
 */
record Resumption(Parties forward, Journal back) {

    private static final Logger LOG = LoggerFactory.getLogger(Resumption.class);

    void resume() {
        moveCheckpoint();
        forget();
    }

    /** Also to a revision that is lower, or of another cluster: the source may have been lost and made anew. */
    private void moveCheckpoint() {
        TargetCheckpoint found = TargetCheckpoint.read(forward.target(), forward.mirror());
        Journal there = new JournalStore(forward.target(), forward.mirror()).read();
        Checkpoint before = found.checkpoint();
        if (there != null && !before.writer().equals(there.writer())) {
            // The mirror itself has taken over since.
            return;
        }
        Checkpoint after = before.comparedWith(
                back.target(),
                back.verifiedAt() == 0 ? forward.source().head().revision() : new Revision(back.verifiedAt()));
        if (!after.equals(before)
                && !found.replace(forward.target(), forward.mirror(), after, compared(after.revision()))) {
            // By an attempt that got no answer, or by another process that does the same.
            LOG.atInfo()
                    .addKeyValue("mirror", forward.mirror())
                    .addKeyValue("revision", after.revision())
                    .log("checkpoint not moved");
        }
    }

    private RequestOp compared(Revision at) {
        ByteString key = ReservedKeys.compared(forward.mirror());
        return new Homes(forward.source(), forward.mirror())
                .read()
                .map(home -> RequestOp.newBuilder()
                        .setRequestPut(PutRequest.newBuilder()
                                .setKey(key)
                                .setValue(new Compared(at, new Revision(back.fencedAt()), home).encode()))
                        .build())
                .orElseGet(() -> delete(KeyRange.single(key)));
    }

    private void forget() {
        KeyRange lanes = ReservedKeys.lanes(forward.mirror());
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
