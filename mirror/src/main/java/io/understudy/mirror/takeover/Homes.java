package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What one cluster knows of the home of a mirror's keys. */
record Homes(PatientCalls cluster, String mirror) {

    Optional<Home> read() {
        return cluster.get(key()).map(this::decoded);
    }

    /** Whether the home is there, as this cluster knows. */
    boolean isAt(ClusterId home) {
        return read().filter(found -> found.cluster().equals(home)).isPresent();
    }

    /** Another mirror's that keeps this mirror from writing {@code written} here. */
    Optional<Home> keepingOut(Home own, List<KeyRange> written) {
        RangeResponse found = cluster.range(RangeRequest.newBuilder()
                .setKey(ReservedKeys.HOMES.etcdKey())
                .setRangeEnd(ReservedKeys.HOMES.etcdRangeEnd())
                .build());
        ClusterId here = new ClusterId(found.getHeader().getClusterId());
        return found.getKvsList().stream()
                .filter(kv -> !kv.getKey().equals(key()))
                .map(this::decoded)
                .filter(other -> other.keepsOut(here, written, own, true))
                .findFirst();
    }

    /** Has this cluster know of a move; an older one than it knows of is ignored. */
    void learn(Home home) {
        if (!write(home, null)) {
            throw new TakeOverException("the home of mirror " + mirror + " in " + cluster.shown()
                    + " is being written by another client: run this again");
        }
    }

    /**
     * Moves the home here, to the target, if the checkpoint is still the one that was found, and the journal is as given.
     * The checkpoint is written again with it, so that a mirror that has just found the home elsewhere can't take over any
     * more.
     *
     * @return whether they were
     */
    boolean moveHere(Home home, TargetCheckpoint found, Journal journal) {
        return write(home, found, JournalStore.holds(mirror, journal));
    }

    private boolean write(Home home, @Nullable TargetCheckpoint unwritten, Compare... further) {
        Optional<KeyValue> stored = cluster.get(key());
        if (stored.map(this::decoded)
                .filter(known -> known.moves() >= home.moves())
                .isPresent()) {
            return unwritten == null
                    || stored.map(this::decoded).filter(home::agreesWith).isPresent();
        }
        TxnRequest.Builder move = TxnRequest.newBuilder()
                .addAllCompare(List.of(further))
                .addCompare(
                        unchanged(key(), stored.map(KeyValue::getModRevision).orElse(0L)))
                .addSuccess(put(key(), home.encode()));
        if (unwritten != null) {
            ByteString checkpoint = ReservedKeys.checkpoint(mirror);
            move.addCompare(unchanged(checkpoint, unwritten.modRevision()))
                    .addSuccess(put(checkpoint, unwritten.value()));
        }
        return cluster.txn("the home", move.build()).getSucceeded()
                || read().filter(home::agreesWith).isPresent();
    }

    private Home decoded(KeyValue kv) {
        try {
            return Home.decode(cluster.shown(), kv.getValue());
        } catch (IllegalArgumentException e) {
            throw new TakeOverException(String.valueOf(e.getMessage()), e);
        }
    }

    private ByteString key() {
        return ReservedKeys.home(mirror);
    }

    private static Compare unchanged(ByteString key, long modRevision) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(Compare.CompareTarget.MOD)
                .setModRevision(modRevision)
                .build();
    }

    private static RequestOp put(ByteString key, ByteString value) {
        return RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder().setKey(key).setValue(value))
                .build();
    }
}
