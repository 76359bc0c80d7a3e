package io.understudy.cluster.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.Member;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.StatusResponse;
import io.understudy.cluster.observe.Look.Answers;
import io.understudy.etcd.Endpoint;
import io.understudy.vocabulary.ClusterId;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Whose list of members counts. */
final class SightTest {

    private static final long CLUSTER = 7;
    private static final Endpoint GATEWAY = Endpoint.of(URI.create("http://127.0.0.1:1"));
    private static final Endpoint MEMBER = Endpoint.of(URI.create("http://127.0.0.1:2"));
    private static final Member VOTER =
            Member.newBuilder().setID(1).setName("voter-1").build();
    private static final Member LEARNER =
            Member.newBuilder().setID(9).setName("gateway").setIsLearner(true).build();

    @Test
    void gatewaysThatAGatewayListsAreNoMembers() {
        ClusterFacts facts = facts(
                List.of(reply(GATEWAY, 9, "3.5.30-understudy"), reply(MEMBER, 1, "3.5.30")),
                listing(GATEWAY, LEARNER),
                listing(MEMBER, VOTER));
        assertThat(facts.voters()).extracting(MemberFacts::name).containsExactly("voter-1");
        assertThat(facts.isConfirmed()).isTrue();
        assertThatThrownBy(() -> facts(List.of(reply(GATEWAY, 9, "3.5.30-understudy")), listing(GATEWAY, LEARNER)))
                .isInstanceOf(UnobservableException.class);
    }

    @Test
    void onlyMembersThatAskAQuorumConfirmAList() {
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

    private static ClusterFacts facts(List<Reply> replies, Listing... listings) {
        return new Sight(
                        List.of(GATEWAY, MEMBER),
                        new Answers(replies, List.of(listings), Map.of(), Map.of(), Set.of()),
                        null)
                .facts(Instant.EPOCH);
    }

    private static Reply reply(Endpoint endpoint, long member, String version) {
        return new Reply(
                endpoint,
                StatusResponse.newBuilder()
                        .setHeader(ResponseHeader.newBuilder()
                                .setClusterId(CLUSTER)
                                .setMemberId(member))
                        .setVersion(version)
                        .build(),
                true,
                Reply.Page.NONE);
    }

    private static Listing listing(Endpoint from, Member member) {
        return new Listing(from, new ClusterId(CLUSTER), List.of(member), 2, true);
    }
}
