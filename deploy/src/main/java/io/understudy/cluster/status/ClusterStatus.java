package io.understudy.cluster.status;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.quorum.Quorum;
import java.util.List;

/**
 * How a cluster stands.
 *
 * @param tolerance how many more failures it survives, in words
 * @param warnings what else its operator should know
 */
public record ClusterStatus(ClusterFacts facts, String tolerance, List<Warning> warnings) {

    public ClusterStatus {
        warnings = List.copyOf(warnings);
    }

    public static ClusterStatus of(ClusterFacts facts) {
        return new ClusterStatus(facts, tolerance(facts), Warnings.of(facts));
    }

    /** Whether every member is healthy and there is no alarm; warnings alone are no ill health. */
    public boolean isHealthy() {
        return facts.isConfirmed()
                && facts.alarms().isEmpty()
                && facts.divergence().isNone()
                && facts.members().stream().allMatch(MemberFacts::isHealthy);
    }

    /** One or two words. */
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

    /** Without a quorum nobody is healthy; how many voters answer tells how many are missing. */
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
