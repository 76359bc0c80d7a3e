package io.understudy.gateway.verify;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.Member;
import io.understudy.etcd.Role;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.ReplicaState;
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
 * asked for some of them, one by one, serializably at the state's revision, and most of those that answer decide. A page
 * alone proves nothing: the member that served it, a learner as a rule, may be what is damaged. Waits for the network.
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

    /**
     * What the members have.
     *
     * @param agreeing voters that have what the replica has
     * @param differing voters that have not
     * @param suspects all members that have not, voters or not
     */
    record Opinions(int agreeing, int differing, List<Endpoint> suspects) {

        /** Whether the replica is as the source has it. Not if nobody could be asked: then the page is believed. */
        boolean forReplica() {
            return agreeing > differing;
        }
    }

    Opinions about(ReplicaState state, List<ByteString> keys) {
        List<ByteString> some = keys.subList(0, Math.min(MOST_KEYS, keys.size()));
        int agreeing = 0;
        int differing = 0;
        List<Endpoint> suspects = new ArrayList<>();
        // In order of what they cost, so that nothing is asked of the leader first.
        List<Member> asked = new ArrayList<>();
        for (Endpoint endpoint : source.endpointsFor(Duty.SNAPSHOT)) {
            Member member = source.view().memberAt(endpoint).orElse(null);
            if (member == null || asked.contains(member)) {
                continue;
            }
            asked.add(member);
            try {
                boolean agrees = agrees(endpoint, state, some);
                if (!agrees) {
                    suspects.add(endpoint);
                }
                if (member.role() == Role.VOTER) {
                    agreeing += agrees ? 1 : 0;
                    differing += agrees ? 0 : 1;
                }
            } catch (StatusRuntimeException e) {
                LOG.info("no second opinion member={} cause=\"{}\"", endpoint, e.getMessage());
            }
        }
        return new Opinions(agreeing, differing, suspects);
    }

    private boolean agrees(Endpoint endpoint, ReplicaState state, List<ByteString> keys) {
        for (ByteString key : keys) {
            RangeResponse response = KVGrpc.newBlockingStub(source.channel(endpoint))
                    .withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS)
                    .range(RangeRequest.newBuilder()
                            .setKey(key)
                            .setRevision(state.revision().value())
                            .setSerializable(true)
                            .build());
            Entry theirs = response.getKvsCount() == 0 ? null : entry(response.getKvs(0));
            if (!Objects.equals(theirs, state.get(key))) {
                return false;
            }
        }
        return true;
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
