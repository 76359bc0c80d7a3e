package io.understudy.cluster.goal;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Goal.NextStep;
import io.understudy.cluster.plan.Goal.NextStep.Next;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Planner;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The goals that concern one member, and the steps that they share. */
public final class MemberGoals {

    private MemberGoals() {}

    /** A goal of a listed member. */
    private interface OfMember extends NextStep {

        MemberId member();

        Next after(ClusterFacts facts, MemberFacts found);

        @Override
        default Next after(ClusterFacts facts) {
            return facts.member(member())
                    .map(found -> after(facts, found))
                    .orElseGet(() -> Next.impossible(
                            "is-member", "no member has the ID " + member(), "See understudy cluster status"));
        }
    }

    /**
     * Adds a member as a learner and promotes it only when it has caught up.
     *
     * <p>Invariant DP20: whatever joins, is isolated or misconfigured, writers see at most one election, and no
     * acknowledged write is lost.
     *
     * @param isToVote whether the member is promoted
     */
    public record AddMember(MemberSpec member, boolean isToVote) implements NextStep {

        /** A member that does not start is removed again. */
        @Override
        public boolean undoes(Step step) {
            return step instanceof Step.Join || step instanceof Step.CatchUp;
        }

        @Override
        public Next after(ClusterFacts facts) {
            Optional<MemberFacts> listed = facts.at(member);
            if (listed.isEmpty()) {
                return new Next.Do(new Step.AddLearner(member));
            }
            MemberFacts found = listed.get();
            if (found.hasStarted() && !found.name().equals(member.name())) {
                return Next.impossible(
                        "peer-url-not-in-use",
                        "the member at " + found.peerUrls() + " has the name " + found.name() + ", not "
                                + member.name(),
                        "Specify its name or another peer URL");
            }
            if (!found.hasStarted()) {
                return new Next.Do(new Step.Join(member, found.id()));
            }
            if (found.isVoter()) {
                return isToVote
                        ? new Next.Reached(member.name() + " is a voting member")
                        : Next.impossible(
                                "voter-stays-voter",
                                member.name() + " is a voting member",
                                "Make it a learner with understudy cluster demote " + member.name());
            }
            if (found.answer().isEmpty()) {
                return new Next.Do(new Step.Start(member));
            }
            return isToVote || !InSync.isSo(facts, found)
                    ? Promotion.next(facts, found)
                    : new Next.Reached(member.name() + " is a learner in sync with the leader");
        }
    }

    /** A member less; if it leads, another does first. */
    public record RemoveMember(MemberId member) implements NextStep {

        @Override
        public Next after(ClusterFacts facts) {
            Optional<MemberFacts> listed = facts.member(member);
            if (listed.isEmpty()) {
                return new Next.Reached("no member has the ID " + member);
            }
            Optional<Step> handOver = Leadership.away(facts, listed.get());
            return new Next.Do(handOver.orElseGet(
                    () -> new Step.Remove(member, listed.get().label())));
        }
    }

    /**
     * A voting member becomes a learner. There is no request for this in etcd: the member is removed, its data are kept
     * aside, and it joins again without data.
     *
     * @param voter its ID as a voting member, which does not return
     * @param member the same place as a learner
     */
    public record DemoteMember(MemberId voter, MemberSpec member) implements NextStep {

        @Override
        public boolean undoes(Step step) {
            return arrival().undoes(step);
        }

        @Override
        public Next after(ClusterFacts facts) {
            return facts.member(voter).filter(MemberFacts::isVoter).isPresent()
                    ? new RemoveMember(voter).after(facts)
                    : arrival().after(facts);
        }

        private AddMember arrival() {
            return new AddMember(member, false);
        }
    }

    /** A learner votes, once it has caught up. */
    public record PromoteMember(MemberId member) implements OfMember {

        @Override
        public Next after(ClusterFacts facts, MemberFacts found) {
            if (found.isVoter()) {
                return new Next.Reached(found.label() + " is a voting member");
            }
            if (!found.hasStarted() || found.answer().isEmpty()) {
                return Next.impossible(
                        "learner-serves",
                        found.label() + (found.hasStarted() ? " does not respond" : " was never started")
                                + ", so it cannot get in sync",
                        "Start it, or remove it (understudy cluster remove " + found.label() + ")");
            }
            return Promotion.next(facts, found);
        }
    }

    /**
     * Replaces a member: removes a failed voter first, a healthy one after its successor's promotion.
     *
     * <p>No step needs more votes than there are healthy voters.
     *
     * @param successor a place for a new member, or a standby learner
     * @param isToVote whether the successor becomes a voting member, as the replaced member is
     * @param isOldLost whether several observations found it dead: a slow voter must not be removed before its successor
     *     votes
     */
    public record ReplaceMember(MemberId old, MemberSpec successor, boolean isToVote, boolean isOldLost)
            implements NextStep {

        @Override
        public boolean undoes(Step step) {
            return arrival().undoes(step);
        }

        @Override
        public Next after(ClusterFacts facts) {
            RemoveMember departure = new RemoveMember(old);
            Optional<MemberFacts> listed = facts.member(old);
            // It may be back since it was found dead.
            if (isOldLost && listed.filter(found -> !found.isHealthy()).isPresent()) {
                return departure.after(facts);
            }
            Next arriving = arrival().after(facts);
            return arriving instanceof Next.Reached && listed.isPresent() ? departure.after(facts) : arriving;
        }

        private AddMember arrival() {
            return new AddMember(successor, isToVote);
        }
    }

    /**
     * Moves a member with its ID and data, which the leader does not stream again.
     *
     * <p>The peer URL is updated first, so that the member list shows the progress.
     */
    public record MigrateMember(MemberId member, MemberSpec from, MemberSpec to) implements OfMember {

        @Override
        public Next after(ClusterFacts facts, MemberFacts found) {
            Optional<Step> handOver = Leadership.away(facts, found);
            if (found.name().equals(to.name()) && found.isHealthy() && isAt(found)) {
                return new Next.Reached(to.name() + " serves with the data of member " + member);
            }
            if (handOver.isPresent()) {
                return new Next.Do(handOver.get());
            }
            return new Next.Do(
                    isAt(found)
                            ? new Step.Migrate(from, to, member)
                            : new Step.UpdatePeerUrls(member, found.label(), to.peerUrls()));
        }

        private boolean isAt(MemberFacts found) {
            return Urls.same(found.peerUrls(), to.peerUrls());
        }
    }

    /** A given voter leads. */
    public record MoveLeadership(MemberId to) implements NextStep {

        @Override
        public Next after(ClusterFacts facts) {
            Optional<MemberFacts> leader = facts.namedLeader();
            String label = facts.member(to).map(MemberFacts::label).orElse(to.toString());
            if (leader.isEmpty()) {
                return Next.impossible("leader-known", "the cluster has no leader", "Retry after the election");
            }
            return leader.get().id().equals(to)
                    ? new Next.Reached(label + " leads")
                    : new Next.Do(new Step.MoveLeader(leader.get().id(), to, label));
        }
    }

    /**
     * The others find a member at other peer URLs, and it listens there.
     *
     * @param place the member as it is to be started
     */
    public record ChangePeerUrls(MemberId member, MemberSpec place) implements OfMember {

        @Override
        public Next after(ClusterFacts facts, MemberFacts found) {
            boolean isListed = Urls.same(found.peerUrls(), place.peerUrls());
            if (isListed && found.isHealthy() && found.process().servesPeers().orElse(true)) {
                return new Next.Reached(found.label() + " has the peer URLs " + place.peerUrls());
            }
            return new Next.Do(Leadership.away(facts, found)
                    .orElseGet(() -> isListed
                            ? new Step.Restart(place, member)
                            : new Step.UpdatePeerUrls(member, found.label(), place.peerUrls())));
        }
    }

    /**
     * Changes a member's client URLs: it publishes them itself when it starts with them.
     *
     * @param place the member with its new URLs
     */
    public record ChangeClientUrls(MemberId member, MemberSpec place) implements OfMember {

        @Override
        public Next after(ClusterFacts facts, MemberFacts found) {
            if (found.isHealthy() && Urls.same(found.clientUrls(), place.clientUrls())) {
                return new Next.Reached(found.label() + " serves clients at " + place.clientUrls());
            }
            return new Next.Do(Leadership.away(facts, found).orElseGet(() -> new Step.Restart(place, member)));
        }
    }

    /** Ends a downgrade. Members that already run the earlier minor version keep it until they are upgraded again. */
    public record CancelDowngrade() implements Goal {

        @Override
        public Plan plan(ClusterFacts facts) {
            return Planner.plan(
                    facts,
                    now -> now.enabledDowngrade().isPresent()
                            ? new Next.Do(new Step.Downgrade(""))
                            : new Next.Reached("no downgrade is enabled"));
        }
    }

    /** Addresses, in whatever order etcd keeps them. */
    private static final class Urls {

        private Urls() {}

        static boolean same(List<URI> one, List<URI> other) {
            return Set.copyOf(one).equals(Set.copyOf(other));
        }
    }

    /** The steps from a running learner to a voter. */
    private static final class Promotion {

        private Promotion() {}

        static Next next(ClusterFacts facts, MemberFacts learner) {
            return new Next.Do(
                    InSync.isSo(facts, learner)
                            ? new Step.Promote(learner.id(), learner.label())
                            : new Step.CatchUp(learner.id(), learner.label()));
        }
    }

    /** Leadership is handed over in milliseconds; losing it costs an election. */
    static final class Leadership {

        private Leadership() {}

        /** The step that makes another lead, if the member does and another can. */
        static Optional<Step> away(ClusterFacts facts, MemberFacts member) {
            if (!leads(facts, member)) {
                return Optional.empty();
            }
            return facts.healthyVoters().stream()
                    .filter(voter -> !voter.id().equals(member.id()))
                    .min(Comparator.comparing((MemberFacts voter) ->
                                    facts.divergence().members().contains(voter.id()))
                            .thenComparing(voter -> facts.lag(voter).orElse(Long.MAX_VALUE) > InSync.ENTRIES)
                            .thenComparing(MemberFacts::name))
                    .map(heir -> new Step.MoveLeader(member.id(), heir.id(), heir.label()));
        }

        static boolean leads(ClusterFacts facts, MemberFacts member) {
            return facts.leader()
                    .map(MemberFacts::id)
                    .filter(member.id()::equals)
                    .isPresent();
        }
    }

    /** Determines whether a learner has caught up. */
    public static final class InSync {

        /**
         * Maximum lag of a learner in Raft entries. A busy cluster writes as many between two observations; etcd allows far
         * more (a tenth of all, {@code isLearnerReady} in its {@code server.go}).
         */
        public static final long ENTRIES = 1_000;

        private InSync() {}

        public static boolean isSo(ClusterFacts facts, MemberFacts member) {
            return member.isHealthy()
                    && facts.lag(member).filter(lag -> lag <= ENTRIES).isPresent();
        }
    }
}
