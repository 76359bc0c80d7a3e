package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The primary records at one of a mirror's two clusters. One thread. */
final class HomeKeys {

    /**
     * The records of a cluster at {@code revision}.
     *
     * @param own of this mirror, null for none, last written at {@code ownRevision}
     * @param others readable ones of other mirrors
     * @param unreadable the first other one that is not; null for none
     */
    record Known(
            ClusterId cluster,
            long revision,
            @Nullable Home own,
            long ownRevision,
            List<Home> others,
            SinkException.@Nullable Refused unreadable) {
        /** @throws SinkException.Refused a record of another mirror, which may concern this one, is not readable */
        Known readable() {
            if (unreadable != null) {
                throw unreadable;
            }
            return this;
        }
    }

    private static final RangeRequest ALL =
            EtcdMessages.range(ReservedKeys.HOMES).build();

    private final TargetCalls calls;
    private final String side;
    private final String mirror;

    /** @param side role of the cluster in the mirror */
    HomeKeys(TargetCalls calls, String side, String mirror) {
        this.calls = calls;
        this.side = side;
        this.mirror = mirror;
    }

    /** Reads the records linearizably; waits for a response. */
    Known read() {
        RangeResponse answer = calls.range(ALL);
        return known(answer.getHeader(), answer);
    }

    private Known known(ResponseHeader header, RangeResponse answer) {
        Home own = null;
        long ownRevision = 0;
        List<Home> others = new ArrayList<>();
        SinkException.Refused unreadable = null;
        for (KeyValue found : answer.getKvsList()) {
            if (found.getKey().equals(ReservedKeys.home(mirror))) {
                own = decoded(found);
                ownRevision = found.getModRevision();
                continue;
            }
            try {
                others.add(decoded(found));
            } catch (SinkException.Refused e) {
                unreadable = unreadable == null ? e : unreadable;
            }
        }
        return new Known(
                new ClusterId(header.getClusterId()), header.getRevision(), own, ownRevision, others, unreadable);
    }

    /**
     * Stores this mirror's record in one attempt, unless any record changed since {@code before}.
     *
     * @return the cluster's records afterwards; null if it rejects puts, see {@link TargetCalls#isFull}
     */
    @Nullable Known store(Home home, Known before) {
        ByteString key = ReservedKeys.home(mirror);
        RequestOp all = RequestOp.newBuilder().setRequestRange(ALL).build();
        Optional<TxnResponse> answer = calls.txn(
                () -> "write of the primary record, " + shown(key),
                TxnRequest.newBuilder()
                        .addCompare(EtcdMessages.unmodified(key, before.ownRevision()))
                        .addCompare(Compare.newBuilder()
                                .setKey(ReservedKeys.HOMES.etcdKey())
                                .setRangeEnd(ReservedKeys.HOMES.etcdRangeEnd())
                                .setTarget(Compare.CompareTarget.MOD)
                                .setResult(Compare.CompareResult.LESS)
                                .setModRevision(before.revision() + 1))
                        .addSuccess(EtcdMessages.put(key, kept(home, before).encode()))
                        .addSuccess(all)
                        .addFailure(all)
                        .build());
        if (calls.isFull()) {
            return null;
        }
        return answer.map(done -> known(
                        done.getHeader(),
                        done.getResponses(done.getResponsesCount() - 1).getResponseRange()))
                .orElseGet(this::read);
    }

    /** Keeps what a move stored at the cluster, such as how it was closed. */
    private static Home kept(Home home, Known before) {
        return before.own() == null ? home : home.with(before.own().move());
    }

    /** Whether a process of that mirror into this cluster is active. */
    boolean isRun(String other) {
        return calls.range(RangeRequest.newBuilder()
                                .setKey(ReservedKeys.active(other))
                                .build())
                        .getKvsCount()
                > 0;
    }

    /** Clears the failure of rejected puts: the record is stored later. */
    void continueWithoutPuts() {
        calls.continueWithoutPuts();
    }

    /** Deletes this mirror's record in one attempt, if {@code home} created it. */
    void withdraw(Home home) {
        ByteString key = ReservedKeys.home(mirror);
        var unused = calls.txn(
                () -> "deletion of the primary record, " + shown(key),
                TxnRequest.newBuilder()
                        .addCompare(Compare.newBuilder()
                                .setKey(key)
                                .setTarget(Compare.CompareTarget.VERSION)
                                .setResult(Compare.CompareResult.EQUAL)
                                .setVersion(1))
                        .addCompare(Compare.newBuilder()
                                .setKey(key)
                                .setTarget(Compare.CompareTarget.VALUE)
                                .setResult(Compare.CompareResult.EQUAL)
                                .setValue(home.encode()))
                        .addSuccess(EtcdMessages.delete(key))
                        .build());
    }

    /** Returns the failure of a mirror into the primary cluster of {@code home}. */
    static SinkException.HomeMoved moved(Home home) {
        return new SinkException.HomeMoved("the primary of mirror " + home.mirror() + " moved to its target, cluster "
                + home.cluster() + ", at " + home.at() + " by a switchover or failover."
                + " Use \"understudy mirror failback\" to move it back");
    }

    static String shown(ByteString key) {
        return "key \"" + TextFormat.escapeBytes(key) + "\"";
    }

    private Home decoded(KeyValue found) {
        try {
            return Home.decode(shown(found.getKey()) + " of the " + side, found.getValue());
        } catch (IllegalArgumentException e) {
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
        }
    }
}
