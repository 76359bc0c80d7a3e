package io.understudy.cluster.observe;

import io.etcd.jetcd.api.StatusResponse;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * The responses of one {@link Probe}.
 *
 * @param unreached why the member does not reach the quorum; empty if it does
 * @param page the member's metrics
 */
record ProbeReply(Endpoint endpoint, StatusResponse status, Optional<Failure> unreached, Page page) {

    /**
     * The response of an HTTP request.
     *
     * @param clockAhead how far the clock it is dated by is ahead of ours; empty without a date
     * @param behind last log index of each follower behind the commit index, on the leader and on suspicion only
     * @param sent when it was requested, by {@link System#nanoTime}; its values are not older
     * @param arrived when it was there; its values are not newer
     */
    record Page(
            MetricsPage metrics, Optional<Duration> clockAhead, Map<MemberId, Long> behind, long sent, long arrived) {

        static final Page NONE = new Page(MetricsPage.NONE, Optional.empty(), Map.of(), 0, 0);

        Page with(Map<MemberId, Long> others) {
            return new Page(metrics, clockAhead, others, sent, System.nanoTime());
        }
    }

    ClusterId cluster() {
        return new ClusterId(status.getHeader().getClusterId());
    }

    MemberId member() {
        return new MemberId(status.getHeader().getMemberId());
    }

    boolean reachesQuorum() {
        return unreached.isEmpty();
    }

    /** Whether a gateway answered, which is no member. */
    boolean isGateway() {
        return version().isUnderstudy();
    }

    MemberAnswer answer() {
        return MemberAnswer.of(status, reachesQuorum());
    }

    EtcdVersion version() {
        return EtcdVersion.parse(status.getVersion());
    }
}
