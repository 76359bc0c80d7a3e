package io.understudy.etcd;

import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.Optional;

/**
 * One member of the cluster, or a gateway beside it, as last seen.
 *
 * @param name as the operator gave it; empty for one that never started, and for gateways
 * @param endpoints where it can be reached, best first; empty for one that never started
 * @param advertised those of {@code endpoints} that lead to this member and to no other: by the member list, or
 *     because the operator said so ({@link MemberDiscovery#CONFIGURED})
 * @param version {@link EtcdVersion#UNKNOWN} until it answered
 * @param raftTerm as of its last answer, 0 until then
 * @param revision as of its last answer, {@link Revision#ZERO} until then
 */
public record Member(
        MemberId id,
        String name,
        Role role,
        Health health,
        List<Endpoint> endpoints,
        List<Endpoint> advertised,
        EtcdVersion version,
        long raftTerm,
        Revision revision) {

    public Member {
        endpoints = List.copyOf(endpoints);
        advertised = List.copyOf(advertised);
    }

    /** The best endpoint. */
    public Optional<Endpoint> endpoint() {
        return endpoints.stream().findFirst();
    }
}
