package io.understudy.cluster.status;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.Failure;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.quorum.Quorum;
import java.util.List;
import java.util.Optional;
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
}
