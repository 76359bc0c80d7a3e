package io.understudy.etcd;

import io.etcd.jetcd.api.StatusResponse;
import io.understudy.etcd.Observation.Facts;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts a view together from what was observed. Without state or effects.
 *
 * <p>Invariant E5: two clusters in one configuration are never mixed: the first endpoint that answers determines the
 * cluster.
 *
 * @param list null until the cluster has given one
 * @param cluster null until it is settled which one is meant
 */
record ViewBuilder(
        List<Endpoint> seeds,
        MemberDiscovery discovery,
        Map<Endpoint, Observation> observations,
        @Nullable MemberList list,
        @Nullable ClusterId cluster) {

    ClusterView build() {
        if (cluster == null) {
            return ClusterView.initial(seeds);
        }
        List<Member> members = new ArrayList<>(list == null ? unlisted(Role.VOTER, Role.LEARNER) : listed(list));
        members.sort(Comparator.comparing(member -> member.id().value(), Long::compareUnsigned));
        members.addAll(unlisted(Role.GATEWAY));
        MemberId leader = leader();
        return new ClusterView(cluster, members, leader, unidentified(members), foreign(), alarms(), status(leader));
    }

    /** Everything worth probing, seeds first. */
    static Set<Endpoint> endpoints(List<Endpoint> seeds, MemberDiscovery discovery, @Nullable MemberList list) {
        Set<Endpoint> all = new LinkedHashSet<>(seeds);
        if (discovery == MemberDiscovery.MEMBERS && list != null) {
            list.endpoints().forEach(all::add);
        }
        return all;
    }

    /**
     * The cluster at the first configured endpoint that responds. It waits for the probes of earlier ones, so that
     * every start chooses the same.
     */
    static Optional<ClusterId> settle(List<Endpoint> seeds, Map<Endpoint, Observation> observations) {
        for (Endpoint seed : seeds) {
            Observation observation = observations.getOrDefault(seed, Observation.NONE);
            if (observation.facts() != null) {
                return Optional.of(observation.facts().cluster());
            }
            if (observation.health() == Health.UNKNOWN) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    /** Without gateways, which are known by their own answers. */
    private List<Member> listed(MemberList known) {
        return known.entries().stream()
                .filter(entry -> entry.role() != Role.GATEWAY)
                .map(entry -> {
                    List<Member.Address> addresses = new ArrayList<>();
                    if (discovery == MemberDiscovery.MEMBERS) {
                        entry.clientUrls().stream()
                                .filter(url -> mayLeadTo(entry.id(), url))
                                .forEach(url -> addresses.add(address(url, isExclusive(known, url))));
                    }
                    aliases(entry.id(), addresses);
                    return member(entry.id(), entry.name(), entry.role(), addresses);
                })
                .toList();
    }

    /** Members known by their own answers alone. */
    private List<Member> unlisted(Role... roles) {
        Map<MemberId, Role> found = new LinkedHashMap<>();
        for (Endpoint endpoint : observations.keySet()) {
            ours(endpoint)
                    .filter(facts -> List.of(roles).contains(facts.role()))
                    .ifPresent(facts -> found.put(facts.member(), facts.role()));
        }
        return found.entrySet().stream()
                .map(entry -> {
                    List<Member.Address> addresses = new ArrayList<>();
                    aliases(entry.getKey(), addresses);
                    return member(entry.getKey(), "", entry.getValue(), addresses);
                })
                .toList();
    }

    /** Adds endpoints at which the member has responded and that aren't among its addresses. */
    private void aliases(MemberId id, List<Member.Address> addresses) {
        Set<Endpoint> known = new LinkedHashSet<>();
        addresses.forEach(address -> known.add(address.endpoint()));
        for (Endpoint endpoint : observations.keySet()) {
            boolean answered =
                    ours(endpoint).filter(facts -> facts.member().equals(id)).isPresent();
            if (answered && known.add(endpoint)) {
                addresses.add(address(endpoint, discovery == MemberDiscovery.CONFIGURED));
            }
        }
    }

    private Member member(MemberId id, String name, Role role, List<Member.Address> addresses) {
        // Stable: advertised ones before aliases of the same health.
        addresses.sort(Comparator.comparing(Member.Address::health));
        Optional<Facts> facts = observations.values().stream()
                .map(Observation::facts)
                .filter(Objects::nonNull)
                .filter(each -> each.cluster().equals(cluster) && each.member().equals(id))
                .max(Comparator.comparing(Facts::revision));
        return new Member(
                id,
                name,
                role,
                addresses,
                facts.map(Facts::version).orElse(EtcdVersion.UNKNOWN),
                facts.map(Facts::raftTerm).orElse(0L),
                facts.map(Facts::revision).orElse(Revision.ZERO));
    }

    private Member.Address address(Endpoint endpoint, boolean exclusive) {
        return new Member.Address(endpoint, exclusive, observation(endpoint).health());
    }

    /** Unless another one answered there last: a load balancer, or addresses that changed hands. */
    private boolean mayLeadTo(MemberId id, Endpoint endpoint) {
        Facts facts = observation(endpoint).facts();
        return facts == null
                || (facts.cluster().equals(cluster) && facts.member().equals(id));
    }

    private static boolean isExclusive(MemberList list, Endpoint endpoint) {
        return list.entries().stream()
                        .filter(entry -> entry.clientUrls().contains(endpoint))
                        .count()
                == 1;
    }

    /**
     * The leader named in the response of the highest term. Learners count only where no voter responds: a partitioned
     * learner names its last leader for ever, since it never campaigns.
     */
    private @Nullable MemberId leader() {
        boolean votersAnswer = observations.keySet().stream()
                .anyMatch(endpoint -> observation(endpoint).answers()
                        && ours(endpoint)
                                .filter(facts -> facts.role() == Role.VOTER)
                                .isPresent());
        return observations.entrySet().stream()
                .filter(entry -> entry.getValue().health() == Health.HEALTHY)
                .flatMap(entry -> ours(entry.getKey()).stream())
                .filter(facts -> !votersAnswer || facts.role() == Role.VOTER)
                .max(Comparator.comparingLong(Facts::raftTerm).thenComparing(facts -> facts.leader() != null))
                .map(Facts::leader)
                .orElse(null);
    }

    /** Configured endpoints of no known member, without those of removed members, which have frozen state. */
    private List<Endpoint> unidentified(List<Member> members) {
        Set<Endpoint> identified = new LinkedHashSet<>();
        members.forEach(member -> identified.addAll(member.endpoints()));
        return seeds.stream()
                .filter(seed -> !identified.contains(seed))
                .filter(seed -> !isForeign(seed) && !observation(seed).answers())
                .toList();
    }

    private List<ClusterView.Foreign> foreign() {
        List<ClusterView.Foreign> foreign = new ArrayList<>();
        observations.forEach((endpoint, observation) -> {
            Facts facts = observation.facts();
            if (facts != null && !facts.cluster().equals(cluster)) {
                foreign.add(new ClusterView.Foreign(endpoint, facts.cluster()));
            }
        });
        return foreign;
    }

    /** Alarms of healthy members; others may report alarms that have been cleared since. */
    private List<Alarm> alarms() {
        return observations.keySet().stream()
                .filter(endpoint -> observation(endpoint).health() == Health.HEALTHY)
                .flatMap(endpoint -> ours(endpoint).stream())
                .flatMap(facts -> facts.alarms().stream())
                .distinct()
                // Each time in the same order, which etcd doesn't keep.
                .sorted(Comparator.comparing(Alarm::kind)
                        .thenComparing(alarm -> alarm.member().value(), Long::compareUnsigned))
                .toList();
    }

    /** The leader's if it answers; gateways last, since theirs is another member's. */
    private @Nullable StatusResponse status(@Nullable MemberId leader) {
        return observations.keySet().stream()
                .filter(endpoint -> observation(endpoint).answers())
                .flatMap(endpoint -> ours(endpoint).stream())
                .filter(facts -> facts.status() != null)
                .min(Comparator.comparing((Facts facts) -> !facts.member().equals(leader))
                        .thenComparing(Facts::role))
                .map(Facts::status)
                .orElse(null);
    }

    private boolean isForeign(Endpoint endpoint) {
        Facts facts = observation(endpoint).facts();
        return facts != null && !facts.cluster().equals(cluster);
    }

    private Optional<Facts> ours(Endpoint endpoint) {
        return Optional.ofNullable(observation(endpoint).facts())
                .filter(facts -> facts.cluster().equals(cluster));
    }

    private Observation observation(Endpoint endpoint) {
        return observations.getOrDefault(endpoint, Observation.NONE);
    }
}
