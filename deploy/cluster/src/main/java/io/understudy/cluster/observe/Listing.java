package io.understudy.cluster.observe;

import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.ClusterGrpc;
import io.etcd.jetcd.api.Member;
import io.etcd.jetcd.api.MemberListRequest;
import io.etcd.jetcd.api.MemberListResponse;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.vocabulary.ClusterId;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A member list.
 *
 * @param from the endpoint that returned it
 * @param raftTerm Raft term of that member
 * @param isConfirmed whether a quorum confirmed it
 */
record Listing(Endpoint from, ClusterId cluster, List<Member> members, long raftTerm, boolean isConfirmed) {

    /** {@code MemberListRequest.linearizable}, which the generated class lacks; etcd before 3.5 doesn't know it. */
    private static final int LINEARIZABLE = 1;

    private static final MemberListRequest LOCAL = MemberListRequest.getDefaultInstance();
    private static final MemberListRequest CONFIRMED = MemberListRequest.newBuilder()
            .setUnknownFields(UnknownFieldSet.newBuilder()
                    .addField(
                            LINEARIZABLE,
                            UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                    .build())
            .build();

    /**
     * Reads the list from a voter; learners reject the request.
     *
     * @param isConfirmed whether a quorum must confirm it; without a quorum there is no response
     */
    static CompletableFuture<Listing> read(
            EtcdConnections connections, Endpoint endpoint, boolean isConfirmed, Duration deadline) {
        return connections
                .call(endpoint, ClusterGrpc.getMemberListMethod(), isConfirmed ? CONFIRMED : LOCAL, deadline)
                .thenApply(answer -> of(endpoint, answer, isConfirmed));
    }

    private static Listing of(Endpoint from, MemberListResponse answer, boolean isConfirmed) {
        return new Listing(
                from,
                new ClusterId(answer.getHeader().getClusterId()),
                answer.getMembersList(),
                answer.getHeader().getRaftTerm(),
                isConfirmed);
    }

    /** Whether it has the same members in the same roles, at the same peer URLs. */
    boolean hasSameMembers(Listing other) {
        return cluster.equals(other.cluster) && keys().equals(other.keys());
    }

    private Set<List<Object>> keys() {
        return members.stream()
                .map(member ->
                        List.<Object>of(member.getID(), member.getIsLearner(), Set.copyOf(member.getPeerURLsList())))
                .collect(Collectors.toSet());
    }

    Listing unconfirmed() {
        return new Listing(from, cluster, members, raftTerm, false);
    }

    /**
     * Returns the client endpoints of the members.
     *
     * @param encrypted whether TLS is required
     */
    Stream<Endpoint> endpoints(boolean encrypted) {
        return members.stream().flatMap(member -> endpoints(member, encrypted));
    }

    /** Returns the client endpoints of one member. */
    static Stream<Endpoint> endpoints(Member member, boolean encrypted) {
        return urls(member.getClientURLsList()).stream()
                .flatMap(url -> endpoint(url).stream())
                .filter(endpoint -> endpoint.tls() == encrypted);
    }

    /** Whether it may be a cluster's list: a gateway may list gateways, which have no peer URLs. */
    boolean hasVoter() {
        return members.stream().anyMatch(member -> !member.getIsLearner() && member.getPeerURLsCount() > 0);
    }

    Stream<URI> peerUrls() {
        return members.stream().flatMap(member -> urls(member.getPeerURLsList()).stream());
    }

    /** Returns the texts that are URLs: etcd accepts any text in a member update. */
    static List<URI> urls(List<String> texts) {
        return texts.stream().flatMap(text -> url(text).stream()).toList();
    }

    private static Optional<URI> url(String text) {
        try {
            return Optional.of(new URI(text));
        } catch (URISyntaxException e) {
            return Optional.empty();
        }
    }

    /** Returns the endpoint. Empty for a client URL of another kind, such as a Unix socket. */
    private static Optional<Endpoint> endpoint(URI url) {
        try {
            return Optional.of(Endpoint.of(url));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
