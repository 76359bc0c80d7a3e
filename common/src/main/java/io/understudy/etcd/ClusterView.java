package io.understudy.etcd;

import io.etcd.jetcd.api.StatusResponse;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The known state of a cluster at one moment.
 *
 * @param clusterId null until a configured endpoint has answered
 * @param members voters and learners by id, then gateways
 * @param leaderId null while none is known
 * @param unidentified configured endpoints at which no member is identified yet, in configured order
 * @param foreign endpoints that lead to another cluster; never candidates. When they are all there is, nothing can be
 *     reached until an operator decides which cluster is meant
 * @param alarms those reported by members that answer; none where the status requires root
 * @param status of the leader, or of another member that answers; null where none reports its status
 */
public record ClusterView(
        @Nullable ClusterId clusterId,
        List<Member> members,
        @Nullable MemberId leaderId,
        List<Endpoint> unidentified,
        List<Foreign> foreign,
        List<Alarm> alarms,
        @Nullable StatusResponse status) {

    public ClusterView {
        members = List.copyOf(members);
        unidentified = List.copyOf(unidentified);
        foreign = List.copyOf(foreign);
        alarms = List.copyOf(alarms);
    }

    /** An endpoint at which another cluster answers. */
    public record Foreign(Endpoint endpoint, ClusterId clusterId) {}

    /** The view before the first probe. */
    static ClusterView initial(List<Endpoint> seeds) {
        return new ClusterView(null, List.of(), null, seeds, List.of(), List.of(), null);
    }

    /**
     * Returns the oldest version among the voting members: the cluster serves its API. If no voting member ever
     * answered, the oldest among all members; {@link EtcdVersion#UNKNOWN} until one did.
     */
    public EtcdVersion version() {
        // Called for each read, so without streams.
        EtcdVersion ofVoters = EtcdVersion.UNKNOWN;
        EtcdVersion ofAll = EtcdVersion.UNKNOWN;
        for (Member member : members) {
            ofAll = older(ofAll, member.version());
            ofVoters = member.role() == Role.VOTER ? older(ofVoters, member.version()) : ofVoters;
        }
        return ofVoters.equals(EtcdVersion.UNKNOWN) ? ofAll : ofVoters;
    }

    private static EtcdVersion older(EtcdVersion one, EtcdVersion other) {
        return one.equals(EtcdVersion.UNKNOWN) || (!other.equals(EtcdVersion.UNKNOWN) && other.compareTo(one) < 0)
                ? other
                : one;
    }

    public Optional<Member> leader() {
        return members.stream()
                .filter(member -> member.id().equals(leaderId) && member.role() == Role.VOTER)
                .findFirst();
    }

    public Optional<Member> member(MemberId id) {
        return members.stream().filter(member -> member.id().equals(id)).findFirst();
    }

    /** The member that answers at {@code endpoint}, as far as known. */
    public Optional<Member> memberAt(Endpoint endpoint) {
        for (Member member : members) {
            for (Member.Address address : member.addresses()) {
                if (address.endpoint().equals(endpoint)) {
                    return Optional.of(member);
                }
            }
        }
        return Optional.empty();
    }

    public List<Member> members(Role role) {
        return members.stream().filter(member -> member.role() == role).toList();
    }
}
