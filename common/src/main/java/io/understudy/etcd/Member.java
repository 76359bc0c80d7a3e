package io.understudy.etcd;

import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.Comparator;
import java.util.List;

/**
 * One member of the cluster, or a gateway beside it, as last seen.
 *
 * @param name as the operator gave it; empty for one that never started, and for gateways
 * @param addresses where it can be reached, best first; none for one that never started
 * @param version {@link EtcdVersion#UNKNOWN} until it answered
 * @param raftTerm as of its last answer, 0 until then
 * @param revision as of its last answer, {@link Revision#ZERO} until then
 */
public record Member(
        MemberId id,
        String name,
        Role role,
        List<Address> addresses,
        EtcdVersion version,
        long raftTerm,
        Revision revision) {

    public Member {
        addresses = List.copyOf(addresses);
    }

    /**
     * One way to a member.
     *
     * @param exclusive whether it leads to this member and to no other, by the member list or the operator's word
     *     ({@link MemberDiscovery#CONFIGURED}); one that merely answered for it once may be a load balancer
     */
    public record Address(Endpoint endpoint, boolean exclusive, Health health) {}

    /** That of its best address. */
    public Health health() {
        return addresses.stream()
                .map(Address::health)
                .min(Comparator.naturalOrder())
                .orElse(Health.UNKNOWN);
    }

    /** Endpoints that reach it, best first. */
    public List<Endpoint> endpoints() {
        return addresses.stream().map(Address::endpoint).toList();
    }
}
