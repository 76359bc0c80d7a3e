package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.cluster.supervise.rule.History.Orders;
import io.understudy.cluster.supervise.rule.History.Setback;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * All inputs of a decision.
 *
 * @param history history that includes {@code facts}
 */
public record Situation(ClusterFacts facts, History history, List<Place> places, Shape shape, Limits limits) {

    /** Minimum time before an order to a machine is repeated. */
    private static final Duration PATIENCE_WITH_MACHINES = Duration.ofSeconds(15);

    public Situation {
        places = List.copyOf(places);
    }

    Instant now() {
        return history.last().orElseThrow();
    }

    Quorum quorum() {
        return facts.quorum();
    }

    /** Whether a healthy quorum is visible to this supervisor, without which no member list is changed. */
    boolean isQuorumSeen() {
        return facts.isConfirmed() && quorum().isHeld();
    }

    /** Whether it proves the state of every member: otherwise another supervisor may see more. */
    public boolean isConclusive() {
        return isQuorumSeen()
                && (facts.members().stream().allMatch(member -> member.isHealthy() || !member.hasStarted())
                        || facts.leader()
                                .filter(leader ->
                                        !leader.measurements().silence().isEmpty())
                                .isPresent());
    }

    Seen seen(MemberFacts member) {
        return Objects.requireNonNull(history.members().get(member.id()), "the history is older than the facts");
    }

    Optional<Place> placeOf(MemberFacts member) {
        return Place.of(member, places);
    }

    /** Returns the state of a member, with evidence. */
    public Finding finding(MemberFacts member) {
        return Diagnosis.of(this, member);
    }

    public Map<MemberId, Finding> findings() {
        return facts.members().stream().collect(Collectors.toMap(MemberFacts::id, this::finding));
    }

    /** Whether the member must be replaced: its fault lasted, confirmed by the leader. */
    boolean isDead(MemberFacts member) {
        return finding(member).is(MemberState.Action.REPLACE);
    }

    String described(MemberFacts member) {
        Finding finding = finding(member);
        return member.label() + " is " + finding.state().label()
                + seen(member).fault().map(fault -> " since " + fault.since()).orElse("") + ": " + finding.evidence();
    }

    /** Whether a learner may become a voter now. */
    boolean isReady(MemberFacts learner) {
        return learner.isLearner()
                && learner.isHealthy()
                && mayPromote(learner)
                && History.lasted(seen(learner).readySince(), limits.stable(), now());
    }

    /** Whether the learner's machine may have a voter; other learners are never promoted. */
    boolean mayPromote(MemberFacts learner) {
        return placeOf(learner).map(Place::name).filter(shape::mayPromote).isPresent();
    }

    /** Returns learners to promote now, standbys before read replicas, then by lag. */
    List<MemberFacts> readyStandbys() {
        return facts.learners().stream()
                .filter(this::isReady)
                .sorted(Comparator.comparing(
                                (MemberFacts learner) -> shape.readReplicas().contains(learner.name()))
                        .thenComparing(learner -> facts.lag(learner).orElse(Long.MAX_VALUE)))
                .toList();
    }

    List<MemberFacts> promotableLearners() {
        return facts.learners().stream().filter(this::mayPromote).toList();
    }

    /** Returns machines without a member. */
    public List<Place> freePlaces() {
        return places.stream()
                .filter(place -> facts.members().stream().noneMatch(place::holds))
                .toList();
    }

    /** Returns free machines without recent setbacks and running processes. */
    List<Place> usablePlaces() {
        return freePlaces().stream()
                .filter(place ->
                        place.answers() && !isHeldOff(place) && !place.running().orElse(false))
                .toList();
    }

    /** Whether the machine's member of this cluster was removed: that was observed, or its data have a removed ID. */
    boolean isLeft(Place place) {
        return history.left().contains(place.name())
                || place.owner()
                        .filter(owner -> facts.isConfirmed()
                                && owner.cluster().equals(facts.cluster())
                                && facts.member(owner.member()).isEmpty())
                        .isPresent();
    }

    boolean isHeldOff(Place place) {
        Setback setback = history.setbacks().get(place.name());
        return setback != null && setback.until(limits).isAfter(now());
    }

    int setbacks(Place place) {
        Setback setback = history.setbacks().get(place.name());
        return setback == null ? 0 : setback.times();
    }

    /** Returns the number of learners that the members allow. */
    int slots() {
        EtcdVersion oldest = facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .map(MemberAnswer::version)
                .min(Comparator.naturalOrder())
                .orElse(EtcdVersion.UNKNOWN);
        return oldest.maxLearnersConfigurable() ? shape.maxLearners() : oldest.defaultMaxLearners();
    }

    boolean isSlotFree() {
        return facts.learners().size() < slots();
    }

    /** Whether that many more voters may be removed or added this hour. */
    boolean mayChange(int changes) {
        return history.changes().size() + changes <= limits.changesPerHour();
    }

    /** Whether the step was attempted too recently to repeat it. */
    boolean wasOrdered(Step step) {
        Instant at = history.orders().get(Orders.key(step));
        return at != null && at.plus(PATIENCE_WITH_MACHINES).isAfter(now());
    }

    /** Whether the history has an attempt at the step. */
    boolean wasEverOrdered(Step step) {
        return history.orders().containsKey(Orders.key(step));
    }

    /** Returns the desired number of voters, or the largest odd number of available machines. */
    int target() {
        long machines = facts.voters().size()
                + promotableLearners().size()
                + freePlaces().stream()
                        .filter(place -> shape.mayPromote(place.name()))
                        .count();
        int odd = (int) (machines % 2 == 0 ? machines - 1 : machines);
        return Math.max(1, Math.min(shape.voters(), odd));
    }
}
