package io.understudy.gateway.verify;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.etcd.Member;
import io.understudy.etcd.Role;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.ClusterId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides by majority which side of a difference is correct. Each voting member is queried for some of the keys,
 * serializably at the state's revision. A page alone proves nothing: the member that served it, usually a learner, may
 * be corrupt. Without a majority the result is undecided. Blocks on the network.
 */
record MajorityVote(EtcdCluster source, Duration timeout) {

    private static final Logger LOG = LoggerFactory.getLogger(MajorityVote.class);

    /** Most keys that are queried. */
    private static final int MOST_KEYS = 10;

    /** The correct side. */
    enum Verdict {
        REPLICA,
        SOURCE,
        UNDECIDED
    }

    /**
     * The result of the queries.
     *
     * @param voters number of voting members, reachable or not
     * @param agreeing voting members that match the replica
     * @param differing voting members that do not
     * @param suspects all members that do not
     */
    record Votes(int voters, int agreeing, int differing, List<Endpoint> suspects) {

        Verdict verdict() {
            if (2 * agreeing > voters) {
                return Verdict.REPLICA;
            }
            return 2 * differing > voters ? Verdict.SOURCE : Verdict.UNDECIDED;
        }
    }

    Votes votes(ReplicaState state, List<ByteString> keys) {
        ClusterView view = source.view();
        // A source of gateways only has no voting members. An unidentified member may be one.
        Role voting = view.members(Role.VOTER).isEmpty() ? Role.GATEWAY : Role.VOTER;
        int voters = view.members(voting).size() + view.unidentified().size();
        List<ByteString> some = keys.subList(0, Math.min(MOST_KEYS, keys.size()));
        int agreeing = 0;
        int differing = 0;
        List<Endpoint> suspects = new ArrayList<>();
        // In order of load, so that the leader is last.
        List<Member> compared = new ArrayList<>();
        for (Endpoint endpoint : source.endpointsFor(Duty.SNAPSHOT)) {
            Member member = view.memberAt(endpoint).orElse(null);
            if (member == null || compared.contains(member)) {
                continue;
            }
            try {
                boolean agrees = agrees(endpoint, state, some);
                // After a failure, the member's other addresses are tried.
                compared.add(member);
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
        return new Votes(voters, agreeing, differing, suspects);
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
            Entry theirs = response.getKvsCount() == 0 ? null : Entry.of(EtcdMessages.keyValue(response.getKvs(0)));
            if (!Objects.equals(theirs, state.get(key))) {
                return false;
            }
        }
        return true;
    }

    /** The endpoint belongs to another cluster, so its response is ignored. */
    private static final class AnotherClusterException extends Exception {

        AnotherClusterException(ClusterId answering) {
            super("endpoint reaches cluster " + answering);
        }
    }
}
