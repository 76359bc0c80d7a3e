package io.understudy.cluster.status;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.status.ClusterStatus.Warning;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The members that a configuration declares.
 *
 * @param machines the configured machines; empty if none are configured
 */
public record DeclaredMembers(Shape shape, List<MemberSpec> machines) {

    static final String RULE = "shape";

    public DeclaredMembers {
        machines = List.copyOf(machines);
    }

    /** Voting members wanted, or the largest odd number that there are machines for. */
    public int voters() {
        int promotable = promotable();
        return machines.isEmpty()
                ? shape.voters()
                : Math.max(1, Math.min(shape.voters(), promotable % 2 == 0 ? promotable - 1 : promotable));
    }

    private int promotable() {
        return (int) machines.stream()
                .map(MemberSpec::name)
                .filter(shape::mayPromote)
                .count();
    }

    List<String> standbys(ClusterFacts facts) {
        return promotable(facts)
                .filter(MemberFacts::isHealthy)
                .map(MemberFacts::label)
                .toList();
    }

    /** A supervisor promotes no learner on another machine. */
    private Stream<MemberFacts> promotable(ClusterFacts facts) {
        return facts.learners().stream()
                .filter(learner -> machines.isEmpty()
                        ? shape.mayPromote(learner.name())
                        : machines.stream()
                                .anyMatch(machine -> isAt(learner, machine) && shape.mayPromote(machine.name())));
    }

    private static boolean isAt(MemberFacts member, MemberSpec machine) {
        return member.name().equals(machine.name())
                || member.peerUrls().stream().anyMatch(machine.peerUrls()::contains);
    }

    List<Warning> deviations(ClusterFacts facts) {
        List<Warning> deviations = new ArrayList<>();
        int voters = facts.voters().size();
        if (voters != voters()) {
            deviations.add(new Warning(RULE, "voting members: " + voters + " of " + voters() + " declared"));
        }
        int standbys = Math.max(0, Math.min(shape.standbys(), promotable() - voters()));
        long present = promotable(facts).count();
        if (present < standbys) {
            deviations.add(new Warning(RULE, "standbys: " + present + " of " + standbys + " declared"));
        }
        String missing = shape.readReplicas().stream()
                .filter(name -> facts.named(name).isEmpty())
                .sorted()
                .collect(joining(", "));
        String voting = facts.voters().stream()
                .map(MemberFacts::name)
                .filter(name -> !shape.mayPromote(name))
                .collect(joining(", "));
        if (!voting.isEmpty()) {
            deviations.add(new Warning(RULE, "read replicas that are voting members: " + voting));
        }
        if (!missing.isEmpty()) {
            deviations.add(new Warning(RULE, "read replicas that are not members: " + missing));
        }
        return deviations;
    }
}
