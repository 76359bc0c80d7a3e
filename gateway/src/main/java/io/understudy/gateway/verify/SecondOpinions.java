package io.understudy.gateway.verify;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.Member;
import io.understudy.etcd.Role;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who is right about keys of which a page of the source and a state of the replica tell different things: each voter is
 * asked for some of them, one by one, serializably at the state's revision, and what most of all voters have is right. A page
 * alone proves nothing: the member that served it, a learner as a rule, may be what is damaged. Where a majority can't be
 * heard, nothing is decided. Waits for the network.
 */
final class SecondOpinions {

    private static final Logger LOG = LoggerFactory.getLogger(SecondOpinions.class);

    /** Of the keys that differ. */
    private static final int MOST_KEYS = 10;

    private final EtcdCluster source;
    private final Duration timeout;

    SecondOpinions(EtcdCluster source, Duration timeout) {
        this.source = source;
        this.timeout = timeout;
    }

    /** Who is right. */
    enum Verdict {
        REPLICA,
        SOURCE,
        UNDECIDED
    }

    /**
     * What the members have.
     *
     * @param voters how many there are, heard or not
     * @param agreeing voters that have what the replica has
     * @param differing voters that have not
     * @param suspects all members that have not, voters or not
     */
    record Opinions(int voters, int agreeing, int differing, List<Endpoint> suspects) {

        Verdict verdict() {
            if (2 * agreeing > voters) {
                return Verdict.REPLICA;
            }
            return 2 * differing > voters ? Verdict.SOURCE : Verdict.UNDECIDED;
        }
    }

    Opinions about(ReplicaState state, List<ByteString> keys) {
        ClusterView view = source.view();
        // A source of gateways only has no others to tell. Whoever isn't known yet may be a voter.
        Role voting = view.members(Role.VOTER).isEmpty() ? Role.GATEWAY : Role.VOTER;
        int voters = view.members(voting).size() + view.unidentified().size();
        List<ByteString> some = keys.subList(0, Math.min(MOST_KEYS, keys.size()));
        int agreeing = 0;
        int differing = 0;
        List<Endpoint> suspects = new ArrayList<>();
        // In order of what they cost, so that nothing is asked of the leader first.
        List<Member> asked = new ArrayList<>();
        for (Endpoint endpoint : source.endpointsFor(Duty.SNAPSHOT)) {
            Member member = view.memberAt(endpoint).orElse(null);
            if (member == null || asked.contains(member)) {
                continue;
            }
            try {
                boolean agrees = agrees(endpoint, state, some);
                // By its other addresses it may still be heard if it isn't by this one.
                asked.add(member);
                if (!agrees) {
                    suspects.add(endpoint);
                }
                if (member.role() == voting) {
                    agreeing += agrees ? 1 : 0;
                    differing += agrees ? 0 : 1;
                }
            } catch (StatusRuntimeException | AnotherClusterException e) {
                LOG.atInfo()
                        .addKeyValue("member", endpoint)
                        .addKeyValue("cause", e.getMessage())
                        .log("comparison with a member failed");
            }
        }
        return new Opinions(voters, agreeing, differing, suspects);
    }

    private boolean agrees(Endpoint endpoint, ReplicaState state, List<ByteString> keys)
            throws AnotherClusterException {
        for (ByteString key : keys) {
            RangeResponse response = KVGrpc.newBlockingStub(source.channel(endpoint))
                    .withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS)
                    .range(RangeRequest.newBuilder()
                            .setKey(key)
                            .setRevision(state.revision().value())
                            .setSerializable(true)
                            .build());
            ClusterId answering = new ClusterId(response.getHeader().getClusterId());
            if (!answering.equals(state.cluster())) {
                throw new AnotherClusterException(answering);
            }
            Entry theirs = response.getKvsCount() == 0 ? null : entry(response.getKvs(0));
            if (!Objects.equals(theirs, state.get(key))) {
                return false;
            }
        }
        return true;
    }

    /** Whoever answers has no say. */
    private static final class AnotherClusterException extends Exception {

        private static final long serialVersionUID = 1;

        AnotherClusterException(ClusterId answering) {
            super("endpoint reaches cluster " + answering);
        }
    }

    private static Entry entry(KeyValue kv) {
        return Entry.of(new io.understudy.vocabulary.KeyValue(
                kv.getKey(),
                kv.getValue(),
                new Revision(kv.getCreateRevision()),
                new Revision(kv.getModRevision()),
                kv.getVersion(),
                kv.getLease()));
    }
}
