package io.understudy.cluster.recover;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.etcd.Role;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What is left of a member.
 *
 * @param role as those who answer list it; where nobody does, as its own data does
 * @param answer what it says of itself, if it answers
 * @param isRunning whether its process is there; empty if only its operator knows
 * @param hasData whether there is data of it on this machine; empty if that can't be seen from here
 * @param stored what is in that data, as far as it can be read
 */
record Remains(
        MachineSettings machine,
        Optional<Role> role,
        Optional<MemberAnswer> answer,
        Optional<Boolean> isRunning,
        Optional<Boolean> hasData,
        Optional<Stored> stored) {

    String name() {
        return machine.name();
    }

    /** Whether anything is known to be left. */
    boolean hasAnything() {
        return answer.isPresent() || hasData.orElse(false);
    }

    /** Whether anything may be left, seen or not. */
    boolean mayHaveAnything() {
        return answer.isPresent() || hasData.orElse(true);
    }

    /** Alone it would stay one, and a cluster without a voter do nothing. */
    boolean isLearner() {
        return role.filter(Role.LEARNER::equals).isPresent();
    }

    boolean isVoter() {
        return role.filter(Role.VOTER::equals).isPresent();
    }

    /** The last revision it is known to have. */
    Optional<Long> known() {
        return Stream.of(answer.map(said -> said.revision().value()), stored.map(Stored::revision))
                .flatMap(Optional::stream)
                .max(Comparator.naturalOrder());
    }

    /** Whom its data lists as voters; none if that is unknown. */
    Set<String> voters() {
        return stored.map(Stored::voters).orElse(Set.of());
    }

    /** Whether it may vote, as far as is seen. */
    boolean isThere() {
        return answer.isPresent() || isRunning.orElse(false);
    }

    /** With what was known before it was started: who runs keeps its database locked, and without a quorum does not answer. */
    Remains since(Remains earlier) {
        Optional<Stored> both = earlier.known()
                .map(least -> new Stored(
                        Math.max(least, known().orElse(least)), voters().isEmpty() ? earlier.voters() : voters()))
                .or(() -> stored);
        return new Remains(machine, role.or(earlier::role), answer, isRunning, hasData, both);
    }

    /** Whether it might come back just by starting it. */
    boolean isStartable() {
        return answer.isEmpty() && hasData.orElse(false) && !isRunning.orElse(true);
    }

    /** One line, without the name. */
    String told() {
        if (answer.isPresent()) {
            MemberAnswer said = answer.get();
            return (isLearner() ? "is a learner and " : "") + "responds: raft term " + said.raftTerm()
                    + ", committed index " + said.raftIndex() + ", revision " + said.revision();
        }
        if (hasData.isEmpty()) {
            return "does not respond; its data is not accessible from this machine";
        }
        if (!hasData.get()) {
            return "has no data in " + machine.dataDirectory();
        }
        return "does not respond"
                + (isRunning.orElse(false) ? ", but its process is running" : "; its process has exited")
                + "; data in " + machine.dataDirectory()
                + known().map(last -> ", up to at least revision " + last).orElse(", not readable");
    }
}
