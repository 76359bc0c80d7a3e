package io.understudy.cluster.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.Member;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.StatusResponse;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.Look.Answers;
import io.understudy.etcd.Endpoint;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which member list counts. */
final class ClusterFactsBuilderTest {

    private static final long CLUSTER = 7;
    private static final Endpoint GATEWAY = Endpoint.of(URI.create("http://127.0.0.1:1"));
    private static final Endpoint MEMBER = Endpoint.of(URI.create("http://127.0.0.1:2"));
    private static final String PEER_URL = "http://127.0.0.1:3";
    private static final Member VOTER = Member.newBuilder()
            .setID(1)
            .setName("voter-1")
            .addPeerURLs(PEER_URL)
            .build();
    private static final Member LISTED =
            Member.newBuilder().setID(9).setName("gateway").build();
    private static final Member LEARNER =
            Member.newBuilder().setID(9).setName("gateway").setIsLearner(true).build();

    @Test
    void gatewaysThatAGatewayListsAreNoMembers() {
        ClusterFacts facts = facts(
                List.of(reply(GATEWAY, 9, "3.5.30-understudy"), reply(MEMBER, 1, "3.5.30")),
                listing(GATEWAY, LISTED),
                listing(MEMBER, VOTER));
        assertThat(facts.voters()).extracting(MemberFacts::name).containsExactly("voter-1");
        assertThat(facts.isConfirmed()).isTrue();
        for (Member gateway : List.of(LISTED, LEARNER)) {
            assertThatThrownBy(() -> facts(List.of(reply(GATEWAY, 9, "3.5.30-understudy")), listing(GATEWAY, gateway)))
                    .isInstanceOf(UnobservableException.class)
                    .hasMessage(
                            "no endpoint returned the member list: http://127.0.0.1:1: responds without a member list");
        }
    }

    @Test
    void onlyListsFromLinearizableReadsAreConfirmed() {
        assertThat(facts(List.of(reply(GATEWAY, 9, "3.5.30-understudy")), listing(GATEWAY, VOTER))
                        .isConfirmed())
                .isFalse();
        assertThat(facts(List.of(reply(MEMBER, 1, "3.4.35")), listing(MEMBER, VOTER))
                        .isConfirmed())
                .isFalse();
        assertThat(facts(List.of(reply(MEMBER, 1, "3.5.0")), listing(MEMBER, VOTER))
                        .isConfirmed())
                .isTrue();
    }

    /** One member accepted a learner that the others rejected; its list has the highest term. */
    @Test
    void theListOfAMajorityCountsAndTheOthersAreNamed() {
        List<Endpoint> at = Stream.of(1, 2, 3)
                .map(port -> Endpoint.of(URI.create("http://127.0.0.1:" + port)))
                .toList();
        List<Member> three = Stream.of(1, 2, 3)
                .map(id -> Member.newBuilder()
                        .setID(id)
                        .setName("m" + id)
                        .addPeerURLs(PEER_URL)
                        .build())
                .toList();
        List<Member> four = Stream.concat(three.stream(), Stream.of(LEARNER)).toList();
        List<ProbeReply> replies = Stream.of(0, 1, 2)
                .map(index -> reply(at.get(index), index + 1, "3.6.16"))
                .toList();
        List<Listing> lists = List.of(
                new Listing(at.get(0), new ClusterId(CLUSTER), four, 9, true),
                new Listing(at.get(1), new ClusterId(CLUSTER), three, 2, true),
                new Listing(at.get(2), new ClusterId(CLUSTER), three, 2, true));

        ClusterFacts facts = new ClusterFactsBuilder(
                        at, new Answers(replies, lists, Map.of(), lists, Map.of(), Set.of()), null)
                .facts(Instant.EPOCH);

        assertThat(facts.members()).hasSize(3);
        assertThat(facts.divergence().hasMajority()).isTrue();
        assertThat(facts.divergence().members()).containsExactly(new MemberId(1));
        assertThat(facts.divergence().texts()).contains("m1 lists 4 members: 9, m1, m2, m3");
    }

    /** Silence proves nothing, a refused connection and a member without a leader do. */
    @Test
    void aQuorumIsLostOnlyWhereNoneCanBeAmongTheSilent() {
        assertThat(verdict(Map.of(GATEWAY, Failure.timeout(Duration.ofSeconds(5)))))
                .isEqualTo(ClusterFacts.Verdict.UNKNOWN);
        assertThat(verdict(Map.of(GATEWAY, new Failure("connection refused", false, false))))
                .isEqualTo(ClusterFacts.Verdict.LOST);
        assertThat(verdict(Map.of(GATEWAY, new Failure("certificate_unknown", false, true))))
                .isEqualTo(ClusterFacts.Verdict.UNKNOWN);
    }

    /** A learner responds, and the voting members reject requests. */
    @Test
    void aRejectionIsReportedAlsoIfAMemberRespondsWithoutAList() {
        Answers answers = new Answers(
                List.of(reply(MEMBER, 9, "3.6.16")),
                List.of(),
                Map.of(GATEWAY, new Failure("certificate_unknown", false, true)),
                List.of(),
                Map.of(),
                Set.of());
        assertThatThrownBy(() -> new ClusterFactsBuilder(List.of(GATEWAY, MEMBER), answers, null))
                .isInstanceOfSatisfying(UnobservableException.class, failure -> assertThat(failure.isRejection())
                        .isTrue())
                .hasMessageStartingWith("http://127.0.0.1:1 responds and rejects requests: certificate_unknown");
    }

    /** Of three voting members one answers without a leader, one refuses, and two clients URLs lead to the others. */
    private static ClusterFacts.Verdict verdict(Map<Endpoint, Failure> failures) {
        List<Member> voters = Stream.of(1, 2, 3)
                .map(id -> Member.newBuilder()
                        .setID(id)
                        .setName("m" + id)
                        .addPeerURLs(PEER_URL)
                        .addClientURLs((id == 1 ? MEMBER : GATEWAY).uri().toString())
                        .build())
                .toList();
        ProbeReply leaderless = new ProbeReply(
                MEMBER,
                StatusResponse.newBuilder()
                        .setHeader(ResponseHeader.newBuilder()
                                .setClusterId(CLUSTER)
                                .setMemberId(1))
                        .setVersion("3.6.16")
                        .build(),
                Optional.of(Failure.timeout(Duration.ofSeconds(5))),
                ProbeReply.Page.NONE);
        Listing listing = new Listing(MEMBER, new ClusterId(CLUSTER), voters, 2, false);
        return new ClusterFactsBuilder(
                        List.of(GATEWAY, MEMBER),
                        new Answers(List.of(leaderless), List.of(listing), failures, List.of(), Map.of(), Set.of()),
                        null)
                .facts(Instant.EPOCH)
                .verdict();
    }

    private static ClusterFacts facts(List<ProbeReply> replies, Listing... listings) {
        return new ClusterFactsBuilder(
                        List.of(GATEWAY, MEMBER),
                        new Answers(replies, List.of(listings), Map.of(), List.of(), Map.of(), Set.of()),
                        null)
                .facts(Instant.EPOCH);
    }

    private static ProbeReply reply(Endpoint endpoint, long member, String version) {
        return new ProbeReply(
                endpoint,
                StatusResponse.newBuilder()
                        .setHeader(ResponseHeader.newBuilder()
                                .setClusterId(CLUSTER)
                                .setMemberId(member))
                        .setVersion(version)
                        .build(),
                Optional.empty(),
                ProbeReply.Page.NONE);
    }

    private static Listing listing(Endpoint from, Member member) {
        return new Listing(from, new ClusterId(CLUSTER), List.of(member), 2, true);
    }
}
