package io.understudy.etcd;

import io.etcd.jetcd.api.StatusResponse;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of probing one endpoint.
 *
 * @param health by the last probe
 * @param facts from the last one that was answered; null if none ever was
 * @param why what the last probe failed with, in one line; null if it was answered, or there was none
 * @param failures how many probes have failed in a row
 */
record Observation(
        Health health, @Nullable Facts facts, @Nullable String why, int failures) {

    static final Observation NONE = new Observation(Health.UNKNOWN, null, null, 0);

    /**
     * Facts that a server reports about itself.
     *
     * @param leader null if it has none, or doesn't report which
     * @param hasLeader whether it has one
     * @param alarms those it has; none where it doesn't report its status
     * @param status its whole status; null where role {@code root} is required for that
     */
    record Facts(
            ClusterId cluster,
            MemberId member,
            @Nullable MemberId leader,
            boolean hasLeader,
            boolean learner,
            EtcdVersion version,
            long raftTerm,
            Revision revision,
            List<Alarm> alarms,
            @Nullable StatusResponse status) {

        Facts {
            alarms = List.copyOf(alarms);
        }

        static Facts of(StatusResponse status) {
            return new Facts(
                    new ClusterId(status.getHeader().getClusterId()),
                    new MemberId(status.getHeader().getMemberId()),
                    status.getLeader() == 0 ? null : new MemberId(status.getLeader()),
                    status.getLeader() != 0,
                    status.getIsLearner(),
                    EtcdVersion.parse(status.getVersion()),
                    status.getRaftTerm(),
                    new Revision(Math.max(0, status.getHeader().getRevision())),
                    status.getErrorsList().stream()
                            .flatMap(error -> Alarm.of(
                                    error, new MemberId(status.getHeader().getMemberId()))
                                    .stream())
                            .toList(),
                    status);
        }

        Role role() {
            if (version.isUnderstudy()) {
                return Role.GATEWAY;
            }
            return learner ? Role.LEARNER : Role.VOTER;
        }
    }

    Observation answered(Facts now) {
        return new Observation(now.hasLeader() ? Health.HEALTHY : Health.LEADERLESS, now, null, 0);
    }

    Observation failed(String reason) {
        return new Observation(Health.UNREACHABLE, facts, reason, failures + 1);
    }

    /** The last Raft entry that it applied; -1 if it doesn't report its status. */
    long applied() {
        StatusResponse status = facts == null ? null : facts.status();
        return status == null ? -1 : status.getRaftAppliedIndex();
    }

    boolean answers() {
        return health == Health.HEALTHY || health == Health.LEADERLESS;
    }
}
