package io.understudy.cluster.observe;

import io.etcd.jetcd.api.Member;
import io.understudy.cluster.observe.ClusterFacts.Alarms;
import io.understudy.cluster.observe.ClusterFacts.Divergence;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.Look.Answers;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.observe.MemberFacts.MemberProcess;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Builds the facts about a cluster from its members' responses. Pure functions. */
final class ClusterFactsBuilder {

    private static final Comparator<MemberFacts> ORDER = Comparator.comparing(
                    (MemberFacts member) -> !member.hasStarted())
            .thenComparing(MemberFacts::name)
            .thenComparing(member -> member.id().value(), Long::compareUnsigned);

    private final List<Endpoint> seeds;
    private final Answers answers;
    private final @Nullable Found before;
    private final ClusterId cluster;
    private final Listing listing;

    /** @throws UnobservableException the responses give no consistent state */
    ClusterFactsBuilder(List<Endpoint> seeds, Answers answers, @Nullable Found before) {
        this.seeds = seeds;
        this.answers = answers;
        this.before = before;
        this.cluster = cluster();
        this.listing = listing();
    }

    ClusterFacts facts(Instant at) {
        Map<MemberId, ProbeReply> replies = replies();
        List<MemberFacts> members = listing.members().stream()
                .map(member -> facts(member, Optional.ofNullable(replies.get(new MemberId(member.getID())))))
                .sorted(ORDER)
                .toList();
        return new ClusterFacts(
                cluster,
                members,
                listing.isConfirmed(),
                Alarms.of(members),
                at,
                divergence(members),
                failures(members, replies));
    }

    private Map<MemberId, Failure> failures(List<MemberFacts> members, Map<MemberId, ProbeReply> replies) {
        Map<MemberId, Failure> failures = new HashMap<>();
        for (MemberFacts member : members) {
            ProbeReply reply = replies.get(member.id());
            if (reply != null) {
                reply.unreached().ifPresent(failure -> failures.put(member.id(), failure));
                continue;
            }
            member.clientUrls().stream()
                    .flatMap(url -> answers.failures().entrySet().stream()
                            .filter(each -> each.getKey().uri().equals(url)))
                    .map(Map.Entry::getValue)
                    .max(Comparator.comparing(Failure::isRejection).thenComparing(Failure::isTimeout))
                    .ifPresent(failure -> failures.put(member.id(), failure));
        }
        return failures;
    }

    private Divergence divergence(List<MemberFacts> members) {
        List<Listing> differing =
                answers.differing().stream().filter(this::isOurs).toList();
        Set<MemberId> apart = new HashSet<>();
        List<String> texts = new ArrayList<>();
        boolean hasMajority = differing.isEmpty() || isMajority(listing, differing);
        for (Listing each : differing) {
            memberAt(each.from()).ifPresent(member -> {
                if (!hasMajority || !each.hasSameMembers(listing)) {
                    apart.add(member);
                }
                texts.add(label(members, member) + " lists " + each.members().size() + " members: "
                        + each.members().stream()
                                .map(one -> label(members, new MemberId(one.getID())))
                                .sorted()
                                .collect(Collectors.joining(", ")));
            });
        }
        for (MemberFacts member : members) {
            answers.replies().stream()
                    .filter(reply -> !reply.cluster().equals(cluster)
                            && !reply.isGateway()
                            && member.clientUrls().contains(reply.endpoint().uri()))
                    .findFirst()
                    .ifPresent(reply -> {
                        apart.add(member.id());
                        texts.add(reply.endpoint() + ", a client URL of " + member.label()
                                + ", is served by a member of cluster " + reply.cluster());
                    });
        }
        return new Divergence(apart, hasMajority, texts.stream().sorted().toList());
    }

    private static String label(List<MemberFacts> members, MemberId id) {
        return members.stream()
                .filter(member -> member.id().equals(id))
                .map(MemberFacts::label)
                .findFirst()
                .orElse(id.toString());
    }

    private Optional<MemberId> memberAt(Endpoint endpoint) {
        return answers.replies().stream()
                .filter(reply -> reply.endpoint().equals(endpoint))
                .map(ProbeReply::member)
                .findFirst();
    }

    private boolean isOurs(Listing each) {
        return each.cluster().equals(cluster) && each.hasVoter() && confirms(each.from());
    }

    private static boolean isMajority(Listing one, List<Listing> all) {
        long voters =
                one.members().stream().filter(member -> !member.getIsLearner()).count();
        return all.stream().filter(one::hasSameMembers).count() > voters / 2;
    }

    boolean isConfirmed() {
        return listing.isConfirmed();
    }

    /** Whether the facts are from these endpoints. */
    boolean isOf(List<Endpoint> endpoints) {
        return seeds.equals(endpoints);
    }

    long healthyVotersAt(List<Endpoint> endpoints) {
        Map<MemberId, Endpoint> answering = found().answering();
        return facts(Instant.EPOCH).healthyVoters().stream()
                .filter(voter -> endpoints.contains(answering.get(voter.id())))
                .count();
    }

    Found found() {
        Map<MemberId, Endpoint> answering =
                replies().values().stream().collect(Collectors.toMap(ProbeReply::member, ProbeReply::endpoint));
        return new Found(listing, listing.endpoints(seeds.get(0).tls()).collect(Collectors.toSet()), answering);
    }

    /** Returns the cluster of the given endpoints, which must agree, else of the known ones. */
    private ClusterId cluster() {
        Map<Endpoint, ProbeReply> given = answers.replies().stream()
                .filter(reply -> seeds.contains(reply.endpoint()))
                .collect(Collectors.toMap(ProbeReply::endpoint, reply -> reply));
        List<ClusterId> clusters =
                given.values().stream().map(ProbeReply::cluster).distinct().toList();
        if (clusters.size() > 1) {
            throw UnobservableException.contradictory("endpoints belong to different clusters: "
                    + given.values().stream()
                            .map(reply -> reply.endpoint() + " belongs to cluster " + reply.cluster())
                            .sorted()
                            .collect(Collectors.joining(", ")));
        }
        if (!clusters.isEmpty()) {
            return clusters.get(0);
        }
        if (before != null
                && answers.replies().stream().anyMatch(reply -> reply.cluster()
                        .equals(before.listing().cluster()))) {
            return before.listing().cluster();
        }
        throw rejection().orElseGet(() -> new UnobservableException("no endpoint reachable: " + failures()));
    }

    private Optional<UnobservableException> rejection() {
        String rejections = answers.failures().entrySet().stream()
                .filter(each -> each.getValue().isRejection())
                .map(each -> each.getKey() + " responds and rejects requests: "
                        + each.getValue().text())
                .collect(Collectors.joining("; "));
        return rejections.isEmpty()
                ? Optional.empty()
                : Optional.of(UnobservableException.rejected(rejections + "; correct cluster.user or cluster.tls"));
    }

    /** Returns a confirmed list shared by most members, else a local copy, else the previous. */
    private Listing listing() {
        return answers.listings().stream()
                .filter(each -> each.cluster().equals(cluster) && each.hasVoter())
                .map(each -> each.isConfirmed() && !confirms(each.from()) ? each.unconfirmed() : each)
                .max(Comparator.comparing(Listing::isConfirmed)
                        .thenComparing(each -> answers.differing().stream()
                                .filter(each::hasSameMembers)
                                .count())
                        .thenComparing(Listing::raftTerm))
                .or(() -> Optional.ofNullable(before)
                        .map(Found::listing)
                        .filter(each -> each.cluster().equals(cluster))
                        .map(Listing::unconfirmed))
                .orElseThrow(() -> rejection()
                        .orElseGet(() ->
                                UnobservableException.unclear("no endpoint returned the member list: " + failures())));
    }

    /** Whether the endpoint confirms its list; gateways forward what they have. */
    private boolean confirms(Endpoint endpoint) {
        return answers.replies().stream()
                .anyMatch(reply -> reply.endpoint().equals(endpoint)
                        && !reply.isGateway()
                        && reply.version().confirmsMembers());
    }

    /** Returns replies by member; of several, one that reaches the quorum. */
    private Map<MemberId, ProbeReply> replies() {
        Map<MemberId, ProbeReply> replies = new HashMap<>();
        answers.replies().stream()
                .filter(reply -> reply.cluster().equals(cluster) && !reply.isGateway())
                .sorted(Comparator.comparing(ProbeReply::reachesQuorum))
                .forEach(reply -> replies.put(reply.member(), reply));
        return replies;
    }

    private String failures() {
        return Stream.concat(
                        answers.failures().entrySet().stream()
                                .map(failure -> failure.getKey() + ": "
                                        + failure.getValue().text()),
                        answers.replies().stream().map(reply -> reply.endpoint() + ": responds without a member list"))
                .collect(Collectors.joining("; "));
    }

    private MemberFacts facts(Member member, Optional<ProbeReply> reply) {
        List<URI> peerUrls = Listing.urls(member.getPeerURLsList());
        return new MemberFacts(
                new MemberId(member.getID()),
                member.getName(),
                member.getIsLearner() ? Role.LEARNER : Role.VOTER,
                peerUrls,
                Listing.urls(member.getClientURLsList()),
                reply.map(ProbeReply::answer),
                refuses(member) ? Measurements.NONE.refused() : Measurements.NONE,
                new MemberProcess(
                        reply.flatMap(each -> each.page().metrics().startedAt()),
                        reply.flatMap(each -> each.page().clockAhead()),
                        servesPeers(peerUrls),
                        reply.flatMap(each -> each.page().metrics().quotaBytes())));
    }

    /** Whether peer URLs respond; empty for a previous list. */
    private Optional<Boolean> servesPeers(List<URI> peerUrls) {
        return answers.peerPorts().keySet().containsAll(peerUrls)
                ? Optional.of(peerUrls.stream().allMatch(answers.peerPorts()::get))
                : Optional.empty();
    }

    private boolean refuses(Member member) {
        List<Endpoint> endpoints = Listing.endpoints(member, seeds.get(0).tls()).toList();
        return !endpoints.isEmpty() && answers.refusing().containsAll(endpoints);
    }

    /** Returns the metrics pages of members that returned one. */
    Map<MemberId, ProbeReply.Page> pages() {
        return replies().values().stream().collect(Collectors.toMap(ProbeReply::member, ProbeReply::page));
    }

    /**
     * The endpoints of members that an observation found, for the next one.
     *
     * @param listing the member list
     * @param endpoints the client URLs in it
     * @param answering the endpoints that responded, by member
     */
    record Found(Listing listing, Set<Endpoint> endpoints, Map<MemberId, Endpoint> answering) {

        Found {
            endpoints = Set.copyOf(endpoints);
            answering = Map.copyOf(answering);
        }

        Optional<Endpoint> endpointOf(MemberId member, boolean encrypted) {
            return Optional.ofNullable(answering.get(member)).or(() -> listing.members().stream()
                    .filter(each -> each.getID() == member.value())
                    .flatMap(each -> Listing.endpoints(each, encrypted))
                    .findFirst());
        }
    }
}
