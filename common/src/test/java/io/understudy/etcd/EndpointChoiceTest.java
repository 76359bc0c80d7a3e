package io.understudy.etcd;

import static io.understudy.etcd.Views.FOLLOWER;
import static io.understudy.etcd.Views.GATEWAY;
import static io.understudy.etcd.Views.LEADER;
import static io.understudy.etcd.Views.LEARNER;
import static io.understudy.etcd.Views.OTHER_FOLLOWER;
import static io.understudy.etcd.Views.endpoint;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.etcd.EndpointChoice.Setbacks;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** Tests invariants E1, E2. */
final class EndpointChoiceTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Endpoint SEED = new Endpoint("seed", 2379, false);

    private final EndpointChoice choice = new EndpointChoice(0);

    @Test
    void snapshotsComeFromLearnersThenGatewaysThenFollowersThenTheLeader() {
        assertThat(ranks(Duty.SNAPSHOT)).containsExactly("learner", "gateway", "follower", "follower", "leader");
    }

    @Test
    void watchesGoToGatewaysThenFollowersThenTheLeaderAndNeverToALearner() {
        assertThat(ranks(Duty.WATCH)).containsExactly("gateway", "follower", "follower", "leader");
    }

    @Test
    void readIndexesComeFromLearnersThenGatewaysThenFollowersThenTheLeader() {
        assertThat(ranks(Duty.READ_INDEX)).containsExactly("learner", "gateway", "follower", "follower", "leader");
    }

    @Test
    void writesGoToTheLeaderThenFollowersThenAGatewayWhichMayPassThemOnAndNeverToALearner() {
        assertThat(ranks(Duty.WRITE)).containsExactly("leader", "follower", "follower", "gateway");
    }

    @Test
    void aLearnerTooOldForReadIndexesOverHttpServesNone() {
        ClusterView view = Views.of(Views.voter(LEADER, Health.HEALTHY), Views.learner(Health.HEALTHY, "3.5.10"));

        assertThat(order(view, Duty.READ_INDEX)).containsExactly(endpoint(LEADER));
        assertThat(order(view, Duty.SNAPSHOT)).startsWith(endpoint(LEARNER));
    }

    @Test
    void aLearnersReadIndexUsesAnAddressOfItsOwn() {
        Endpoint balancer = new Endpoint("balancer", 2379, false);
        Member learner = Views.member(
                LEARNER,
                Role.LEARNER,
                "3.5.16",
                new Member.Address(balancer, false, Health.HEALTHY),
                Views.address(LEARNER, Health.UNREACHABLE));

        assertThat(order(Views.of(learner), Duty.READ_INDEX)).containsExactly(endpoint(LEARNER));
        assertThat(order(Views.of(learner), Duty.SNAPSHOT)).containsExactly(balancer, endpoint(LEARNER));
    }

    @Test
    void aSilentEndpointComesLastWhateverItsRole() {
        ClusterView view = Views.of(
                Views.voter(LEADER, Health.HEALTHY),
                Views.voter(FOLLOWER, Health.UNREACHABLE),
                Views.learner(Health.UNREACHABLE, "3.5.16"));

        assertThat(order(view, Duty.SNAPSHOT)).containsExactly(endpoint(LEADER), endpoint(LEARNER), endpoint(FOLLOWER));
    }

    @Test
    void withoutALeaderAMemberIsStillGoodForSnapshotsButInDoubtForTheRest() {
        ClusterView view = Views.of(Views.voter(LEADER, Health.HEALTHY), Views.voter(FOLLOWER, Health.LEADERLESS));

        assertThat(order(view, Duty.SNAPSHOT)).containsExactly(endpoint(FOLLOWER), endpoint(LEADER));
        assertThat(order(view, Duty.WATCH)).containsExactly(endpoint(LEADER), endpoint(FOLLOWER));
    }

    @Test
    void aFailedEndpointMovesBackForThatDutyAndReturnsWithTime() {
        ClusterView view = Views.everyone();
        Setbacks setbacks = Setbacks.NONE.failed(endpoint(LEARNER), Duty.SNAPSHOT, NOW);

        assertThat(choice.order(view, Duty.SNAPSHOT, setbacks, NOW)).last().isEqualTo(endpoint(LEARNER));
        assertThat(choice.order(view, Duty.READ_INDEX, setbacks, NOW)).first().isEqualTo(endpoint(LEARNER));
        assertThat(choice.order(view, Duty.SNAPSHOT, setbacks, NOW.plus(Setbacks.FIRST_PAUSE)))
                .first()
                .isEqualTo(endpoint(LEARNER));
    }

    @Test
    void successClearsFailuresAtOnce() {
        Setbacks setbacks =
                Setbacks.NONE.failed(endpoint(LEARNER), Duty.SNAPSHOT, NOW).succeeded(endpoint(LEARNER), Duty.SNAPSHOT);

        assertThat(choice.order(Views.everyone(), Duty.SNAPSHOT, setbacks, NOW))
                .first()
                .isEqualTo(endpoint(LEARNER));
    }

    @Test
    void unidentifiedSeedsAreAFallbackInConfiguredOrder() {
        Endpoint second = new Endpoint("second", 2379, false);
        ClusterView before = ClusterView.initial(List.of(SEED, second));
        ClusterView after = new ClusterView(
                Views.CLUSTER,
                List.of(Views.voter(LEADER, Health.UNREACHABLE), Views.voter(FOLLOWER, Health.HEALTHY)),
                LEADER,
                List.of(SEED),
                List.of(),
                List.of(),
                null);

        assertThat(order(before, Duty.WRITE)).containsExactly(SEED, second);
        assertThat(order(after, Duty.WATCH)).containsExactly(endpoint(FOLLOWER), endpoint(LEADER), SEED);
    }

    @Test
    void unidentifiedSeedsComeAfterUnreachableMembers() {
        Endpoint second = new Endpoint("second", 2379, false);
        ClusterView view = new ClusterView(
                Views.CLUSTER,
                // As when all refuse the login.
                List.of(Views.voter(LEADER, Health.UNREACHABLE), Views.voter(FOLLOWER, Health.UNREACHABLE)),
                null,
                List.of(SEED, second),
                List.of(),
                List.of(),
                null);
        Setbacks setbacks = Setbacks.NONE
                .failed(endpoint(LEADER), Duty.WRITE, NOW)
                .failed(endpoint(FOLLOWER), Duty.WRITE, NOW)
                .failed(SEED, Duty.WRITE, NOW);

        assertThat(choice.order(view, Duty.WRITE, setbacks, NOW)).endsWith(second, SEED);
    }

    @Test
    void processesSpreadOverEqualFollowers() {
        Set<Endpoint> first = IntStream.range(0, 64)
                .mapToObj(spread -> new EndpointChoice(spread * 0x01000193)
                        .order(Views.everyone(), Duty.WATCH, Setbacks.NONE, NOW)
                        .get(1))
                .collect(Collectors.toSet());

        assertThat(first).containsExactlyInAnyOrder(endpoint(FOLLOWER), endpoint(OTHER_FOLLOWER));
    }

    @Property
    void failuresAndHealthChangeTheOrderOnly(
            @ForAll("views") ClusterView view, @ForAll Duty duty, @ForAll("setbacks") Setbacks setbacks) {
        List<Endpoint> order = choice.order(view, duty, setbacks, NOW);

        assertThat(order).doesNotHaveDuplicates();
        assertThat(order).containsExactlyInAnyOrderElementsOf(choice.order(view, duty, Setbacks.NONE, NOW));
        for (Endpoint chosen : order) {
            Role role = view.memberAt(chosen).orElseThrow().role();
            assertThat(duty == Duty.WRITE && role == Role.LEARNER).isFalse();
            assertThat(duty == Duty.WATCH && role == Role.LEARNER).isFalse();
        }
    }

    @Property
    void endpointsInDoubtComeAfterHealthyOnes(
            @ForAll("views") ClusterView view, @ForAll Duty duty, @ForAll("setbacks") Setbacks setbacks) {
        boolean doubtSeen = false;
        for (Endpoint chosen : choice.order(view, duty, setbacks, NOW)) {
            boolean healthy = view.memberAt(chosen).orElseThrow().health() == Health.HEALTHY;
            boolean good = healthy && !setbacks.holdsBack(chosen, duty, NOW);
            assertThat(good && doubtSeen).as("%s in %s", chosen, view).isFalse();
            // A leaderless member may be good for snapshots; it neither starts nor ends the doubtful part.
            doubtSeen |= !good && view.memberAt(chosen).orElseThrow().health() != Health.LEADERLESS;
        }
    }

    @Provide
    Arbitrary<ClusterView> views() {
        Arbitrary<Health> health = Arbitraries.of(Health.class);
        return Combinators.combine(health, health, health, health)
                .as((leader, follower, other, learner) -> Views.of(
                        Views.voter(LEADER, leader),
                        Views.voter(FOLLOWER, follower),
                        Views.voter(OTHER_FOLLOWER, other),
                        Views.learner(learner, "3.5.16"),
                        Views.gateway()));
    }

    @Provide
    Arbitrary<Setbacks> setbacks() {
        Arbitrary<MemberId> ids = Arbitraries.of(LEADER, FOLLOWER, OTHER_FOLLOWER, LEARNER, GATEWAY);
        Arbitrary<Setbacks.Attempt> attempts = Combinators.combine(ids, Arbitraries.of(Duty.class))
                .as((id, duty) -> new Setbacks.Attempt(endpoint(id), duty));
        return Combinators.combine(
                        attempts.list().ofMaxSize(8), Arbitraries.integers().between(0, 5))
                .as((failed, secondsAgo) -> {
                    Setbacks setbacks = Setbacks.NONE;
                    for (Setbacks.Attempt attempt : failed) {
                        setbacks = setbacks.failed(
                                attempt.endpoint(), attempt.duty(), NOW.minus(Duration.ofSeconds(secondsAgo)));
                    }
                    return setbacks;
                });
    }

    private List<Endpoint> order(ClusterView view, Duty duty) {
        return choice.order(view, duty, Setbacks.NONE, NOW);
    }

    private List<String> ranks(Duty duty) {
        List<String> ranks = new ArrayList<>();
        for (Endpoint chosen : order(Views.everyone(), duty)) {
            Member member = Views.everyone().memberAt(chosen).orElseThrow();
            ranks.add(
                    switch (member.role()) {
                        case LEARNER -> "learner";
                        case GATEWAY -> "gateway";
                        case VOTER -> member.id().equals(LEADER) ? "leader" : "follower";
                    });
        }
        return ranks;
    }
}
