package io.understudy.cluster.status;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.mapping;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.Confirming;
import io.understudy.cluster.observe.Failure;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.etcd.EtcdVersion;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * State of a cluster.
 *
 * @param tolerance how many more failures it survives, in words
 * @param standbys healthy learners that may replace a failed voting member
 * @param warnings what else its operator should know
 * @param supervisors their decisions
 */
public record ClusterStatus(
        ClusterFacts facts,
        String tolerance,
        List<String> standbys,
        List<Warning> warnings,
        List<SupervisorView> supervisors) {

    public ClusterStatus {
        standbys = List.copyOf(standbys);
        warnings = List.copyOf(warnings);
        supervisors = List.copyOf(supervisors);
    }

    /**
     * Compares what was observed with what was declared.
     *
     * @param declared empty if nothing is
     * @param more warnings of the caller
     */
    public static ClusterStatus of(
            ClusterFacts facts,
            Optional<DeclaredMembers> declared,
            List<Warning> more,
            List<SupervisorView> supervisors) {
        return new ClusterStatus(
                facts,
                tolerance(facts),
                declared.map(shape -> shape.standbys(facts)).orElse(List.of()),
                Stream.of(declared.map(shape -> shape.deviations(facts)).orElse(List.of()), more, Warnings.of(facts))
                        .flatMap(List::stream)
                        .toList(),
                supervisors);
    }

    /** Whether the members are those that are declared. */
    public boolean isAsDeclared() {
        return warnings.stream().noneMatch(warning -> warning.rule().equals(DeclaredMembers.RULE));
    }

    /** Returns why a member is unhealthy; empty if it is healthy. */
    Optional<String> reason(MemberFacts member) {
        Optional<String> failure =
                Optional.ofNullable(facts.failures().get(member.id())).map(Failure::text);
        return member.isHealthy() ? Optional.empty() : failure.or(() -> Optional.of(health(member)));
    }

    /** Whether every member is healthy and there is no alarm. Warnings alone do not count. */
    public boolean isHealthy() {
        return facts.isConfirmed()
                && facts.alarms().isEmpty()
                && facts.divergence().isNone()
                && facts.members().stream().allMatch(MemberFacts::isHealthy);
    }

    /** Returns the health in one or two words. */
    static String health(MemberFacts member) {
        if (member.isHealthy()) {
            return "healthy";
        }
        if (!member.hasStarted()) {
            return "never started";
        }
        return member.answer().map(ClusterStatus::trouble).orElse("no answer");
    }

    private static String trouble(MemberAnswer answer) {
        return answer.leader().isEmpty() ? "no leader" : "no quorum";
    }

    /** Returns the fault tolerance; without a quorum, the missing voters by those that respond. */
    private static String tolerance(ClusterFacts facts) {
        Quorum quorum = facts.quorum();
        if (!quorum.isHeld() && facts.verdict() != ClusterFacts.Verdict.LOST) {
            return facts.verdict() == ClusterFacts.Verdict.HELD
                    ? "quorum held, but too few voting members responded in time"
                    : "quorum unknown: too few voting members responded in time";
        }
        if (!quorum.isHeld()) {
            long answering = facts.voters().stream()
                    .filter(voter -> voter.answer().isPresent())
                    .count();
            return "quorum lost, " + answering + (answering == 1 ? " voter answers" : " voters answer");
        }
        return switch (quorum.tolerance()) {
            case 0 -> "survives no more failure";
            case 1 -> "survives 1 more failure";
            default -> "survives " + quorum.tolerance() + " more failures";
        };
    }

    /** Warnings of a cluster's status. Each rule is a function of the observation. */
    private static final class Warnings {

        /** The most that etcd's documentation recommends ("What is maximum cluster size?"). */
        private static final int MOST_VOTERS = 7;

        /** Clocks are read to the second. */
        private static final Duration MOST_APART = Duration.ofSeconds(5);

        private static final double NEARLY_FULL = 0.8;

        private static final List<Function<ClusterFacts, Optional<Warning>>> RULES = List.of(
                Warnings::quorumLost,
                Warnings::membersDiffer,
                Warnings::unconfirmed,
                Warnings::neverStarted,
                Warnings::twoMembers,
                Warnings::evenSize,
                Warnings::manyVoters,
                Warnings::downgradeEnabled,
                Warnings::versionsMixed,
                Warnings::versionFaults,
                Warnings::clocksDiffer,
                Warnings::databaseNearlyFull,
                Warnings::learnerSlotTaken);

        private Warnings() {}

        static List<Warning> of(ClusterFacts facts) {
            return RULES.stream().flatMap(rule -> rule.apply(facts).stream()).toList();
        }

        private static Optional<Warning> quorumLost(ClusterFacts facts) {
            Quorum quorum = facts.quorum();
            if (quorum.isHeld()) {
                return Optional.empty();
            }
            if (facts.verdict() != ClusterFacts.Verdict.LOST) {
                return Optional.of(new Warning(
                        "no-response",
                        facts.silence() + ". This is not proof of a failure: "
                                + (facts.rejections().isEmpty()
                                        ? "retry with a longer --timeout"
                                        : "correct cluster.user or cluster.tls")));
            }
            List<MemberFacts> left = facts.members().stream()
                    .filter(member -> member.answer().isPresent())
                    .toList();
            long voters = left.stream().filter(MemberFacts::isVoter).count();
            return Optional.of(new Warning(
                    "quorum-lost",
                    "no writes or changes are possible: " + quorum.needed() + " of " + quorum.voters()
                            + " voting members are required, " + voters + (voters == 1 ? " responds" : " respond")
                            + ". Responding: "
                            + (left.isEmpty()
                                    ? "none"
                                    : left.stream().map(MemberFacts::label).collect(joining(", ")))
                            + facts.mostRecent()
                                    .map(member -> "; most recent data: " + text(member)
                                            + "; members that do not respond may have more recent data")
                                    .orElse("")
                            + ". Restart the others. If they are lost permanently, recover from the most recent data"
                            + " (understudy cluster recover)"));
        }

        private static String text(MemberFacts member) {
            MemberAnswer answer = member.answer().orElseThrow();
            return member.label() + " (revision " + answer.revision().value() + ", raft index " + answer.raftIndex()
                    + ")";
        }

        private static Optional<Warning> membersDiffer(ClusterFacts facts) {
            return Preflight.contradiction(facts)
                    .map(refusal -> new Warning("members-differ", refusal.why() + ". " + refusal.wayOut()));
        }

        private static Optional<Warning> unconfirmed(ClusterFacts facts) {
            return warning(
                    !facts.isConfirmed(),
                    "unconfirmed",
                    "no quorum confirms the member list; the last list from a voting member is shown"
                            + (Confirming.isPossible(facts) ? "" : ". " + Confirming.WAY_OUT));
        }

        private static Optional<Warning> neverStarted(ClusterFacts facts) {
            List<MemberFacts> idle = facts.members().stream()
                    .filter(member -> !member.hasStarted())
                    .toList();
            return warning(
                    !idle.isEmpty(),
                    "never-started",
                    idle.stream()
                                    .map(member -> member.id() + " at "
                                            + member.peerUrls().stream()
                                                    .map(Object::toString)
                                                    .collect(joining(",")))
                                    .collect(joining(", "))
                            + " was added but never started: start it or remove it");
        }

        private static Optional<Warning> twoMembers(ClusterFacts facts) {
            return warning(
                    facts.voters().size() == 2,
                    "two-members",
                    "two voting members tolerate no failure: writes stop if either fails. Scale to three or to one");
        }

        private static Optional<Warning> evenSize(ClusterFacts facts) {
            int voters = facts.voters().size();
            return warning(
                    voters > 2 && voters % 2 == 0,
                    "even-size",
                    voters + " voting members tolerate no more failures than " + (voters - 1)
                            + " and need a larger quorum. Add or remove one");
        }

        private static Optional<Warning> manyVoters(ClusterFacts facts) {
            int voters = facts.voters().size();
            return warning(
                    voters > MOST_VOTERS,
                    "many-voters",
                    voters + " voting members slow down writes; " + MOST_VOTERS + " tolerate "
                            + new Quorum(MOST_VOTERS, MOST_VOTERS).tolerance()
                            + " failures. Use learners or gateways for reads");
        }

        private static Optional<Warning> downgradeEnabled(ClusterFacts facts) {
            return facts.enabledDowngrade()
                    .map(version -> new Warning(
                            "downgrade-enabled",
                            "the downgrade to " + version
                                    + " is not complete. Continue it (understudy cluster downgrade --to-version) or cancel"
                                    + " it (understudy cluster downgrade --cancel)"));
        }

        private static Optional<Warning> versionsMixed(ClusterFacts facts) {
            Map<EtcdVersion, String> byVersion = facts.members().stream()
                    .filter(member -> member.answer().isPresent())
                    .collect(groupingBy(
                            member -> member.answer().orElseThrow().version(),
                            () -> new TreeMap<EtcdVersion, String>(Comparator.reverseOrder()),
                            mapping(MemberFacts::label, joining(", "))));
            return warning(
                    byVersion.size() > 1 && facts.enabledDowngrade().isEmpty(),
                    "versions-mixed",
                    byVersion.entrySet().stream()
                                    .map(each -> each.getKey() + " (" + each.getValue() + ")")
                                    .collect(joining(", "))
                            + ": upgrade all members to the same version, the leader last");
        }

        private static Optional<Warning> versionFaults(ClusterFacts facts) {
            String faults = versions(facts)
                    .distinct()
                    .sorted()
                    .filter(version -> !version.warnings().isEmpty())
                    .map(version -> "etcd " + version + ": " + String.join("; ", version.warnings()))
                    .collect(joining(". "));
            return warning(!faults.isEmpty(), "version-faults", faults);
        }

        private static Optional<Warning> clocksDiffer(ClusterFacts facts) {
            List<MemberFacts> byClock = facts.members().stream()
                    .filter(member -> member.process().clockAhead().isPresent())
                    .sorted(Comparator.comparing(Warnings::clock))
                    .toList();
            if (byClock.isEmpty()) {
                return Optional.empty();
            }
            MemberFacts slow = byClock.get(0);
            MemberFacts fast = byClock.get(byClock.size() - 1);
            Duration apart = clock(fast).minus(clock(slow));
            return warning(
                    apart.compareTo(MOST_APART) > 0,
                    "clocks-differ",
                    "the clock of " + fast.label() + " is " + apart.toSeconds() + " s ahead of that of " + slow.label()
                            + ". Synchronize the clocks (NTP)");
        }

        private static Duration clock(MemberFacts member) {
            return member.process().clockAhead().orElse(Duration.ZERO);
        }

        /** A full database raises the alarm NOSPACE. */
        private static Optional<Warning> databaseNearlyFull(ClusterFacts facts) {
            List<MemberFacts> full = facts.members().stream()
                    .filter(member -> member.databaseFill()
                            .filter(fill -> fill > NEARLY_FULL)
                            .isPresent())
                    .toList();
            return warning(
                    !full.isEmpty(),
                    "database-nearly-full",
                    "the database takes over 80 % of its quota: "
                            + full.stream().map(MemberFacts::label).collect(joining(", "))
                            + ". Compact and defragment, or raise --quota-backend-bytes");
        }

        /** Warns of a taken learner slot. No response has the limit of a version that allows several. */
        private static Optional<Warning> learnerSlotTaken(ClusterFacts facts) {
            boolean single = versions(facts).anyMatch(version -> !version.maxLearnersConfigurable());
            List<MemberFacts> learners = facts.learners();
            return warning(
                    single && !learners.isEmpty(),
                    "learner-slot-taken",
                    "before 3.6, etcd allows one learner, which is "
                            + learners.stream().map(MemberFacts::label).collect(joining(", "))
                            + ": no other member can join until it is promoted or removed");
        }

        private static Stream<EtcdVersion> versions(ClusterFacts facts) {
            return facts.members().stream()
                    .flatMap(member -> member.answer().stream())
                    .map(MemberAnswer::version);
        }

        private static Optional<Warning> warning(boolean isSo, String rule, String text) {
            return isSo ? Optional.of(new Warning(rule, text)) : Optional.empty();
        }
    }

    /**
     * Something about a cluster that its operator should know.
     *
     * @param rule its name, such as {@code even-size}
     * @param text what is so, and what to do about it
     */
    public record Warning(String rule, String text) {}
}
