package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.MemberListResponse;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests invariant E5. */
final class ViewBuilderTest {

    private static final ClusterId OURS = new ClusterId(0xa);
    private static final ClusterId THEIRS = new ClusterId(0xb);
    private static final MemberId ONE = new MemberId(1);
    private static final MemberId TWO = new MemberId(2);
    private static final Endpoint A = new Endpoint("a", 2379, false);
    private static final Endpoint B = new Endpoint("b", 2379, false);
    private static final Endpoint BALANCER = new Endpoint("balancer", 2379, false);

    private final Map<Endpoint, Observation> seen = new LinkedHashMap<>();

    @Test
    void nothingIsKnownBeforeTheClusterIsSettled() {
        answers(A, OURS, ONE, ONE, 2);

        assertThat(new ViewBuilder(List.of(A), MemberDiscovery.MEMBERS, seen, null, null).build())
                .isEqualTo(ClusterView.initial(List.of(A)));
    }

    @Test
    void theFirstConfiguredEndpointThatAnswersSettlesTheClusterOnceThoseBeforeItHaveFailed() {
        answers(B, THEIRS, TWO, TWO, 2);
        assertThat(ViewBuilder.settle(List.of(A, B), seen)).isEmpty();

        seen.put(A, Observation.NONE.failed("away"));
        assertThat(ViewBuilder.settle(List.of(A, B), seen)).contains(THEIRS);

        answers(A, OURS, ONE, ONE, 2);
        assertThat(ViewBuilder.settle(List.of(A, B), seen)).contains(OURS);
    }

    @Test
    void anEndpointOfAnotherClusterIsSetApart() {
        answers(A, OURS, ONE, ONE, 2);
        answers(B, THEIRS, TWO, TWO, 9);

        ClusterView view = build(List.of(A, B), null);

        assertThat(view.members()).extracting(Member::id).containsExactly(ONE);
        assertThat(view.leaderId()).isEqualTo(ONE);
        assertThat(view.foreign()).containsExactly(new ClusterView.Foreign(B, THEIRS));
        assertThat(view.unidentified()).isEmpty();
    }

    @Test
    void aMemberIsReachedByItsUrlsAndByTheSeedsAtWhichItAnswered() {
        answers(BALANCER, OURS, ONE, ONE, 2);
        answers(A, OURS, ONE, ONE, 2);

        Member member = build(List.of(BALANCER), list(entry(ONE, A))).members().get(0);

        assertThat(member.addresses())
                .containsExactly(
                        new Member.Address(A, true, Health.HEALTHY),
                        new Member.Address(BALANCER, false, Health.HEALTHY));
    }

    @Test
    void anAddressThatAnswersComesBeforeOneThatDoesNot() {
        answers(BALANCER, OURS, ONE, ONE, 2);
        seen.put(A, Observation.NONE.failed("away"));

        Member member = build(List.of(BALANCER), list(entry(ONE, A))).members().get(0);

        assertThat(member.endpoints()).containsExactly(BALANCER, A);
        assertThat(member.health()).isEqualTo(Health.HEALTHY);
    }

    @Test
    void anUrlThatTwoMembersAdvertiseIsExclusiveToNeither() {
        answers(BALANCER, OURS, TWO, ONE, 2);

        ClusterView view = build(List.of(BALANCER), list(entry(ONE, BALANCER), entry(TWO, BALANCER)));

        assertThat(view.member(ONE).orElseThrow().addresses()).isEmpty();
        assertThat(view.member(TWO).orElseThrow().addresses())
                .containsExactly(new Member.Address(BALANCER, false, Health.HEALTHY));
    }

    @Test
    void configuredEndpointsAreExclusiveByTheOperatorsWordAndUrlsAreNotUsed() {
        answers(BALANCER, OURS, ONE, ONE, 2);

        ClusterView view = new ViewBuilder(
                        List.of(BALANCER), MemberDiscovery.CONFIGURED, seen, list(entry(ONE, A), entry(TWO, B)), OURS)
                .build();

        assertThat(view.member(ONE).orElseThrow().addresses())
                .containsExactly(new Member.Address(BALANCER, true, Health.HEALTHY));
        assertThat(view.member(TWO).orElseThrow().addresses()).isEmpty();
    }

    @Test
    void theLeaderIsTheOneOfTheHighestTerm() {
        answers(A, OURS, ONE, ONE, 2);
        answers(B, OURS, TWO, TWO, 3);

        assertThat(build(List.of(A, B), list(entry(ONE, A), entry(TWO, B))).leaderId())
                .isEqualTo(TWO);
    }

    /** A learner that is cut off never campaigns, and so never stops naming its last leader. */
    @Test
    void aLearnersLeaderIsIgnoredWhileAVoterReportsNone() {
        answers(A, OURS, ONE, null, 2);
        learnerAnswers(B, TWO, ONE);

        ClusterView view = build(List.of(A, B), list(entry(ONE, A), learnerEntry(TWO, B)));

        assertThat(view.leaderId()).isNull();
        assertThat(view.member(ONE).orElseThrow().health()).isEqualTo(Health.LEADERLESS);
    }

    @Test
    void aLearnersLeaderCountsWhileNoVoterAnswers() {
        learnerAnswers(B, TWO, ONE);

        assertThat(build(List.of(B), list(entry(ONE, A), learnerEntry(TWO, B))).leaderId())
                .isEqualTo(ONE);
    }

    @Test
    void aSeedAtWhichARemovedMemberAnswersIsNotUsedUntilItFallsSilent() {
        answers(A, OURS, ONE, ONE, 2);
        answers(B, OURS, TWO, ONE, 2);

        ClusterView answering = build(List.of(A, B), list(entry(ONE, A)));
        seen.computeIfPresent(B, (endpoint, observation) -> observation.failed("away"));
        ClusterView silent = build(List.of(A, B), list(entry(ONE, A)));

        assertThat(answering.members()).extracting(Member::id).containsExactly(ONE);
        assertThat(answering.unidentified()).isEmpty();
        assertThat(silent.unidentified()).containsExactly(B);
    }

    @Test
    void aGatewayIsIdentifiedByItsVersionAndListedAfterTheMembers() {
        answers(A, OURS, ONE, ONE, 2);
        seen.put(
                B,
                Observation.NONE.answered(new Observation.Facts(
                        OURS,
                        new MemberId(77),
                        ONE,
                        true,
                        false,
                        EtcdVersion.parse("3.5.0+understudy"),
                        2,
                        new Revision(5),
                        List.of(),
                        null)));

        ClusterView view = build(List.of(A, B), list(entry(ONE, A)));

        assertThat(view.members(Role.GATEWAY)).extracting(Member::id).containsExactly(new MemberId(77));
        assertThat(view.members(Role.VOTER)).extracting(Member::id).containsExactly(ONE);
    }

    @Test
    void anAlarmCountsOnceWhileAReportingMemberAnswers() {
        Alarm alarm = new Alarm("NOSPACE", TWO);
        for (Endpoint endpoint : List.of(A, B)) {
            seen.put(
                    endpoint,
                    Observation.NONE.answered(new Observation.Facts(
                            OURS,
                            endpoint.equals(A) ? ONE : TWO,
                            ONE,
                            true,
                            false,
                            EtcdVersion.parse("3.5.16"),
                            2,
                            new Revision(5),
                            List.of(alarm),
                            null)));
        }
        assertThat(build(List.of(A, B), null).alarms()).containsExactly(alarm);

        answers(A, OURS, ONE, ONE, 2);
        seen.computeIfPresent(B, (endpoint, observation) -> observation.failed("away"));
        assertThat(build(List.of(A, B), null).alarms()).isEmpty();
    }

    @Test
    void everySeedAndWithDiscoveryEveryUrlIsProbed() {
        MemberList list = list(entry(ONE, A), entry(TWO, B));

        assertThat(ViewBuilder.endpoints(List.of(BALANCER), MemberDiscovery.MEMBERS, list))
                .containsExactly(BALANCER, A, B);
        assertThat(ViewBuilder.endpoints(List.of(BALANCER), MemberDiscovery.CONFIGURED, list))
                .containsExactly(BALANCER);
    }

    private ClusterView build(List<Endpoint> seeds, @Nullable MemberList list) {
        return new ViewBuilder(seeds, MemberDiscovery.MEMBERS, seen, list, OURS).build();
    }

    private void answers(Endpoint at, ClusterId cluster, MemberId member, @Nullable MemberId leader, long term) {
        seen.put(
                at,
                Observation.NONE.answered(new Observation.Facts(
                        cluster,
                        member,
                        leader,
                        leader != null,
                        false,
                        EtcdVersion.parse("3.5.16"),
                        term,
                        new Revision(5),
                        List.of(),
                        null)));
    }

    @Test
    void gatewaysThatAGatewayListsAreProbedButNoVoters() {
        MemberList list = MemberList.of(
                MemberListResponse.newBuilder()
                        .addMembers(
                                io.etcd.jetcd.api.Member.newBuilder().setID(1).addClientURLs("http://a:2379"))
                        .build(),
                false);
        assertThat(ViewBuilder.endpoints(List.of(B), MemberDiscovery.MEMBERS, list))
                .containsExactly(B, A);
        answers(B, OURS, TWO, TWO, 2);
        assertThat(build(List.of(B), list).members(Role.VOTER)).isEmpty();
    }

    @Test
    void theVersionIsTheOldestOfTheVotersThatEverAnswered() {
        Member unknown = Views.member(ONE, Role.VOTER, "unknown");
        Member learner = Views.member(ONE, Role.LEARNER, "3.5.33");
        Member gateway = Views.member(TWO, Role.GATEWAY, "3.6.16+understudy");
        assertThat(Views.of(unknown).version()).isEqualTo(EtcdVersion.UNKNOWN);
        assertThat(Views.of(unknown, gateway).version()).hasToString("3.6.16+understudy");
        assertThat(Views.of(
                                learner,
                                unknown,
                                Views.member(TWO, Role.VOTER, "3.7.3"),
                                Views.member(TWO, Role.VOTER, "3.6.16"))
                        .version())
                .hasToString("3.6.16");
    }

    private void learnerAnswers(Endpoint at, MemberId member, MemberId leader) {
        seen.put(
                at,
                Observation.NONE.answered(new Observation.Facts(
                        OURS,
                        member,
                        leader,
                        true,
                        true,
                        EtcdVersion.parse("3.5.16"),
                        2,
                        new Revision(5),
                        List.of(),
                        null)));
    }

    private static MemberList list(MemberList.Entry... entries) {
        return new MemberList(List.of(entries));
    }

    private static MemberList.Entry entry(MemberId id, Endpoint... urls) {
        return new MemberList.Entry(id, "n" + id, Role.VOTER, List.of(urls));
    }

    private static MemberList.Entry learnerEntry(MemberId id, Endpoint... urls) {
        return new MemberList.Entry(id, "n" + id, Role.LEARNER, List.of(urls));
    }
}
