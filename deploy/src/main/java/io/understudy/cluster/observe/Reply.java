package io.understudy.cluster.observe;

import io.etcd.jetcd.api.StatusResponse;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.Optional;
import java.util.Set;

/**
 * What came of one {@link Probe}.
 *
 * @param peers whom the member has a connection with
 */
record Reply(Endpoint endpoint, StatusResponse status, boolean reachesQuorum, Set<MemberId> peers) {

    ClusterId cluster() {
        return new ClusterId(status.getHeader().getClusterId());
    }

    MemberId member() {
        return new MemberId(status.getHeader().getMemberId());
    }

    /** Whether a gateway answered, which is no member. */
    boolean isGateway() {
        return version().isUnderstudy();
    }

    MemberAnswer answer() {
        return new MemberAnswer(
                version(),
                Optional.of(status.getLeader()).filter(leader -> leader != 0).map(MemberId::new),
                status.getRaftTerm(),
                status.getRaftIndex(),
                status.getRaftAppliedIndex(),
                new Revision(Math.max(0, status.getHeader().getRevision())),
                status.getDbSize(),
                status.getDbSizeInUse(),
                reachesQuorum,
                status.getErrorsList());
    }

    private EtcdVersion version() {
        return EtcdVersion.parse(status.getVersion());
    }
}
