package io.understudy.cluster.supervise.rule;

import java.util.Optional;

/** Faults that no automatic change repairs. */
final class ReportRule {

    private ReportRule() {}

    /** The rule is named after the member's state. */
    static Optional<Decision> member(Situation situation) {
        return situation.facts().members().stream()
                .filter(member -> !situation.finding(member).is(MemberState.Action.NONE))
                .filter(member -> member.hasStarted())
                .findFirst()
                .map(member -> {
                    MemberState state = situation.finding(member).state();
                    String action = state.action() == MemberState.Action.WAIT
                            ? "waits until the fault has lasted "
                                    + situation.limits().dead().toSeconds()
                                    + " s for this supervisor and for the leader"
                            : "no automatic change repairs this";
                    return new Decision.Waiting(state.label(), situation.described(member), action);
                });
    }

    static Optional<Decision> votingReplica(Situation situation) {
        return situation.facts().voters().stream()
                .filter(voter -> situation
                        .placeOf(voter)
                        .filter(place -> !situation.shape().mayPromote(place.name()))
                        .isPresent())
                .findFirst()
                .map(voter -> new Decision.Waiting(
                        "read-replica",
                        voter.label() + " is declared as a read replica and is a voting member",
                        "no automatic change repairs this: understudy cluster replace " + voter.label()
                                + " --with NAME"));
    }

    static Optional<Decision> alarm(Situation situation) {
        return situation.facts().alarms().isEmpty()
                ? Optional.empty()
                : Optional.of(new Decision.Waiting(
                        "alarm",
                        String.join(", ", situation.facts().alarms()),
                        "etcd refuses writes and leases: an active supervisor still acts, no other can be elected"));
    }
}
