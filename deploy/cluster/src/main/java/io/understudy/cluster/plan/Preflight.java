package io.understudy.cluster.plan;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterFacts.Divergence;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.MemberId;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** Checks steps against rules that etcd does not check, or only too late. Pure functions. */
public final class Preflight {

    /** Rules that return empty if the step may be taken. */
    private static final List<BiFunction<Step, ClusterFacts, Optional<Refusal>>> RULES = List.of(
            QuorumRules::quorumSurvives,
            QuorumRules::etcdAdds,
            QuorumRules::leaderIsHealthyVoter,
            MemberRules::isMember,
            MemberRules::oneChangeAtATime,
            MemberRules::learnerSlotIsFree,
            MemberRules::learnerStaysLearner,
            MemberRules::peerUrlIsServed,
            UrlRules::wellFormed,
            UrlRules::notInUse,
            UrlRules::nameNotInUse,
            SanityRules::versions);

    private Preflight() {}

    /** Returns the contradiction between members and its remedy; empty for none. */
    public static Optional<Refusal> contradiction(ClusterFacts facts) {
        return facts.divergence().isNone() ? Optional.empty() : Optional.of(MemberRules.differ(facts));
    }

    /** Returns every reason against the step; none if it may be taken. */
    public static List<Refusal> check(Step step, ClusterFacts facts) {
        Optional<Refusal> lost = QuorumRules.quorumIsHeld(step, facts).or(() -> MemberRules.membersAgree(step, facts));
        return lost.isPresent()
                ? List.of(lost.get())
                : RULES.stream()
                        .flatMap(rule -> rule.apply(step, facts).stream())
                        .toList();
    }

    /** Members that fit together. What takes trouble out of a cluster, or only restarts it, needs none of this. */
    private static final class SanityRules {

        private SanityRules() {}

        static Optional<Refusal> versions(Step step, ClusterFacts facts) {
            List<EtcdVersion> versions = facts.members().stream()
                    .flatMap(member -> member.answer().stream())
                    .map(MemberAnswer::version)
                    .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                    .sorted()
                    .toList();
            if (!brings(step) || versions.isEmpty()) {
                return Optional.empty();
            }
            EtcdVersion oldest = versions.get(0);
            EtcdVersion newest = versions.get(versions.size() - 1);
            if (oldest.major() == newest.major() && newest.minor() - oldest.minor() <= 1) {
                return Optional.empty();
            }
            return Optional.of(new Refusal(
                    "versions-close",
                    "etcd versions " + oldest + " and " + newest
                            + " are more than one minor release apart, which etcd does not support",
                    "Upgrade the oldest first, one minor release at a time (understudy cluster roll)"));
        }

        private static boolean brings(Step step) {
            return step instanceof Step.AddLearner || step instanceof Step.Promote;
        }
    }

    /** Rules for one change at a time, within the limits of etcd's release. */
    private static final class MemberRules {

        private MemberRules() {}

        /** Rejects changes during a contradiction, except the removal of a member that a majority contradicts. */
        static Optional<Refusal> membersAgree(Step step, ClusterFacts facts) {
            Divergence divergence = facts.divergence();
            return divergence.isNone() || isRemedy(step, divergence) ? Optional.empty() : Optional.of(differ(facts));
        }

        private static boolean isRemedy(Step step, Divergence divergence) {
            return divergence.hasMajority()
                    && ((step instanceof Step.Remove remove
                                    && divergence.members().contains(remove.id()))
                            || (step instanceof Step.MoveLeader move
                                    && divergence.members().contains(move.from())));
        }

        static Refusal differ(ClusterFacts facts) {
            String names = QuorumRules.names(facts.members().stream()
                    .filter(member -> facts.divergence().members().contains(member.id()))
                    .toList());
            return new Refusal(
                    "members-agree",
                    "members contradict each other: "
                            + String.join("; ", facts.divergence().texts()),
                    facts.divergence().hasMajority()
                            ? "Remove " + names
                                    + " (understudy cluster remove), then add it again without data. Start all"
                                    + " members with the same --max-learners (shape.maxLearners)"
                            : "No majority of the members agrees: restore a snapshot (understudy cluster restore)");
        }

        static Optional<Refusal> isMember(Step step, ClusterFacts facts) {
            return step.subject()
                    .filter(id -> facts.member(id).isEmpty())
                    .map(id -> new Refusal(
                            "is-member",
                            "no member has the ID " + id,
                            "The members are " + QuorumRules.names(facts.members())));
        }

        /**
         * Rejects a second change: a member that never started is an unfinished one. A learner does not block the promotion
         * of another one, which the quorum may need.
         */
        static Optional<Refusal> oneChangeAtATime(Step step, ClusterFacts facts) {
            if (isHarmless(step) || isRemovalOfDead(step, facts) || isRemedy(step, facts.divergence())) {
                return Optional.empty();
            }
            Optional<MemberId> subject = step.subject();
            List<MemberFacts> pending = facts.members().stream()
                    .filter(member -> !member.hasStarted() && !subject.equals(Optional.of(member.id())))
                    .filter(member -> member.isVoter() || !(step instanceof Step.Promote))
                    .toList();
            if (pending.isEmpty()) {
                return Optional.empty();
            }
            MemberFacts first = pending.get(0);
            return Optional.of(new Refusal(
                    "one-change-at-a-time",
                    "another change is in progress: member " + first.id() + " at " + Step.joined(first.peerUrls())
                            + " was added but never started",
                    "Complete it (understudy cluster add with the same peer URL, with --promote never for a learner) or undo it (understudy cluster remove "
                            + first.id() + ")"));
        }

        /** Whether the step leaves all votes as they are. */
        private static boolean isHarmless(Step step) {
            return step instanceof Step.MoveLeader
                    || step instanceof Step.Start
                    || step instanceof Step.Join
                    || step instanceof Step.CatchUp
                    || step instanceof Step.Compact
                    || step instanceof Step.Defragment
                    || step instanceof Step.Disarm
                    || step instanceof Step.Downgrade
                    || step instanceof Step.Retire;
        }

        private static boolean isRemovalOfDead(Step step, ClusterFacts facts) {
            return step instanceof Step.Remove remove
                    && facts.member(remove.id()).filter(MemberFacts::isHealthy).isEmpty();
        }

        static Optional<Refusal> learnerSlotIsFree(Step step, ClusterFacts facts) {
            EtcdVersion version = oldest(facts);
            List<MemberFacts> learners = facts.learners();
            if (!(step instanceof Step.AddLearner)
                    || version.maxLearnersConfigurable()
                    || learners.size() < version.defaultMaxLearners()) {
                return Optional.empty();
            }
            return Optional.of(new Refusal(
                    "learner-slot-free",
                    "etcd " + version + " allows " + version.defaultMaxLearners() + " learner, which is "
                            + QuorumRules.names(learners),
                    "Promote or remove it first (understudy cluster promote, understudy cluster remove)"));
        }

        /** Requires a served peer URL: a learner works without until a member connects. */
        static Optional<Refusal> peerUrlIsServed(Step step, ClusterFacts facts) {
            if (!(step instanceof Step.Promote promote)) {
                return Optional.empty();
            }
            return facts.member(promote.id())
                    .filter(learner -> !learner.process().servesPeers().orElse(true))
                    .map(
                            learner -> new Refusal(
                                    "peer-url-served",
                                    "no response at the peer URL of " + learner.label() + ", "
                                            + Step.joined(learner.peerUrls()),
                                    "Restart it at this URL, or remove it and add it with the correct URL (understudy cluster remove)"));
        }

        /** Some releases silently promote a learner when they apply an update of its peer URLs, each in its own list. */
        static Optional<Refusal> learnerStaysLearner(Step step, ClusterFacts facts) {
            if (!(step instanceof Step.UpdatePeerUrls update)
                    || facts.member(update.id()).filter(MemberFacts::isLearner).isEmpty()) {
                return Optional.empty();
            }
            String unsafe = facts.members().stream()
                    .filter(member -> !version(member).memberUpdateKeepsLearner())
                    .map(member -> member.label() + " (" + version(member) + ")")
                    .collect(joining(", "));
            return unsafe.isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                            new Refusal(
                                    "learner-stays-learner",
                                    "members of these versions may silently promote a learner when its peer URLs are updated: "
                                            + unsafe,
                                    "Remove it and add it again at the new URL (understudy cluster remove, understudy cluster add)"));
        }

        private static EtcdVersion version(MemberFacts member) {
            return member.answer().map(MemberAnswer::version).orElse(EtcdVersion.UNKNOWN);
        }

        private static EtcdVersion oldest(ClusterFacts facts) {
            return facts.members().stream()
                    .flatMap(member -> member.answer().stream())
                    .map(MemberAnswer::version)
                    .min(EtcdVersion::compareTo)
                    .orElse(EtcdVersion.UNKNOWN);
        }
    }
}
