package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Operation;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.takeover.Records.Found;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.List;

/** Turns a mirror round once the primary role has moved; each method can be repeated. One thread. */
record Turn(Direction direction, Operation operation) {

    private static final int PAGE_KEYS = 1_000;

    /**
     * Records the former primary as such, with the first checkpoint of the turned mirror. A snapshot that a mirror into it
     * left unfinished is not continued: clients wrote there since.
     *
     * @param planned whether it is as the new primary was at the move
     */
    boolean former(Found primary, Found former, boolean planned) {
        Closed closed = former.move().closed();
        Closed settled = closed == null || closed.way() == Way.NONE
                ? null
                : direction.closingFrom().settle(closed);
        Home record = primary.required();
        Checkpoint before = former.checkpoint();
        Checkpoint reversed = new Checkpoint(
                primary.cluster(),
                record.scope(),
                // Until the move is complete, the record there is that of the moving transaction.
                new Revision(primary.recordRevision()),
                null,
                before == null ? 1 : before.epoch() + 1,
                operation.process() + " " + operation.id(),
                List.of(primary.cluster()),
                operation.startedAt(),
                planned && settled != null && direction.keepsLeases()
                        ? CheckpointState.SYNCED
                        : CheckpointState.SYNCING);
        return direction
                        .recordsFrom()
                        .write(
                                record.with(new Move(
                                        Phase.STEADY,
                                        operation,
                                        primary.move().verifiedAt(),
                                        // Up to there it has all writes, which an unplanned turn does not promise.
                                        planned ? primary.move().endMarker() : 0,
                                        settled)),
                                former.recordRevision(),
                                List.of(),
                                List.of(
                                        Records.put(
                                                ReservedKeys.checkpoint(direction.mirror()),
                                                CheckpointCodec.encode(reversed)),
                                        Records.put(
                                                ReservedKeys.epoch(direction.mirror()),
                                                ByteString.copyFromUtf8(operation.id())),
                                        Records.delete(ReservedKeys.lanes(direction.mirror()))))
                > 0;
    }

    /** Leaves leases that the mirror kept alive to their owners, with a full TTL. */
    void releaseLeases() {
        KeyRange registers = ReservedKeys.all(direction.mirror(), "lease/");
        // First, and without registers too: a later mirror into this cluster has to find leases that clients granted.
        delete(KeyRange.single(ReservedKeys.wholeLeases(direction.mirror())));
        List<Long> registered = direction.recordsTo().leases();
        for (int from = 0; from < registered.size(); from += PAGE_KEYS) {
            var unused =
                    direction.to().keepAlive(registered.subList(from, Math.min(registered.size(), from + PAGE_KEYS)));
        }
        if (!registered.isEmpty()) {
            delete(registers);
        }
    }

    private void delete(KeyRange range) {
        var unused = direction
                .to()
                .txn(
                        "the lease register",
                        TxnRequest.newBuilder()
                                .addSuccess(Records.delete(range))
                                .build());
    }
}
